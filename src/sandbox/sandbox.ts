// Starts the sandbox: a Kubernetes API on loopback, in this process, with all objects in memory.
import { randomUUID } from 'node:crypto';
import { stringifyYaml } from '../base/yaml.ts';
import { createAuthorizer } from './access/authorizer.ts';
import { createReviews } from './access/reviews.ts';
import { createAdmission } from './admission/admission.ts';
import { aggregation, defaultAccounts } from './controllers/upkeep.ts';
import { runController } from './controllers/controller.ts';
import { namespaceController, definitionController, garbageCollector } from './controllers/deletion.ts';
import { startServer, type RequestObserver, type ServerTls } from './http/server.ts';
import { mirroringEvents } from './kinds/plain-kinds.ts';
import type { CustomKind } from './kinds/custom-kinds.ts';
import { kindsServedFrom } from './kinds/served-kinds.ts';
import { unstoredKinds } from './kinds/unstored-kinds.ts';
import { objectService } from './objects.ts';
import { MemoryStore } from './store.ts';
import { Tokens, type User } from './access/users.ts';
import { type WriteContext, timestamp } from './write/context.ts';
import type { KubeObject, StringMap } from '../base/metadata.ts';
import type { Kinds, Resource } from './resource.ts';
import { clusterAdminRules, rbacApiGroup } from '../base/rbac-rules.ts';

export interface SandboxOptions {
  readonly tls: ServerTls;
  /** The kinds whose CustomResourceDefinitions may be stored. */
  readonly customKinds: readonly CustomKind[];
  /** Default: any free port. */
  readonly port?: number;
  readonly observer?: RequestObserver;
  /** Receives errors of the sandbox itself. */
  readonly onError?: (error: unknown) => void;
}

export interface Sandbox {
  readonly url: string;
  readonly caPem: string;
  /** The token of a member of system:masters. */
  readonly adminToken: string;
  tokenFor(user: User): string;
  kubeconfig(name: string, token: string): string;
  close(): Promise<void>;
}

const admin: User = { username: 'sandbox-admin', groups: ['system:masters', 'system:authenticated'] };

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { tls, port = 0, onError: faulted = () => undefined } = options;
  const store = mirroringEvents(new MemoryStore());
  const kinds = kindsServedFrom(store, options.customKinds);
  const authorizer = createAuthorizer(store);
  const admission = createAdmission({ store, kinds, uid: randomUUID });
  const context: WriteContext = {
    store,
    kinds,
    authorizer,
    admission,
    now: () => new Date(),
    uid: randomUUID,
  };
  const tokens = new Tokens();
  const controllers = [
    aggregation,
    garbageCollector,
    defaultAccounts,
    definitionController,
    namespaceController,
  ];
  const stops = controllers.map((controller) => runController(store, controller(context), faulted));
  for (const [resource, object] of initialObjects(kinds, new Date())) store.put(resource, object, undefined);
  const server = await startServer(
    {
      kinds,
      serveObjects: objectService(context, tokens),
      reviews: createReviews(authorizer, tokens),
      unstored: unstoredKinds,
      authorizer,
      tokens,
      observer: options.observer ?? { answered: () => undefined },
      onError: faulted,
    },
    tls,
    port,
  );
  return {
    url: server.url,
    caPem: tls.caPem,
    adminToken: tokens.issue(admin),
    tokenFor: (user) => tokens.issue(user),
    kubeconfig: (name, token) => kubeconfigOf(server.url, tls.caPem, name, token),
    close: async () => {
      for (const stop of stops) stop();
      await server.close();
    },
  };
}

/** https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/ */
function kubeconfigOf(server: string, caPem: string, user: string, token: string): string {
  const name = 'reeve-sandbox';
  const authority = Buffer.from(caPem).toString('base64');
  return stringifyYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user } }],
    'current-context': name,
  });
}

// Lists the objects of an empty cluster: its namespaces and the ClusterRoles that people use.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

function initialObjects(kinds: Kinds, now: Date): readonly (readonly [Resource, KubeObject])[] {
  const objects: readonly KubeObject[] = [
    ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...builtInRoles(),
  ];
  return objects.flatMap((object) => {
    const resource = kinds.ofKind(object.apiVersion ?? '', object.kind ?? '');
    if (resource === undefined) return [];
    const metadata = { ...object.metadata, uid: randomUUID(), creationTimestamp: timestamp(now) };
    return [[resource, resource.rules.prepare({ ...object, metadata }, undefined, now)] as const];
  });
}

type Rules = readonly object[];

const read = 'get list watch';
const write = 'create delete deletecollection patch update';

