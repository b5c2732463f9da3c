import { anyInstall } from '../../../../src/policy/terms/install.ts';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import {
  adoptedAnnotation,
  adoptLabel,
  appliedAnnotation,
  expiresAtAnnotation,
  managedByLabel,
  orphanedFromKey,
  ownerAnnotation,
  providerLabels,
} from '../../../../src/schema/names.ts';
import type { CopyState } from '../../../../src/policy/plan/copy.ts';
import { unavailable } from '../../../../src/policy/plan/copy.ts';
import { desired } from '../../../../src/policy/desired/desired.ts';
import type { FuseVerdict } from '../../../../src/policy/plan/fuse.ts';
import { observeObject, observeSecretMetadata, type Observed } from '../../../../src/policy/plan/observed.ts';
import type { PlanInput } from '../../../../src/policy/plan/plan-input.ts';
import { ownersOf, planNamespace } from '../../../../src/policy/plan/plan.ts';
import { LiveCluster } from '../../../../src/state/live-cluster.ts';
import { knownNamespace } from '../../../support/engine.ts';
import { bindingPolicy, quotaPolicy, shareOf, team } from '../../../support/provided.ts';

const now = new Date('2026-11-21T12:00:00Z');
const type = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' };

/** The RoleBinding that policies provide here, as it lives in namespace a. */
function binding(owner: string | undefined, fields: object = {}, metadata: object = {}): Observed {
  const marks =
    owner === undefined
      ? {}
      : {
          labels: { [managedByLabel]: 'reeve', [providerLabels.NamespacePolicy]: owner.split('/')[1] ?? '' },
          annotations: { [ownerAnnotation]: owner },
        };
  return observeObject(type, {
    ...type,
    metadata: { name: 'devs', namespace: 'a', uid: 'u', resourceVersion: '5', ...marks, ...metadata },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }],
    ...fields,
  });
}

interface Situation {
  readonly policies?: Readonly<Record<string, object>>;
  readonly shares?: Readonly<Record<string, object>>;
  readonly live?: Observed;
  readonly copy?: CopyState;
  readonly fuse?: FuseVerdict;
  readonly scope?: ReturnType<PlanInput['scopeOf']>;
}

function stored(kind: string, specs: Readonly<Record<string, object>>): readonly KubeObject[] {
  return Object.entries(specs).map(([name, spec]) => ({
    apiVersion: 'reeve.dev/v1alpha1',
    kind,
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
    spec,
  }));
}

/** Returns steps and results, each as a line. */
function planOf({
  policies = {},
  shares = {},
  live,
  copy,
  fuse,
  scope = 'allowed',
}: Situation): readonly string[] {
  const cluster = new LiveCluster({ install: anyInstall });
  const namespaceObject = knownNamespace('a', team);
  cluster.sinks.NamespacePolicy.replaced(stored('NamespacePolicy', policies), '1');
  cluster.sinks.SecretShare.replaced(stored('SecretShare', shares), '1');
  cluster.namespaces.replaced([namespaceObject], '1');
  const snapshot = cluster.snapshot();
  const { steps, results, followers } = planNamespace({
    namespaceObject,
    snapshot,
    desired: desired(namespaceObject, snapshot, now),
    ours: live?.owner === undefined ? [] : [live],
    liveOf: (key) => (live?.key === key ? live : undefined),
    accounts: undefined,
    copyStateOf: () => copy ?? { kind: 'unread' },
    fuseOf: () => fuse ?? { kind: 'delete' },
    scopeOf: () => scope,
    now,
  });
  return [
    ...steps.map((step) => `${step.kind} for ${ownersOf(step).join()}`),
    ...results.map(({ provider, state, reason }) => `${state} ${reason} for ${provider}`),
    ...followers.map(({ provider, owner }) => `${provider} follows ${owner}`),
  ];
}

const p = { p: bindingPolicy() };
const ofOthers = bindingPolicy({}, { subjects: [{ kind: 'Group', name: 'others' }] });
const suspended = bindingPolicy({ suspend: true });
const offered = { labels: { [adoptLabel]: 'true' } };

