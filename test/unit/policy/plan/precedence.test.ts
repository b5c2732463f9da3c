// Which of several providers gets an object that one of them owns.
import { expect, test } from 'vitest';
import type { Claim } from '../../../../src/policy/desired/desired.ts';
import type { Observed } from '../../../../src/policy/plan/observed.ts';
import type { PlanInput } from '../../../../src/policy/plan/plan-input.ts';
import { byPrecedence, keepsFrozen } from '../../../../src/policy/plan/plan.ts';
import type { ProviderId } from '../../../../src/policy/terms/provider-id.ts';

const policy = 'NamespacePolicy/b';
const ofCluster = 'ClusterSecurityIntentBinding/c';
const ofTenant = 'SecurityIntentBinding/shop/d';

/** Returns the providers in their order. The first of `claimed` is the first by name. */
function orderOf(
  claimed: readonly ProviderId[],
  owner: ProviderId,
  ...frozen: readonly ProviderId[]
): readonly ProviderId[] {
  const claims = claimed.map((provider) => ({ provider }) as Claim);
  return byPrecedence(claims, { owner } as Observed, inputWith(frozen)).map(({ provider }) => provider);
}

function inputWith(frozen: readonly ProviderId[]): Pick<PlanInput, 'snapshot' | 'desired'> {
  const freezes = frozen.map((each) => [each, { reason: 'Suspended', message: '' }] as const);
  return { desired: { frozen: new Map(freezes) }, snapshot: { providers: new Map() } } as never;
}

test.each([
  ['the first by name gets the object', [policy, ofCluster], ofCluster, [], policy],
  ['a suspended owner keeps its object', [policy, ofCluster], ofCluster, [ofCluster], ofCluster],
  ['a suspended provider takes nothing', [policy, ofCluster], ofCluster, [policy], ofCluster],
  ["a tenant's binding gives way to that of the cluster", [ofCluster, ofTenant], ofTenant, [], ofCluster],
  [
    "a tenant's suspended binding gives way to that of the cluster",
    [ofCluster, ofTenant],
    ofTenant,
    [ofTenant],
    ofCluster,
  ],
] as const)('%s', (_, claimed, owner, frozen, winner) => {
  expect(orderOf(claimed, owner, ...frozen)[0]).toBe(winner);
});

test('only a frozen provider of the cluster keeps its objects from others', () => {
  const input = inputWith([policy, ofTenant]);
  expect([policy, ofCluster, ofTenant].map((each) => keepsFrozen(each as ProviderId, input))).toEqual([
    true,
    false,
    false,
  ]);
});
