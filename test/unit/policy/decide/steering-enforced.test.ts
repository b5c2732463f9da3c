// Tests which user needs a right for an enforced value that moves a Namespace to another policy.
import { describe, expect, test } from 'vitest';
import type { ObjectMeta } from '../../../../src/base/metadata.ts';
import type { CompiledPolicy } from '../../../../src/policy/compile/compile-policy.ts';
import { decide } from '../../../../src/policy/decide/decide.ts';
import { aNamespace, aPolicy, aReview, aSnapshot, circumstances } from '../../../support/engine.ts';

const provides = { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }] };

function rightsFor(
  policies: readonly CompiledPolicy[],
  before: ObjectMeta | undefined,
  after: ObjectMeta,
): readonly unknown[] {
  const oldObject = before === undefined ? {} : { oldObject: aNamespace(before) };
  const review = aReview({ object: aNamespace(after), ...oldObject });
  return decide(review, aSnapshot(policies), circumstances).rights;
}

describe('enforced values', () => {
  const byTier = (name: string, tier: string) =>
    aPolicy(name, {
      match: { namespaceSelector: { matchLabels: { tier } } },
      contents: provides,
    });
  const enforcing = (value: string) =>
    aPolicy('enforcing', {
      match: { namespaceSelector: { matchLabels: { under: 'yes' } } },
      namespaces: { enforced: { labels: { tier: value } } },
    });
  const policies = (value: string) => [byTier('a', 'a'), byTier('b', 'b'), enforcing(value)];
  const named = (labels: Readonly<Record<string, string>>) => ({ name: 'n', labels });
  const template = "${namespaceObject.metadata.labels['team']}";

  test.for([
    [
      'a value that the policy alone chose needs no right',
      'b',
      named({ under: 'yes', tier: 'a' }),
      named({ under: 'yes', tier: 'b' }),
      0,
    ],
    [
      'a value that follows a label that the user changed needs the rights',
      template,
      named({ under: 'yes', team: 'a', tier: 'a' }),
      named({ under: 'yes', team: 'b', tier: 'b' }),
      2,
    ],
    [
      'a user who brings the namespace under the policy answers for the value',
      'b',
      named({ tier: 'a' }),
      named({ under: 'yes', tier: 'b' }),
      2,
    ],
    ['a new namespace gets the value without a right', 'b', undefined, named({ under: 'yes', tier: 'b' }), 0],
  ] as const)('%s', ([, value, before, after, rights]) => {
    expect(rightsFor(policies(value), before, after)).toHaveLength(rights);
  });
});