const scales = 'deployments deployments/scale replicasets replicasets/scale';
/** The API server serves nothing in `extensions` any more, but its roles still name it. */
const extensions = `daemonsets ingresses networkpolicies replicationcontrollers/scale ${scales}`;

/** `edit` may write these, `view` may read them. */
const common: readonly (readonly [group: string, resources: string])[] = [
  ['', 'configmaps events persistentvolumeclaims pods replicationcontrollers replicationcontrollers/scale'],
  ['', 'serviceaccounts services'],
  ['events.k8s.io', 'events'],
  ['apps', `daemonsets statefulsets statefulsets/scale ${scales}`],
  ['autoscaling', 'horizontalpodautoscalers'],
  ['batch', 'cronjobs jobs'],
  ['extensions', extensions],
  ['policy', 'poddisruptionbudgets'],
  ['networking.k8s.io', 'ingresses networkpolicies'],
  ['resource.k8s.io', 'resourceclaims resourceclaimtemplates'],
];
const viewed: typeof common = [
  ['', 'bindings endpoints limitranges namespaces namespaces/status persistentvolumeclaims/status pods/log'],
  ['', 'pods/status replicationcontrollers/status resourcequotas resourcequotas/status services/status'],
  ['apps', 'controllerrevisions daemonsets/status deployments/status replicasets/status statefulsets/status'],
  ['autoscaling', 'horizontalpodautoscalers/status'],
  ['batch', 'cronjobs/status jobs/status'],
  ['discovery.k8s.io', 'endpointslices'],
  ['extensions', 'daemonsets/status deployments/status ingresses/status replicasets/status'],
  ['policy', 'poddisruptionbudgets/status'],
  ['networking.k8s.io', 'ingresses/status'],
  ['resource.k8s.io', 'resourceclaims/status'],
];
const toView = [...common, ...viewed].map(([group, resources]) => rule(read, group, resources));
const toEdit = [
  ...common.map(([group, resources]) => rule(write, group, resources)),
  ...['apps', 'extensions'].map((group) => rule(write, group, 'deployments/rollback')),
  rule(`${write} ${read}`, '', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
  rule(`${write} ${read}`, 'coordination.k8s.io', 'leases'),
  rule('create', '', 'pods/eviction serviceaccounts/token'),
  rule('impersonate', '', 'serviceaccounts'),
];
const toAdmin = [
  rule('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
  rule(`${write} ${read}`, rbacApiGroup, 'rolebindings roles'),
];
const basic = [
  rule('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
  rule('create', 'authentication.k8s.io', 'selfsubjectreviews'),
];
const health = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const discovery = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...health];

/** Returns the roles without the fields that the server sets. */
export function builtInRoles(): readonly KubeObject[] {
  // In the order in which aggregation gathers the rules.
  const edit = [...toEdit, ...toView];
  return [
    ...gathering('view', toView, toView, 'edit'),
    ...gathering('edit', toEdit, edit, 'admin'),
    ...gathering('admin', toAdmin, [...edit, ...toAdmin]),
    ...bound('cluster-admin', clusterAdminRules, 'masters'),
    ...bound('system:basic-user', basic, 'authenticated'),
    ...bound('system:discovery', [{ nonResourceURLs: discovery, verbs: ['get'] }], 'authenticated'),
    ...bound('system:public-info-viewer', [{ nonResourceURLs: health, verbs: ['get'] }], 'unauthenticated'),
  ];
}

function rule(verbs: string, group: string, resources: string): object {
  return { apiGroups: [group], resources: resources.split(' '), verbs: verbs.split(' ') };
}

function label(target: string): StringMap {
  return { [`${rbacApiGroup}/aggregate-to-${target}`]: 'true' };
}

/** Returns an aggregated role with the rules that it has from the start. */
function gathering(name: string, own: Rules, all: Rules, target?: string): readonly KubeObject[] {
  const part = { ...named('ClusterRole', `system:aggregate-to-${name}`, label(name)), rules: own };
  const role = named('ClusterRole', name, target === undefined ? {} : label(target));
  return [
    part,
    { ...role, aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(name) }] }, rules: all },
  ];
}

/** Returns a role and its binding to a group of the system. */
function bound(name: string, rules: Rules, group: string): readonly KubeObject[] {
  const roleRef = { apiGroup: rbacApiGroup, kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: rbacApiGroup, kind: 'Group', name: `system:${group}` }];
  return [
    { ...named('ClusterRole', name), rules },
    { ...named('ClusterRoleBinding', name), roleRef, subjects },
  ];
}

function named(kind: string, name: string, more: StringMap = {}): KubeObject {
  const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...more };
  return { apiVersion: `${rbacApiGroup}/v1`, kind, metadata: { name, labels } };
}
