// The fields `namespaces.defaults` and `secrets.defaults`: labels and annotations to set where they are missing.
import { annotationTemplate, labelTemplate, metadataMapOf, writtenKey } from '../../schema/common-fields.ts';
import { managedByLabel, managedByReeve, namespaceNameLabel, group } from '../../schema/names.ts';
import { object } from '../../schema/build.ts';
import type { SchemaRule } from '../../schema/schema.ts';

/** A policy must not set these keys: they control Reeve itself, or the API server sets them. */
const notOurs: SchemaRule<Readonly<Record<string, string>>> = {
  accepted: 'another key',
  mustNot: `set ${namespaceNameLabel} or keys of ${group}/`,
  cel: `self.all(key, !key.startsWith('${group}/') && key != '${namespaceNameLabel}')`,
  offender: (values) => {
    const key = Object.keys(values).find(
      (name) => name.startsWith(`${group}/`) || name === namespaceNameLabel,
    );
    return key === undefined ? undefined : [key];
  },
};

/** The label marks the objects of Reeve. */
const notManaged: SchemaRule<Readonly<Record<string, string>>> = {
  accepted: `a fixed value other than ${managedByReeve}`,
  mustNot: `set ${managedByLabel} to ${managedByReeve} or to a template`,
  cel: `!('${managedByLabel}' in self) || (self['${managedByLabel}'] != '${managedByReeve}' && !self['${managedByLabel}'].contains('\${'))`,
  offender: (values) => {
    const value = Object.hasOwn(values, managedByLabel) ? values[managedByLabel] : undefined;
    return value === managedByReeve || value?.includes('${') === true ? [managedByLabel] : undefined;
  },
};

export function defaults(description: string, sees: string) {
  return object({
    description,
    fields: {
      labels: metadataMapOf(
        `Labels to set where the key is missing, and their values. ${sees} A template must return a valid label value.`,
        labelTemplate('The value of the label: text, or a template with CEL in ${ }; $${ is a literal ${.'),
        [notOurs, notManaged],
        writtenKey('A label key.'),
      ),
      annotations: metadataMapOf(
        `Annotations to set where the key is missing, and their values. ${sees}`,
        annotationTemplate(
          'The value of the annotation: text, or a template with CEL in ${ }; $${ is a literal ${.',
        ),
        [notOurs],
        writtenKey('An annotation key.'),
      ),
    },
  });
}
