// The warnings of a write that changes what a Namespace contains.
import { expect, test } from 'vitest';
import { decide } from '../../../../src/policy/decide/decide.ts';
import type { ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import {
  aPolicy,
  aReview,
  aShare,
  aSnapshot,
  circumstances,
  knownNamespace,
} from '../../../support/engine.ts';
import { defaultProviderState } from '../../../support/owner-state.ts';

type Labels = Readonly<Record<string, string>>;

const having = (key: string) => ({ namespaceSelector: { matchLabels: { [key]: 'yes' } } });
const share = (name: string, key: string, spec: object = {}) =>
  aShare(name, {
    source: { namespace: 'reeve-shared', name },
    targets: having(key),
    target: { name: 'wildcard' },
    ...spec,
  });
const configMap = (name: string, data: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const team = "${namespaceObject.metadata.labels['team']}";
const byTeam = aPolicy('by-team', {
  match: having('teams'),
  contents: { resources: [configMap('settings', { team }), configMap(`of-${team}`), configMap('fixed')] },
});
const all = aSnapshot(
  [
    byTeam,
    aPolicy('paused', {
      match: having('paused'),
      suspend: true,
      contents: { resources: [configMap('held')] },
    }),
  ],
  [],
  [share('first', 'a'), share('second', 'b')],
);

function warningsOn(old: Labels | undefined, now: Labels, snapshot = all): readonly string[] {
  const review = aReview({
    object: knownNamespace('n', now),
    ...(old === undefined ? {} : { oldObject: knownNamespace('n', old) }),
  });
  return decide(review, snapshot, circumstances).notices;
}

test.for<readonly [title: string, old: Labels | undefined, now: Labels, warnings: readonly string[]]>([
  [
    'a label that selects a share warns of the Secret that comes',
    {},
    { a: 'yes' },
    ['SecretShare first now provides Secret wildcard here'],
  ],
  [
    'removing the label warns of the Secret that goes',
    { a: 'yes' },
    {},
    ['SecretShare first no longer provides Secret wildcard here'],
  ],
  [
    'a change from one share to another names both',
    { a: 'yes' },
    { b: 'yes' },
    ['SecretShare second now provides Secret wildcard here, instead of SecretShare first'],
  ],
  [
    'another share that already provides the same Secret changes nothing',
    { a: 'yes' },
    { a: 'yes', b: 'yes' },
    [],
  ],
  [
    'a label that contents read warns of each object that changes, comes or goes',
    { teams: 'yes', team: 'x' },
    { teams: 'yes', team: 'y' },
    [
      'NamespacePolicy by-team no longer provides ConfigMap of-x here',
      'NamespacePolicy by-team changes ConfigMap settings here',
      'NamespacePolicy by-team now provides ConfigMap of-y here',
    ],
  ],
  ['a suspended policy brings nothing', {}, { paused: 'yes' }, []],
  ['a suspended policy removes nothing', { paused: 'yes' }, {}, []],
  ['another label warns of nothing', { a: 'yes' }, { a: 'yes', note: 'x' }, []],
  ['a new namespace gets no warning', undefined, { a: 'yes' }, []],
])('%s', ([, old, now, warnings]) => {
  expect(warningsOn(old, now)).toEqual(warnings);
});

test('removing the label warns that the Secret stays where the deletionPolicy is Orphan', () => {
  const state: ProviderState = { ...defaultProviderState, id: 'SecretShare/first', deletionPolicy: 'Orphan' };
  const snapshot = { ...all, providers: new Map([[state.id, state]]) };
  expect(warningsOn({ a: 'yes' }, {}, snapshot)).toEqual([
    'SecretShare first leaves Secret wildcard behind here: its deletionPolicy is Orphan',
  ]);
});

test('a share that is being deleted brings nothing', () => {
  const id = 'SecretShare/first' as const;
  const state = { id, isValid: true, isDeleting: true } as Partial<ProviderState> as ProviderState;
  const snapshot = { ...all, providers: new Map([[id, state]]) };
  expect(warningsOn({}, { a: 'yes' }, snapshot)).toEqual([]);
});
