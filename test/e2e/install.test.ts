// manifests/install on a real API server: it installs at once and again, and gives each account exactly the needed rights.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { hooksOf } from '../support/jail/scene.ts';
import { kubectl, mustKubectl, type KubectlOptions } from '../support/kubectl.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { markedManifest, markLabel, owned } from './guarded-objects.ts';

const patience = { timeout: 60_000, interval: 200 };
const applied = ['apply', '--server-side', '--field-manager=reeve', '-f', '-'];
const created = ['create', '-f', '-'];

interface Request {
  readonly what: string;
  readonly args: readonly string[];
  readonly input?: string;
}

const policyObject = { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name: 'p' } };
const policy = JSON.stringify({ ...policyObject, spec: {} });

function merge(what: readonly string[], patch: unknown): readonly string[] {
  return ['patch', ...what, '--type=merge', `-p=${JSON.stringify(patch)}`];
}

function binding(role: string, name = 'granted'): string {
  return JSON.stringify({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name, namespace: 'team', ...marked },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'readers' }],
  });
}

/** The marks with which the API server lets Reeve create the object. */
const marked = { labels: { [markLabel]: 'reeve' }, annotations: owned };

function object(
  apiVersion: string,
  kind: string,
  name: string,
  rest: object = {},
  namespace?: string,
): string {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  return JSON.stringify({ apiVersion, kind, metadata, ...rest });
}

