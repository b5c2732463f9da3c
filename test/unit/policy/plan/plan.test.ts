import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/kube-object.ts';
import { adoptLabel, managedByLabel, ownerAnnotation } from '../../../../src/api/names.ts';
import type { CopyState } from '../../../../src/policy/plan/copy.ts';
import { unavailable } from '../../../../src/policy/plan/copy.ts';
import { desired } from '../../../../src/policy/desired/desired.ts';
import type { FuseVerdict } from '../../../../src/policy/plan/fuse.ts';
import { observeObject, observeSecretMetadata, type Observed } from '../../../../src/policy/plan/observed.ts';
import type { PlanInput } from '../../../../src/policy/plan/plan-input.ts';
import { planNamespace } from '../../../../src/policy/plan/plan.ts';
import { LiveCluster } from '../../../../src/state/live-cluster.ts';
import { knownNamespace } from '../../../support/engine.ts';
import { bindingPolicy, shareOf, team } from '../../../support/provided.ts';

const now = new Date('2026-11-21T12:00:00Z');
const type = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' };

/** The RoleBinding that policies provide here, as it lives in namespace a. */
function binding(owner: string | undefined, fields: object = {}, metadata: object = {}): Observed {
  const marks =
    owner === undefined
      ? {}
      : { labels: { [managedByLabel]: 'reeve' }, annotations: { [ownerAnnotation]: owner } };
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

/** Steps and outcomes, each as a line. */
function planOf({
  policies = {},
  shares = {},
  live,
  copy,
  fuse,
  scope = 'allowed',
}: Situation): readonly string[] {
  const cluster = new LiveCluster({ excludedNamespaces: [] });
  const namespaceObject = knownNamespace('a', team);
  cluster.policies.replaced(stored('NamespacePolicy', policies), '1');
  cluster.shares.replaced(stored('SecretShare', shares), '1');
  cluster.namespaces.replaced([namespaceObject], '1');
  const snapshot = cluster.snapshot();
  const { steps, outcomes } = planNamespace({
    namespaceObject,
    snapshot,
    desired: desired(namespaceObject, snapshot, now),
    ours: live?.owner === undefined ? [] : [live],
    liveOf: (key) => (live?.key === key ? live : undefined),
    copyStateOf: () => copy ?? { kind: 'unread' },
    fuseOf: () => fuse ?? { kind: 'delete' },
    scopeOf: () => scope,
    now,
  });
  return [
    ...steps.map((step) => `${step.kind} for ${'claim' in step ? step.claim.owner : step.owner}`),
    ...outcomes.map(({ owner, state, reason }) => `${state} ${reason} for ${owner}`),
  ];
}

const p = { p: bindingPolicy() };
const suspended = bindingPolicy({ suspend: true });
const offered = { labels: { [adoptLabel]: 'true' } };

describe('the plan for an object that is wanted', () => {
  test.each<readonly [string, Situation, readonly string[]]>([
    ['and is not there', { policies: p }, ['create for NamespacePolicy/p']],
    [
      'and is there',
      { policies: p, live: binding('NamespacePolicy/p') },
      ['synced Synced for NamespacePolicy/p'],
    ],
    [
      'and differs',
      { policies: p, live: binding('NamespacePolicy/p', { subjects: [] }) },
      ['update for NamespacePolicy/p'],
    ],
    [
      'and has another role',
      { policies: p, live: binding('NamespacePolicy/p', { roleRef: {} }) },
      ['replace for NamespacePolicy/p'],
    ],
    [
      'and belongs to somebody',
      { policies: p, live: binding(undefined) },
      ['conflict AlreadyExists for NamespacePolicy/p'],
    ],
    [
      'and is offered',
      { policies: p, live: binding(undefined, {}, offered) },
      ['update for NamespacePolicy/p'],
    ],
    [
      'and is offered, but a controller has it',
      { policies: p, live: binding(undefined, {}, { ...offered, ownerReferences: [{ controller: true }] }) },
      ['conflict AlreadyExists for NamespacePolicy/p'],
    ],
    [
      'and belongs to an owner that is gone',
      { policies: p, live: binding('NamespacePolicy/gone') },
      ['update for NamespacePolicy/p'],
    ],
    [
      'and is being deleted',
      { policies: p, live: binding('NamespacePolicy/p', {}, { deletionTimestamp: '2026-11-21T11:00:00Z' }) },
      ['failed Terminating for NamespacePolicy/p'],
    ],
    [
      'and not allowed',
      { policies: p, scope: 'not-allowed' },
      ['failed KindNotAllowed for NamespacePolicy/p'],
    ],
    [
      'of a kind that nobody serves',
      { policies: p, scope: 'unknown' },
      ['failed KindUnavailable for NamespacePolicy/p'],
    ],
    [
      'by two',
      { policies: { p: bindingPolicy(), q: bindingPolicy() }, live: binding('NamespacePolicy/q') },
      ['update for NamespacePolicy/p', 'conflict ProvidedByAnother for NamespacePolicy/q'],
    ],
    [
      'by one that is suspended, and is there',
      { policies: { p: suspended }, live: binding('NamespacePolicy/p') },
      ['synced Synced for NamespacePolicy/p'],
    ],
    [
      'by one that is suspended, and is not there',
      { policies: { p: suspended } },
      ['failed Suspended for NamespacePolicy/p'],
    ],
    [
      'and one that is suspended has it',
      { policies: { p: bindingPolicy(), q: suspended }, live: binding('NamespacePolicy/q') },
      ['synced Synced for NamespacePolicy/q', 'conflict ProvidedByAnother for NamespacePolicy/p'],
    ],
    [
      'and one that does not load has it',
      { policies: { p: bindingPolicy(), q: { nonsense: 1 } }, live: binding('NamespacePolicy/q') },
      ['conflict OwnedByAnother for NamespacePolicy/p'],
    ],
    [
      'but not by the one of the policies that refuses it',
      { policies: { ...p, rules: { match: {}, rbac: { allowedRoleRefs: ['ClusterRole/view'] } } } },
      ['failed RefusedByPolicy for NamespacePolicy/p'],
    ],
  ])('%s', (_what, situation, expected) => {
    expect(planOf(situation)).toEqual(expected);
  });
});

describe('the plan for a copy', () => {
  const shares = { s: shareOf() };
  const secret = (metadata: object = {}): Observed =>
    observeSecretMetadata({
      metadata: { name: 'regcred', namespace: 'a', uid: 'u', resourceVersion: '5', ...metadata },
    });
  const ours = { labels: { [managedByLabel]: 'reeve' }, annotations: { [ownerAnnotation]: 'SecretShare/s' } };
  const gone = unavailable('SourceMissing', 'x');

  test.each<readonly [string, Situation, readonly string[]]>([
    ['whose source has not been read', { shares }, ['read-source for SecretShare/s']],
    ['whose source is gone', { shares, copy: gone }, ['failed SourceMissing for SecretShare/s']],
    [
      'whose source is gone, and that is there',
      { shares, copy: gone, live: secret(ours) },
      ['synced Synced for SecretShare/s'],
    ],
    [
      'that nobody has looked into',
      { shares, copy: ready(), live: secret(ours) },
      ['read for SecretShare/s'],
    ],
    ['that is not there', { shares, copy: ready() }, ['create for SecretShare/s']],
    [
      'whose name somebody else has',
      { shares, copy: ready(), live: secret() },
      ['conflict AlreadyExists for SecretShare/s'],
    ],
    [
      'whose name is not allowed',
      { shares, copy: ready(), scope: 'not-allowed' },
      ['failed NameNotAllowed for SecretShare/s'],
    ],
  ])('%s', (_what, situation, expected) => {
    expect(planOf(situation)).toEqual(expected);
  });

  function ready(): CopyState {
    const facts = { type: 'Opaque', isImmutable: false, keys: [], hash: 'h' };
    return { kind: 'ready', payload: { type: 'Opaque', data: {}, isImmutable: false, facts } };
  }
});

describe('the plan for an object that nobody wants', () => {
  const live = binding('NamespacePolicy/q');
  const elsewhere = { q: bindingPolicy({ match: { names: ['other'] } }) };

  test.each<readonly [string, Situation, readonly string[]]>([
    ['is to delete it', { policies: elsewhere, live }, ['delete for NamespacePolicy/q']],
    [
      'is to release it where the fuse says so',
      { policies: elsewhere, live, fuse: { kind: 'release' } },
      ['release for NamespacePolicy/q'],
    ],
    [
      'is to keep it where the fuse holds',
      { policies: elsewhere, live, fuse: { kind: 'hold', count: 9, limit: 5 } },
      ['undesired TooManyDeletions for NamespacePolicy/q'],
    ],
    [
      'is nothing where its owner is suspended',
      { policies: { q: { ...elsewhere.q, suspend: true } }, live },
      [],
    ],
    ['is nothing where its owner does not load', { policies: { q: { nonsense: 1 } }, live }, []],
    [
      'is nothing while it is being deleted',
      {
        policies: elsewhere,
        live: binding('NamespacePolicy/q', {}, { deletionTimestamp: '2026-11-21T11:00:00Z' }),
      },
      [],
    ],
    ['is nothing where it is not ours', { policies: elsewhere, live: binding(undefined) }, []],
    [
      'whose time is over is to delete it, whatever the fuse says',
      {
        policies: { q: bindingPolicy({}, { expiresAt: '2026-11-21T12:00:00Z' }) },
        live,
        fuse: { kind: 'hold', count: 9, limit: 5 },
      },
      ['delete for NamespacePolicy/q'],
    ],
  ])('%s', (_what, situation, expected) => {
    expect(planOf(situation)).toEqual(expected);
  });
});
