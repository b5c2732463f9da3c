// namespaces.immutable: labels and annotations that cannot be changed or removed once set.
import { metadataMap, valueOf, type MetadataField, type KubeObject } from '../base/metadata.ts';
import { quoted } from '../base/text.ts';
import { list, object as objectSchema, type Infer } from '../schema/schema.ts';
import { metadataKey } from '../schema/common-fields.ts';
import { comparedKey, inField, wordOf } from './fields.ts';
import { ruleForm, type ExampleWrite, type RuleViolation, type Rule } from './rule.ts';

const schema = objectSchema({
  description:
    'Labels and annotations that cannot be changed or removed once they are set. Setting one for the first time is always allowed.',
  fields: {
    labels: keyList('The keys of the labels. Example: [team].'),
    annotations: keyList('The keys of the annotations. Example: [created-by].'),
  },
});

function keyList(description: string) {
  return list({ description, items: metadataKey('A key.'), maxItems: 64, unique: 'set' });
}

export const immutableKeys = ruleForm({
  id: 'namespaces.immutable',
  judges: 'namespaces',
  field: schema,
  operations: ['UPDATE'],
  precedence: 1,
  compile: immutableRule,
  examples: ({ labels = [], annotations = [] }) => ({
    writes: [
      changeOf('labels', 'example', {}),
      ...labels.map((key) => changeOf('labels', key)),
      ...annotations.map((key) => changeOf('annotations', key)),
    ],
  }),
});

function changeOf(field: MetadataField, key: string, before = inField(field, key, 'example')): ExampleWrite {
  const title = `in ${wordOf(field)} ${key}`;
  return { title, operation: 'UPDATE', before, object: inField(field, key, 'changed') };
}

function immutableRule(immutable: Infer<typeof schema>): Rule {
  const keysOf = (each: MetadataField) => (immutable[each] ?? []).map((key) => [each, key] as const);
  const kept = [...keysOf('labels'), ...keysOf('annotations')];
  return {
    shape: 'step',
    judge({ review: { oldObject, object }, matchedOld }) {
      if (oldObject === undefined || object === undefined) return [];
      const violations = kept.flatMap(([each, key]) => judgeKeptKey(each, key, oldObject, object));
      // Before this write, the owner of the namespace could not know that the key is immutable.
      return matchedOld ? violations : violations.map((each) => ({ ...each, accepted: movedIn(each) }));
    },
    compared: (namespace, { object, oldObject }) =>
      object === undefined || oldObject === undefined
        ? []
        : kept.map(([each, key]) => comparedKey(namespace, each, key, setBefore(oldObject, each, key))),
  };
}

function movedIn({ accepted }: RuleViolation): string {
  return `${accepted} before this policy matched; to bring the namespace under the policy with another value, first remove the key in a write of its own`;
}

function setBefore(oldObject: KubeObject, field: MetadataField, key: string): string {
  const before = valueOf(metadataMap(oldObject, field), key);
  return before === undefined ? 'any value' : `${quoted(before)}, which it was set to`;
}

/** A key of the old object must have the same value on the new object. */
export function judgeKeptKey(
  field: MetadataField,
  key: string,
  oldObject: KubeObject,
  object: KubeObject,
): readonly RuleViolation[] {
  const before = valueOf(metadataMap(oldObject, field), key);
  const after = valueOf(metadataMap(object, field), key);
  if (before === undefined || before === after) return [];
  const accepted = `${quoted(before)}, which it was set to`;
  return [{ ...comparedKey(object, field, key, accepted), identity: undefined, isExact: true }];
}