const lease = (name: string): string => object('coordination.k8s.io/v1', 'Lease', name, {}, 'reeve-system');
const condition = {
  type: 'reeve.dev/Ready',
  status: 'True',
  reason: 'Synced',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const accessReview = object('authorization.k8s.io/v1', 'SubjectAccessReview', '', {
  spec: {
    user: 'somebody',
    resourceAttributes: { group: 'reeve.dev', resource: 'namespacepolicies', verb: 'use' },
  },
});
const event = object(
  'events.k8s.io/v1',
  'Event',
  'e',
  {
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'reeve.dev/reeve',
    reportingInstance: 'reeve-0',
    action: 'Create',
    reason: 'Created',
    type: 'Normal',
    regarding: { apiVersion: 'v1', kind: 'Secret', name: 't', namespace: 'team' },
  },
  'team',
);
const provided = (apiVersion: string, kind: string, rest: object = {}): string => {
  const metadata = { name: 'provided', namespace: 'team', ...marked };
  return object(apiVersion, kind, 'provided', { ...rest, metadata });
};
const kinds = [
  provided('v1', 'ConfigMap'),
  provided('v1', 'LimitRange', { spec: { limits: [] } }),
  provided('v1', 'ResourceQuota'),
  provided('v1', 'ServiceAccount'),
  provided('networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }),
];

/** Requests that run in this order on one cluster. */
const reconcilerMay: readonly Request[] = [
  { what: 'read policies, shares and namespaces', args: ['get', 'nspol,sshare,ns'] },
  { what: 'label a namespace', args: ['label', 'ns', 'team', 'defaulted=yes'] },
  {
    what: 'write the condition of a namespace',
    args: [...applied, '--subresource=status'],
    input: object('v1', 'Namespace', 'team', { status: { conditions: [condition] } }),
  },
  {
    what: 'set a finalizer',
    args: merge(['nspol', 'p'], { metadata: { finalizers: ['reeve.dev/cleanup'] } }),
  },
  { what: 'remove a finalizer', args: merge(['nspol', 'p'], { metadata: { finalizers: null } }) },
  {
    what: 'write the status of a policy',
    args: [...applied, '--subresource=status'],
    input: JSON.stringify({ ...policyObject, status: { matched: 1 } }),
  },
  { what: 'apply a RoleBinding to view', args: applied, input: binding('view') },
  { what: 'apply a RoleBinding to edit', args: applied, input: binding('edit', 'edit') },
  { what: 'delete a RoleBinding', args: ['delete', 'rolebinding', 'granted', '-n', 'team'] },
  {
    what: 'apply a Secret',
    args: applied,
    input: markedManifest('secret', { name: 's', namespace: 'team' }),
  },
  {
    what: 'create a Secret',
    args: created,
    input: markedManifest('secret', { name: 't', namespace: 'team' }),
  },
  {
    what: 'list Secrets everywhere',
    args: ['get', 'secrets', '-A', '-l', 'app.kubernetes.io/managed-by=reeve'],
  },
  { what: 'delete a Secret', args: ['delete', 'secret', 's', '-n', 'team'] },
  ...kinds.map((input) => ({ what: `apply ${kindOf(input)}`, args: applied, input })),
  ...kinds.map((input) => ({ what: `delete ${kindOf(input)}`, args: ['delete', '-f', '-'], input })),
  { what: 'write an event', args: created, input: event },
  {
    what: 'read the CRD of a kind',
    args: ['get', 'crd', 'namespacepolicies.reeve.dev', 'secretshares.reeve.dev'],
  },
  {
    what: 'hold its Lease',
    args: merge(['lease', 'reeve-reconciler', '-n', 'reeve-system'], { spec: { holderIdentity: 'me' } }),
  },
  { what: 'replace its Lease', args: ['replace', '-f', '-'], input: lease('reeve-reconciler') },
];

const reconcilerMayNot: readonly Request[] = [
  { what: 'create a namespace', args: ['create', 'ns', 'other'] },
  { what: 'delete a namespace', args: ['delete', 'ns', 'team'] },
  { what: 'create a policy', args: created, input: policy.replace('"p"', '"q"') },
  { what: 'delete a policy', args: ['delete', 'nspol', 'p'] },
  { what: 'bind cluster-admin', args: applied, input: binding('cluster-admin', 'much') },
  { what: 'bind admin', args: applied, input: binding('admin', 'much') },
  { what: 'write a Role', args: ['create', 'role', 'r', '-n', 'team', '--verb=get', '--resource=pods'] },
  { what: 'write a ClusterRole', args: ['label', 'clusterrole', 'reeve-reconciler-bind', 'x=y'] },
  {
    what: 'bind in the whole cluster',
    args: ['create', 'clusterrolebinding', 'much', '--clusterrole=view', '--user=x'],
  },
  { what: 'impersonate another user', args: ['get', 'ns', '--as=somebody'] },
  { what: 'create Pods', args: ['run', 'pod', '-n', 'team', '--image=none'] },
  { what: 'create a token', args: ['create', 'token', 'default', '-n', 'team'] },
  { what: 'create another Lease', args: created, input: lease('other') },
  {
    what: 'hold the Lease of the webhook',
    args: ['label', 'lease', 'reeve-webhook', '-n', 'reeve-system', 'x=y'],
  },
  { what: 'read other CRDs', args: ['get', 'crd'] },
  { what: 'check the rights of users', args: [...created, '--validate=false'], input: accessReview },
  { what: 'see webhook configurations', args: ['get', 'validatingwebhookconfigurations'] },
  { what: 'see admission policies', args: ['get', 'validatingadmissionpolicies'] },
  { what: 'delete many Secrets at once', args: ['delete', '--raw', '/api/v1/namespaces/team/secrets'] },
];

const configurations = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'] as const;
/** Stands for the UID of the ClusterRole that owns the configurations. */
const ownerUid = 'uid-of-the-cluster-role';
const owner = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'reeve-webhook' };

function configuration(kind: string, name: string): string {
  const { metadata, ...hooks } = hooksOf({}, name, kind) as { readonly metadata: object };
  return JSON.stringify({
    ...hooks,
    metadata: { ...metadata, ownerReferences: [{ ...owner, uid: ownerUid }] },
  });
}

const webhookMay: readonly Request[] = [
  { what: 'read policies, shares and namespaces', args: ['get', 'nspol,sshare,ns'] },
  { what: 'check the rights of users', args: [...created, '--validate=false'], input: accessReview },
  { what: 'see the owner of its configurations', args: ['get', 'clusterrole', 'reeve-webhook'] },
  {
    what: 'hold its Lease',
    args: merge(['lease', 'reeve-webhook', '-n', 'reeve-system'], { spec: { holderIdentity: 'me' } }),
  },
  ...configurations.map((kind) => ({
    what: `apply its ${kind}`,
    args: applied,
    input: configuration(kind, 'reeve'),
  })),
  ...configurations.map((kind) => ({ what: `see its ${kind}`, args: ['get', kind, 'reeve'] })),
];

const webhookMayNot: readonly Request[] = [
  { what: 'read a Secret', args: ['get', 'secret', 't', '-n', 'team'] },
  {
    what: 'read the Secret of its certificate',
    args: ['get', 'secret', 'reeve-webhook-tls', '-n', 'reeve-system'],
  },
  { what: 'label a namespace', args: ['label', 'ns', 'team', 'x=y'] },
  { what: 'write a policy', args: ['label', 'nspol', 'p', 'x=y'] },
  { what: 'see RoleBindings', args: ['get', 'rolebindings', '-n', 'team'] },
  { what: 'see other ClusterRoles', args: ['get', 'clusterrole', 'cluster-admin'] },
  {
    what: 'hold the Lease of the reconciler',
    args: ['label', 'lease', 'reeve-reconciler', '-n', 'reeve-system', 'x=y'],
  },
  { what: 'impersonate another user', args: ['get', 'ns', '--as=somebody'] },
  ...configurations.flatMap((kind) => [
    { what: `apply another ${kind}`, args: applied, input: configuration(kind, 'other') },
    { what: `create a ${kind} by POST`, args: created, input: configuration(kind, 'reeve') },
    { what: `delete its ${kind}`, args: ['delete', kind, 'reeve'] },
  ]),
];

function kindOf(input: string): string {
  return (JSON.parse(input) as { readonly kind: string }).kind;
}

describeControllers('the install', { timeout: 120_000 }, () => {
  let plane: ControlPlane;
  let administrator: KubectlOptions;
  const install = ['apply', '-f', 'manifests/crds', '-f', 'manifests/install'];

  beforeAll(async () => {
    plane = await startControlPlane({ audit: false });
    administrator = { kubeconfig: plane.kubeconfig };
    await mustKubectl(install, administrator);
    await mustKubectl(['create', 'namespace', 'team'], administrator);
    await vi.waitFor(() => mustKubectl(created, { ...administrator, input: policy }), patience);
  }, 180_000);

  afterAll(() => plane.stop());

  async function uidOfOwner(): Promise<string> {
    return await mustKubectl(
      ['get', 'clusterrole', 'reeve-webhook', '-o', 'jsonpath={.metadata.uid}'],
      administrator,
    );
  }

  async function outcome(account: string, { args, input }: Request): Promise<string> {
    const kubeconfig = await plane.tokenKubeconfig('reeve-system', account);
    const { code, stderr } = await kubectl(args, {
      kubeconfig,
      ...(input === undefined ? {} : { input: input.replace(ownerUid, await uidOfOwner()) }),
    });
    return code === 0 ? 'done' : stderr;
  }

  it('applying the install again changes nothing, and keeps the holder of each Lease', async () => {
    const held = merge(['lease', 'reeve-reconciler', '-n', 'reeve-system'], {
      spec: { holderIdentity: 'me' },
    });
    await mustKubectl(held, administrator);
    const versions = [
      'get',
      '-f',
      'manifests/crds',
      '-f',
      'manifests/install',
      '-o=jsonpath={.items[*].metadata.resourceVersion}',
    ];
    const before = await mustKubectl(versions, administrator);
    await mustKubectl(install, administrator);
    expect(await mustKubectl(versions, administrator)).toBe(before);
    const holder = [
      'get',
      'lease',
      'reeve-reconciler',
      '-n',
      'reeve-system',
      '-o=jsonpath={.spec.holderIdentity}',
    ];
    expect(await mustKubectl(holder, administrator)).toBe('me');
  });

  it.each(reconcilerMay)('the install lets the reconciler $what', async (request) => {
    expect(await outcome('reeve-reconciler', request)).toBe('done');
  });

  it.each(reconcilerMayNot)('the install does not let the reconciler $what', async (request) => {
    expect(await outcome('reeve-reconciler', request)).toMatch(
      /\(Forbidden\)|is forbidden|cannot impersonate/,
    );
  });

  it.each(webhookMay)('the install lets the webhook $what', async (request) => {
    expect(await outcome('reeve-webhook', request)).toBe('done');
  });

  it.each(webhookMayNot)('the install does not let the webhook $what', async (request) => {
    expect(await outcome('reeve-webhook', request)).toMatch(/\(Forbidden\)|is forbidden|cannot impersonate/);
  });

  it('an account may create its own Lease again by applying it', async () => {
    await mustKubectl(['delete', 'lease', 'reeve-reconciler', '-n', 'reeve-system'], administrator);
    const byPost = { what: '', args: created, input: lease('reeve-reconciler') };
    expect(await outcome('reeve-reconciler', byPost)).toContain('(Forbidden)');
    expect(await outcome('reeve-reconciler', { ...byPost, args: applied })).toBe('done');
  });
});
