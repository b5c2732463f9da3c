// The fields that several kinds of content share, and the checks of their texts.
import { isLabelValue, isPathSegment, isSubdomain } from '../base/kubernetes-names.ts';
import { annotationTemplate, expression, metadataMapOf } from '../schema/common-fields.ts';
import { group, isOurKey, managedByLabel } from '../schema/names.ts';
import { text, type SchemaRule } from '../schema/schema.ts';
import type { TextCheck } from './content.ts';
import { maxItems } from './for-each.ts';

/** What the description of a field with a template says of it. */
export const templateHint =
  'Text or a template: CEL in ${ } sees namespaceObject, the Namespace; $${ is a literal ${.';

export function templateText(description: string, maxLength: number) {
  return text({ description, minLength: 1, maxLength, braces: 'template' });
}

export const pathSegment: TextCheck = {
  accepts: isPathSegment,
  accepted: 'a name that is not empty, not "." or "..", and has no "/" or "%"',
};

export const subdomain: TextCheck = {
  accepts: isSubdomain,
  accepted: 'at most 253 small letters, digits, - and ., with a letter or digit at both ends',
};

/** A controller writes it, and each Pod of the namespace needs it. https://kubernetes.io/docs/concepts/configuration/configmap/ */
const reservedMaps = new Map([
  ['kube-root-ca.crt', 'another name, because Kubernetes keeps this ConfigMap in each namespace'],
]);

export const configMapName: TextCheck = {
  ...subdomain,
  accepts: (name) => !reservedMaps.has(name) && isSubdomain(name),
  reserved: reservedMaps,
};

export const forEach = expression(
  `CEL over namespaceObject that gives a list of at most ${maxItems} texts. The entry stands once for each of them, and its templates see the text as item. Example: namespaceObject.metadata.annotations['ad/edit'].split(',').map(g, g.trim()).`,
);

export const labelText: TextCheck = {
  accepts: isLabelValue,
  accepted: 'a label value: at most 63 letters, digits, -, _ and ., with a letter or digit at both ends',
};

/** Reeve remembers there whose the object is, and whether it may be adopted or deleted. */
const notReserved: SchemaRule<Readonly<Record<string, string>>> = {
  accepted: 'another key',
  mustNot: `set ${managedByLabel} or keys of ${group}/, which Reeve sets`,
  cel: `self.all(key, !key.startsWith('${group}/') && key != '${managedByLabel}')`,
  offender: (written) => {
    const own = Object.keys(written).find(isOurKey);
    return own === undefined ? undefined : [own];
  },
};

/** The fields for labels and annotations of an object that a kind of content builds. */
export function metadataFields(objects: string) {
  // What a label accepts is checked when it is compiled: in CEL, the check would cost more than the API server allows.
  const value = annotationTemplate(`The value. ${templateHint}`);
  return {
    labels: metadataMapOf(
      `Labels of the ${objects}. The values can be templates. Example: {team: "\${namespaceObject.metadata.labels['team']}"}.`,
      value,
      [notReserved],
    ),
    annotations: metadataMapOf(
      `Annotations of the ${objects}. The values can be templates. Example: {example.com/contact: platform}.`,
      value,
      [notReserved],
    ),
  };
}
