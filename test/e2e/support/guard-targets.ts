// Creates the targets of the attacks on the guards: managed objects, other objects, Namespaces under policies, policies.
import type { Api } from '../../contract/support/api.ts';
import { at, type Plural } from '../../contract/support/objects.ts';
import { markLabel } from '../guarded-objects.ts';
import { home, managedOwner, managedPlurals, type ManagedKind } from './guard-rows.ts';
import { configMap, policy, share, type WrittenObject } from './objects.ts';
import { reconcilerUser } from './stage.ts';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const view = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };

const bodies: Readonly<Record<ManagedKind, object>> = {
  rolebindings: { ...rbac, kind: 'RoleBinding', roleRef: view, subjects: [] },
  secrets: { apiVersion: 'v1', kind: 'Secret', stringData: { key: 'value' } },
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap', data: { key: 'value' } },
  resourcequotas: { apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard: { pods: '5' } } },
  limitranges: { apiVersion: 'v1', kind: 'LimitRange', spec: { limits: [] } },
  serviceaccounts: { apiVersion: 'v1', kind: 'ServiceAccount' },
  networkpolicies: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec: { podSelector: {} } },
};

const byName = (...names: readonly string[]): object => ({ match: { names } });
const selecting = (key: string, operator: string, values?: readonly string[]): object => ({
  match: {
    namespaceSelector: { matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }] },
  },
});
const where = (expression: string): object => ({ match: { matchConditions: [{ name: 'c', expression }] } });
const fixed = { labels: ['gm-fixed'], annotations: ['gm-fixed'] };
const contents = { resources: [configMap('settings', { a: 'b' })] };
const group =
  "${has(namespaceObject.metadata.labels) && 'gm-group' in namespaceObject.metadata.labels ? 'x' : 'y'}";

const policies: readonly WrittenObject[] = [
  policy('gm-own', byName('gm-nobody')),
  policy('gm-fuse', {
    ...byName('gm-two-*'),
    contents: { resources: [configMap('fused', {})] },
    maxDeletions: 1,
  }),
  policy('gm-locked', { ...byName('gm-locked*'), namespaces: { deletion: { protect: true } } }),
  policy('gm-kept', { ...byName('gm-kept*'), namespaces: { immutable: fixed } }),
  policy('gm-ruled', {
    ...byName('gm-ruled*'),
    namespaces: { required: { labels: { 'gm-team': { pattern: '^[a-z]+$' } } } },
  }),
  policy('gm-team', {
    ...selecting('gm-tier', 'In', ['team']),
    contents: { resources: [configMap(group, {})] },
  }),
  policy('gm-absent', { ...selecting('gm-opt-out', 'DoesNotExist'), contents }),
  policy('gm-not-in', { ...selecting('gm-zone', 'NotIn', ['outer']), contents }),
  policy('gm-annotated', {
    ...where("namespaceObject.metadata.?annotations[?'gm-note'] == optional.of('x')"),
    contents,
  }),
  policy('gm-finalized', {
    ...where("'gm.example.com/held' in namespaceObject.metadata.?finalizers.orValue([])"),
    contents,
  }),
  policy('gm-owned', {
    ...where("namespaceObject.metadata.?ownerReferences.orValue([]).exists(o, o.name == 'gm-none')"),
    contents,
  }),
  policy('gm-specified', { ...where("'gm.example.com/held' in namespaceObject.spec.finalizers"), contents }),
  policy('gm-conditional', {
    ...where("namespaceObject.status.?conditions.orValue([]).exists(c, c.type == 'gm.example.com/Held')"),
    contents,
  }),
  policy('gm-named', { ...byName('gm-named*'), contents }),
];
const source = { namespace: 'reeve-shared', name: 'gm-source' };
const labeled = (key: string): object => ({ namespaceSelector: { matchLabels: { [key]: 'true' } } });
const shares: readonly WrittenObject[] = [
  share('gm-own', { source, targets: labeled('gm-nobody') }),
  share('gm-share', { source, targets: labeled('gm-pull') }),
  share('gm-fuse', { source, targets: { names: ['gm-two-*'] }, maxDeletions: 1 }),
];

const namespaces: Readonly<Record<string, object>> = {
  [home]: {},
  'gm-own': {},
  'gm-plain': {},
  'gm-spec': {},
  'gm-status': {},
  'gm-two-a': {},
  'gm-two-b': {},
  'gm-locked': {},
  'gm-named': {},
  'gm-kept': { labels: { 'gm-fixed': 'a' }, annotations: { 'gm-fixed': 'a' } },
  'gm-ruled': { labels: { 'gm-team': 'shop' } },
  'gm-in': { labels: { 'gm-tier': 'team' } },
};

export async function makeGuardedObjects(administrator: Api): Promise<void> {
  const make = async (
    plural: Plural,
    namespace: string,
    object: object,
    api = administrator,
  ): Promise<void> => {
    await api.must(api.create(at(plural, namespace), object));
  };
  const reeve = administrator.as(reconcilerUser, 'system:masters');
  const labels = { [markLabel]: 'reeve', 'reeve.dev/namespacepolicy': 'gm-owner' };
  const kept = { name: 'kept', labels, annotations: { 'reeve.dev/owner': managedOwner } };
  for (const [name, metadata] of Object.entries(namespaces))
    await make('namespaces', '', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } });
  await make('clusterroles', '', { ...rbac, kind: 'ClusterRole', metadata: { name: 'gm-own' }, rules: [] });
  for (const plural of managedPlurals) {
    await make(plural, home, { ...bodies[plural], metadata: kept }, reeve);
    await make(plural, home, { ...bodies[plural], metadata: { name: 'gm-own' } });
  }
  for (const object of policies) await make('namespacepolicies', '', object);
  for (const object of shares) await make('secretshares', '', object);
}
