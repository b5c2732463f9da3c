// For which other policies and shares the author of a default must have the right to use them.
import { expect, test } from 'vitest';
import type { ProviderId, ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import { decideProvider } from '../../../../src/policy/authors/decide-provider.ts';
import {
  aProviderReview,
  aPolicy,
  aShare,
  aSnapshot,
  circumstances,
  providerObject,
  testInstall,
} from '../../../support/engine.ts';

const source = { namespace: 'reeve-shared', name: 's' };
const nowhere = { names: ['x'] };
const selecting = (key: string, operator = 'Exists') => ({
  namespaceSelector: { matchExpressions: [{ key, operator }] },
});
const resource = (data: object) => ({
  contents: { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data }] },
});

/** What is asked of the author of the policy `p`, by name and path, under the others. */
function asked(defaults: object, snapshot: Parameters<typeof decideProvider>[1]): readonly string[] {
  const object = providerObject('NamespacePolicy', 'p', { match: nowhere, namespaces: { defaults } });
  const review = aProviderReview({ resource: 'namespacepolicies', object });
  const { rights, violations } = decideProvider(review, snapshot, { ...circumstances, install: testInstall });
  expect(violations).toEqual([]);
  return rights.map(({ verb, resource: kind, name, path }) => `${verb} ${kind} ${name}: ${path}`);
}

const label = { labels: { tier: 'a' } };
const at = 'spec.namespaces.defaults';

test.for([
  ['a selector that wants the label', selecting('tier'), [`${at}.labels.tier`]],
  ['a selector that wants it away', selecting('tier', 'DoesNotExist'), [`${at}.labels.tier`]],
  ['a selector of another label', selecting('team'), []],
  ['names', nowhere, []],
  ['a match condition', { ...nowhere, matchConditions: [{ name: 'a', expression: 'true' }] }, [at]],
] as const)('of another policy: %s', ([, match, paths]) => {
  const snapshot = aSnapshot([aPolicy('q', { match }), aPolicy('p', { match: selecting('tier') })]);
  expect(asked(label, snapshot)).toEqual(paths.map((path) => `use namespacepolicies q: ${path}`));
});

test.for([
  ['a template in its contents', resource({ a: '${namespaceObject.metadata.name}' }), [at]],
  ['contents without one', resource({ a: 'b' }), []],
  [
    'a template in its defaults',
    { namespaces: { defaults: { annotations: { a: '${namespaceObject.metadata.name}' } } } },
    [at],
  ],
  [
    'one in those of Secrets',
    { secrets: { defaults: { labels: { a: '${namespaceObject.metadata.name}' } } } },
    [at],
  ],
  [
    'one that reads the request alone',
    { namespaces: { defaults: { annotations: { a: '${request.userInfo.username}' } } } },
    [],
  ],
] as const)('of another policy: %s', ([, spec, paths]) => {
  const snapshot = aSnapshot([aPolicy('q', { match: nowhere, ...spec })]);
  for (const defaults of [label, { annotations: { note: 'x' } }])
    expect(asked(defaults, snapshot)).toEqual(paths.map((path) => `use namespacepolicies q: ${path}`));
  expect(asked({}, snapshot)).toEqual([]);
});

test('of a share: its selector', () => {
  const share = (name: string, targets: object) => aShare(name, { source, targets });
  const snapshot = aSnapshot([], [], [share('a', selecting('tier')), share('b', nowhere)]);
  expect(asked(label, snapshot)).toEqual([`use secretshares a: ${at}.labels.tier`]);
  expect(asked({ annotations: { tier: 'a' } }, snapshot)).toEqual([]);
});

test('of one that has never loaded: nobody knows, so always', () => {
  const state = (id: ProviderId): readonly [ProviderId, ProviderState] => [id, { id } as ProviderState];
  const owners = new Map([
    state('NamespacePolicy/p'),
    state('NamespacePolicy/known'),
    state('NamespacePolicy/unknown'),
    state('SecretShare/unknown'),
  ]);
  const snapshot = { ...aSnapshot([aPolicy('known', { match: nowhere })]), owners };
  expect(asked(label, snapshot)).toEqual([
    `use namespacepolicies unknown: ${at}`,
    `use secretshares unknown: ${at}`,
  ]);
});
