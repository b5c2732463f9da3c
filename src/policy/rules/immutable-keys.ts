// namespaces.immutable: labels and annotations that cannot be changed or removed once set.
import type { ImmutableSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { keyPath, metadataMap, valueOf, type MetadataField } from '../../base/metadata.ts';
import { quoted } from '../../base/text.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { RuleViolation, Rule } from './rule.ts';

export function immutableKeysRule(spec: ImmutableSpec): Rule {
  return {
    shape: 'step',
    id: 'namespaces.immutable',
    judge({ review: { oldObject, object }, matchedOld }) {
      if (oldObject === undefined || object === undefined) return [];
      const violations = (['labels', 'annotations'] as const).flatMap((field) =>
        (spec[field] ?? []).flatMap((key) => judgeKeptKey(field, key, oldObject, object)),
      );
      // Before this write, the owner of the namespace could not know that the key is immutable.
      return matchedOld ? violations : violations.map((each) => ({ ...each, accepted: movedIn(each) }));
    },
  };
}

function movedIn({ accepted }: RuleViolation): string {
  return `${accepted} before this policy matched; to bring the namespace under the policy with another value, first remove the key in a write of its own`;
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
  return [
    {
      path: keyPath(field, key),
      found: after === undefined ? 'nothing' : quoted(after),
      accepted: `${quoted(before)}, which it was set to`,
      identity: undefined,
      isExact: true,
    },
  ];
}