function adoptedBy(owner: string, offer = 'true'): object {
  const labels = { [managedByLabel]: 'reeve', [adoptLabel]: offer };
  return { labels, annotations: { [ownerAnnotation]: owner, [adoptedAnnotation]: 'true' } };
}

function orphanOf(provider: string, name?: string): object {
  const labels = name === undefined ? {} : { [orphanedFromKey]: name };
  return { labels, annotations: { [orphanedFromKey]: provider } };
}

const holding: FuseVerdict = { kind: 'hold', held: { count: 7, recent: 2, limit: 5, since: 0 } };

describe('an object that a provider wants', () => {
  test.each<readonly [string, Situation, readonly string[]]>([
    ['a missing object is created', { policies: p }, ['create for NamespacePolicy/p']],
    [
      'an object in sync needs no step',
      { policies: p, live: binding('NamespacePolicy/p') },
      ['synced Synced for NamespacePolicy/p'],
    ],
    [
      'a changed object is updated',
      { policies: p, live: binding('NamespacePolicy/p', { subjects: [] }) },
      ['update for NamespacePolicy/p'],
    ],
    [
      'a RoleBinding with another role is replaced',
      { policies: p, live: binding('NamespacePolicy/p', { roleRef: {} }) },
      ['replace for NamespacePolicy/p'],
    ],
    [
      'an object that Reeve does not manage is a conflict',
      { policies: p, live: binding(undefined) },
      ['conflict AlreadyExists for NamespacePolicy/p'],
    ],
    [
      'an offered object is adopted',
      { policies: p, live: binding(undefined, {}, offered) },
      ['update for NamespacePolicy/p'],
    ],
    [
      'an offered object that a controller owns is a conflict',
      { policies: p, live: binding(undefined, {}, { ...offered, ownerReferences: [{ controller: true }] }) },
      ['conflict AlreadyExists for NamespacePolicy/p'],
    ],
    [
      'an object offered for good is adopted',
      { policies: p, live: binding(undefined, {}, { labels: { [adoptLabel]: 'delete' } }) },
      ['update for NamespacePolicy/p'],
    ],
    [
      'an object that the provider left behind is taken back',
      { policies: p, live: binding(undefined, {}, orphanOf('NamespacePolicy/p', 'p')) },
      ['update for NamespacePolicy/p'],
    ],
    [
      'an object that another provider left behind is a conflict',
      { policies: p, live: binding(undefined, {}, orphanOf('NamespacePolicy/q', 'q')) },
      ['conflict AlreadyExists for NamespacePolicy/p'],
    ],
    [
      'an object that a share of the same name left behind is a conflict',
      { policies: p, live: binding(undefined, {}, orphanOf('SecretShare/p', 'p')) },
      ['conflict AlreadyExists for NamespacePolicy/p'],
    ],
    [
      'an object without the label of an orphan is free',
      { policies: p, live: binding(undefined, {}, orphanOf('NamespacePolicy/p')) },
      ['conflict AlreadyExists for NamespacePolicy/p'],
    ],
    [
      'an object of a deleted provider is taken over',
      { policies: p, live: binding('NamespacePolicy/deleted') },
      ['update for NamespacePolicy/p'],
    ],
    [
      'an object that is being deleted is reported as failed',
      { policies: p, live: binding('NamespacePolicy/p', {}, { deletionTimestamp: '2026-11-21T11:00:00Z' }) },
      ['failed Terminating for NamespacePolicy/p'],
    ],
    [
      'an object that the install does not allow is reported as failed',
      { policies: p, scope: 'not-allowed' },
      ['failed KindNotAllowed for NamespacePolicy/p'],
    ],
    [
      'an object of a kind that the cluster does not serve is reported as failed',
      { policies: p, scope: 'unknown' },
      ['failed KindUnavailable for NamespacePolicy/p'],
    ],
    [
      'the first of two policies gets the object, and the other has a conflict if it wants another one',
      { policies: { p: bindingPolicy(), q: ofOthers }, live: binding('NamespacePolicy/q') },
      ['update for NamespacePolicy/p', 'conflict ProvidedByAnother for NamespacePolicy/q'],
    ],
    [
      'two policies that want the same object have no conflict',
      { policies: { p: bindingPolicy(), q: bindingPolicy() }, live: binding('NamespacePolicy/p') },
      ['synced Synced for NamespacePolicy/p', 'NamespacePolicy/q follows NamespacePolicy/p'],
    ],
    [
      'two shares that copy the same source in the same way have no conflict',
      { shares: { s: shareOf(), t: shareOf({ target: { immutable: false } }) } },
      ['read-source for SecretShare/s', 'SecretShare/t follows SecretShare/s'],
    ],
    [
      'two shares with different sources have a conflict',
      {
        shares: {
          s: shareOf(),
          t: shareOf({ source: { namespace: 'reeve-shared', name: 'other' }, target: { name: 'regcred' } }),
        },
      },
      ['read-source for SecretShare/s', 'conflict ProvidedByAnother for SecretShare/t'],
    ],
    [
      'an object in sync of a suspended policy needs no step',
      { policies: { p: suspended }, live: binding('NamespacePolicy/p') },
      ['synced Synced for NamespacePolicy/p'],
    ],
    [
      'a missing object of a suspended policy is not created',
      { policies: { p: suspended } },
      ['failed Suspended for NamespacePolicy/p'],
    ],
    [
      'a suspended policy keeps the object that it owns',
      { policies: { p: ofOthers, q: suspended }, live: binding('NamespacePolicy/q') },
      ['synced Synced for NamespacePolicy/q', 'conflict ProvidedByAnother for NamespacePolicy/p'],
    ],
    [
      'an invalid policy keeps the object that it owns',
      { policies: { p: bindingPolicy(), q: { nonsense: 1 } }, live: binding('NamespacePolicy/q') },
      ['conflict OwnedByAnother for NamespacePolicy/p'],
    ],
    [
      'an object that another policy refuses is not written',
      { policies: { ...p, rules: { match: {}, rbac: { allowedRoleRefs: ['ClusterRole/view'] } } } },
      ['failed RefusedByPolicy for NamespacePolicy/p'],
    ],
    [
      'an object of a kind without rules is written although the match of a policy on Roles returns an error',
      {
        policies: {
          p: quotaPolicy(),
          rules: {
            match: {
              matchConditions: [
                { name: 'broken', expression: 'namespaceObject.metadata.labels.absent == ""' },
              ],
            },
            rbac: { forbidWildcardRules: true },
          },
        },
      },
      ['create for NamespacePolicy/p'],
    ],
  ])('%s', (_what, situation, expected) => {
    expect(planOf(situation)).toEqual(expected);
  });
});

