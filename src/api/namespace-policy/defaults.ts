// Labels and annotations that a policy sets where they are missing.
import { annotationTemplate, labelTemplate, metadataMapOf, writtenKey } from '../common-fields.ts';
import { managedByLabel, managedByReeve, namespaceNameLabel, group } from '../names.ts';
import { object } from '../schema/build.ts';
import type { SchemaRule } from '../schema/schema.ts';

/** What these say about an object must not come from a policy: they steer Reeve itself, or the API server sets them. */
const notOurs: SchemaRule<Readonly<Record<string, string>>> = {
  message: `keys other than ${namespaceNameLabel} and those of ${group}/`,
  cel: `self.all(key, !key.startsWith('${group}/') && key != '${namespaceNameLabel}')`,
  offender: (values) => {
    const key = Object.keys(values).find(
      (name) => name.startsWith(`${group}/`) || name === namespaceNameLabel,
    );
    return key === undefined ? undefined : [key];
  },
};

const notManaged: SchemaRule<Readonly<Record<string, string>>> = {
  message: `${managedByLabel} with a fixed value other than ${managedByReeve}, which marks what Reeve owns`,
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
        `Labels to set where the key is missing, and their values. ${sees} A template must make a valid label value.`,
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
