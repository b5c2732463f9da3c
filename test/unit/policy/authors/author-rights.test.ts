// The author of a default needs the right to use the other policies and shares that read it.
import { expect, test } from 'vitest';
import type { ProviderId, ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import { aPolicy, aShare, aSnapshot, providerObject, writeDecision } from '../../../support/engine.ts';

const source = { namespace: 'reeve-shared', name: 's' };
const nowhere = { names: ['x'] };
const selecting = (key: string, operator = 'Exists') => ({
  namespaceSelector: { matchExpressions: [{ key, operator }] },
});
const resource = (data: object) => ({
  contents: { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data }] },
});

/** Returns the rights to use other providers that the author of policy `p` needs, each with the path that requires it. */
function asked(defaults: object, snapshot: Parameters<typeof writeDecision>[1]): readonly string[] {
  const object = providerObject('NamespacePolicy', 'p', { match: nowhere, namespaces: { defaults } });
  const { rights, violations } = writeDecision({ object }, snapshot);
  expect(violations).toEqual([]);
  return rights
    .filter(({ verb }) => verb === 'use')
    .map(({ verb, resource: kind, name, path }) => `${verb} ${kind} ${name}: ${path}`);
}

const label = { labels: { tier: 'a' } };
const at = 'spec.namespaces.defaults';

test.for([
  ['a selector that requires the label needs a right', selecting('tier'), [`${at}.labels.tier`]],
  [
    'a selector that requires the label to be absent needs a right',
    selecting('tier', 'DoesNotExist'),
    [`${at}.labels.tier`],
  ],
  ['a selector of another label needs no right', selecting('team'), []],
  ['a match by names needs no right', nowhere, []],
  [
    'a match condition needs a right',
    { ...nowhere, matchConditions: [{ name: 'a', expression: 'true' }] },
    [at],
  ],
] as const)('in another policy, %s', ([, match, paths]) => {
  const snapshot = aSnapshot([aPolicy('q', { match }), aPolicy('p', { match: selecting('tier') })]);
  expect(asked(label, snapshot)).toEqual(paths.map((path) => `use namespacepolicies q: ${path}`));
});

test.for([
  ['a template in contents needs a right', resource({ a: '${namespaceObject.metadata.name}' }), [at]],
  ['contents without a template need no right', resource({ a: 'b' }), []],
  [
    'a template in defaults needs a right',
    { namespaces: { defaults: { annotations: { a: '${namespaceObject.metadata.name}' } } } },
    [at],
  ],
  [
    'a template in defaults of Secrets needs a right',
    { secrets: { defaults: { labels: { a: '${namespaceObject.metadata.name}' } } } },
    [at],
  ],
  [
    'a template that reads only the request needs no right',
    { namespaces: { defaults: { annotations: { a: '${request.userInfo.username}' } } } },
    [],
  ],
] as const)('in another policy, %s', ([, spec, paths]) => {
  const snapshot = aSnapshot([aPolicy('q', { match: nowhere, ...spec })]);
  for (const defaults of [label, { annotations: { note: 'x' } }])
    expect(asked(defaults, snapshot)).toEqual(paths.map((path) => `use namespacepolicies q: ${path}`));
  expect(asked({}, snapshot)).toEqual([]);
});

test('a share needs a right if its selector reads the label', () => {
  const share = (name: string, targets: object) => aShare(name, { source, targets });
  const snapshot = aSnapshot([], [], [share('a', selecting('tier')), share('b', nowhere)]);
  expect(asked(label, snapshot)).toEqual([`use secretshares a: ${at}.labels.tier`]);
  expect(asked({ annotations: { tier: 'a' } }, snapshot)).toEqual([]);
});

test('a provider that has never loaded always needs a right', () => {
  const state = (id: ProviderId): readonly [ProviderId, ProviderState] => [id, { id } as ProviderState];
  const providers = new Map([
    state('NamespacePolicy/p'),
    state('NamespacePolicy/known'),
    state('NamespacePolicy/unknown'),
    state('SecretShare/unknown'),
  ]);
  const snapshot = { ...aSnapshot([aPolicy('known', { match: nowhere })]), providers };
  expect(asked(label, snapshot)).toEqual([
    `use namespacepolicies unknown: ${at}`,
    `use secretshares unknown: ${at}`,
  ]);
});