describe('a copy of a Secret', () => {
  const shares = { s: shareOf() };
  const secret = (metadata: object = {}): Observed =>
    observeSecretMetadata({
      metadata: { name: 'regcred', namespace: 'a', uid: 'u', resourceVersion: '5', ...metadata },
    });
  const ours = { labels: { [managedByLabel]: 'reeve' }, annotations: { [ownerAnnotation]: 'SecretShare/s' } };
  const other = { ...ours, annotations: { ...ours.annotations, [appliedAnnotation]: 'other' } };
  const missing = unavailable('SourceMissing', 'x');

  test.each<readonly [string, Situation, readonly string[]]>([
    ['a source that has not been read is read first', { shares }, ['read-source for SecretShare/s']],
    [
      'a copy without a source is not created',
      { shares, copy: missing },
      ['failed SourceMissing for SecretShare/s'],
    ],
    [
      'an existing copy stays without its source',
      { shares, copy: missing, live: secret(ours) },
      ['synced Synced for SecretShare/s'],
    ],
    [
      'an existing copy of another form is not as it should be, and stays',
      { shares, copy: missing, live: secret(other) },
      ['failed SourceMissing for SecretShare/s'],
    ],
    [
      'an existing copy of a source that cannot be copied any more is not as it should be, and stays',
      { shares, copy: unavailable('KeyMissing', 'x'), live: secret(ours) },
      ['failed KeyMissing for SecretShare/s'],
    ],
    [
      'a live copy that has not been read is read first',
      { shares, copy: ready(), live: secret(ours) },
      ['read for SecretShare/s'],
    ],
    ['a missing copy is created', { shares, copy: ready() }, ['create for SecretShare/s']],
    [
      'a Secret of the same name that Reeve does not manage is a conflict',
      { shares, copy: ready(), live: secret() },
      ['conflict AlreadyExists for SecretShare/s'],
    ],
    [
      'a copy whose name the install does not allow is reported as failed',
      { shares, copy: ready(), scope: 'not-allowed' },
      ['failed NameNotAllowed for SecretShare/s'],
    ],
  ])('%s', (_what, situation, expected) => {
    expect(planOf(situation)).toEqual(expected);
  });

  function ready(): CopyState {
    const facts = { type: 'Opaque', isImmutable: false, keys: [], binaryKeys: [], hash: 'h' };
    return { kind: 'ready', payload: { body: { type: 'Opaque', data: {} }, facts } };
  }
});

describe('an object that no provider wants', () => {
  const live = binding('NamespacePolicy/q');
  const elsewhere = { q: bindingPolicy({ match: { names: ['other'] } }) };
  const released = (expiry: string): Situation => {
    const expiresAt = { [expiresAtAnnotation]: `2026-11-21T${expiry}Z` };
    const annotations = { [ownerAnnotation]: 'NamespacePolicy/q', ...expiresAt };
    const metadata = { labels: { [managedByLabel]: 'reeve' }, annotations };
    const fuse = { kind: 'release', why: 'Suspended' } as const;
    return { policies: elsewhere, live: binding('NamespacePolicy/q', {}, metadata), fuse };
  };

  test.each<readonly [string, Situation, readonly string[]]>([
    ['an unwanted object is deleted', { policies: elsewhere, live }, ['delete for NamespacePolicy/q']],
    [
      'an unwanted object that was adopted is released',
      { policies: elsewhere, live: binding('NamespacePolicy/q', {}, adoptedBy('NamespacePolicy/q')) },
      ['release for NamespacePolicy/q'],
    ],
    [
      'an unwanted object that was adopted for good is deleted',
      {
        policies: elsewhere,
        live: binding('NamespacePolicy/q', {}, adoptedBy('NamespacePolicy/q', 'delete')),
      },
      ['delete for NamespacePolicy/q'],
    ],
    [
      'an expired object that was adopted is released',
      {
        policies: { q: bindingPolicy({}, { expiresAt: '2026-11-21T12:00:00Z' }) },
        live: binding('NamespacePolicy/q', {}, adoptedBy('NamespacePolicy/q')),
      },
      ['release for NamespacePolicy/q'],
    ],
    [
      'an unwanted object is released if the fuse releases it',
      { policies: elsewhere, live, fuse: { kind: 'release', why: 'DeletionPolicyOrphan' } },
      ['release for NamespacePolicy/q'],
    ],
    ['an expired object is not released', released('12:00:00'), ['delete for NamespacePolicy/q']],
    ['an object that expires later is released', released('12:00:01'), ['release for NamespacePolicy/q']],
    [
      'an unwanted object stays while the fuse holds',
      { policies: elsewhere, live, fuse: holding },
      ['undesired TooManyDeletions for NamespacePolicy/q'],
    ],
    [
      'an unwanted object of a suspended policy stays',
      { policies: { q: { ...elsewhere.q, suspend: true } }, live },
      [],
    ],
    [
      'an object of an invalid policy stays, and the namespace says why',
      { policies: { q: { nonsense: 1 } }, live },
      ['undesired Invalid for NamespacePolicy/q'],
    ],
    [
      'an unwanted object that a finalizer keeps is reported as undesired',
      {
        policies: elsewhere,
        live: binding('NamespacePolicy/q', {}, { deletionTimestamp: '2026-11-21T11:00:00Z' }),
      },
      ['undesired Terminating for NamespacePolicy/q'],
    ],
    ['an unmanaged object needs no step', { policies: elsewhere, live: binding(undefined) }, []],
    [
      'an expired object is deleted even while the fuse holds',
      {
        policies: { q: bindingPolicy({}, { expiresAt: '2026-11-21T12:00:00Z' }) },
        live,
        fuse: holding,
      },
      ['delete for NamespacePolicy/q'],
    ],
  ])('%s', (_what, situation, expected) => {
    expect(planOf(situation)).toEqual(expected);
  });
});
