// For each value of the chart another value, so that a test can see that it changes the rendered objects.

export interface ValueCase {
  /** As in the README of the chart: `webhook.replicas`. */
  readonly path: string;
  readonly value: unknown;
  /** Other values without which this one has no effect. */
  readonly beside?: object;
  /** Text that the rendered objects have with the value and not without it. */
  readonly shows: string;
}

const digest = `sha256:${'a'.repeat(64)}`;
const single = { ha: { enabled: false } };
const files = { certificates: { source: 'files', secretName: 'first' } };
const certManager = { certificates: { source: 'cert-manager' } };
const network = { networkPolicy: { enabled: true } };
const kinds = [
  { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps' },
  { apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments' },
];

export const valueCases: readonly ValueCase[] = [
  { path: 'image.repository', value: 'registry.example.com/reeve', shows: 'registry.example.com/reeve:' },
  { path: 'image.tag', value: '9.9.9', shows: 'reeve:9.9.9' },
  { path: 'image.digest', value: digest, shows: `reeve@${digest}` },
  { path: 'image.pullPolicy', value: 'Always', shows: 'imagePullPolicy: Always' },
  { path: 'image.pullSecrets', value: ['pull'], shows: '- { name: pull }' },
  { path: 'ha.enabled', value: false, shows: '--role=all' },
  { path: 'webhook.replicas', value: 3, shows: 'replicas: 3' },
  { path: 'webhook.failurePolicy', value: 'Fail', shows: '- --secrets-rbac-failure-policy=Fail' },
  { path: 'webhook.hostNetwork', value: true, shows: 'hostNetwork: true' },
  { path: 'webhook.port', value: 10250, shows: '--port=10250' },
  { path: 'webhook.probesPort', value: 9081, shows: '--probes-port=9081' },
  { path: 'webhook.resources', value: { limits: { memory: '1Gi', cpu: 2 } }, shows: 'cpu: 2' },
  { path: 'reconciler.replicas', value: 4, shows: 'replicas: 4' },
  {
    path: 'reconciler.resources',
    value: { limits: { memory: '2Gi' } },
    shows: '--max-old-space-size=1536',
  },
  { path: 'bindableClusterRoles', value: ['view', 'auditor'], shows: '["view", "auditor"]' },
  { path: 'resourceKinds', value: kinds, shows: '--resource-kind=apps/v1/Deployment' },
  { path: 'intentAdapters', value: ['network'], shows: '' },
  { path: 'tlsScan.image', value: 'k8tls:1', shows: '--tls-scan-image=k8tls:1' },
  { path: 'secretNames', value: ['regcred'], shows: '--secret-name=regcred' },
  { path: 'enforcedKeys', value: ['istio.io/rev'], shows: '--enforced-key=istio.io/rev' },
  {
    path: 'auditSecrets',
    value: true,
    beside: { secretNames: ['regcred'] },
    shows: 'name: reeve-reconciler-audit-secrets',
  },
  { path: 'reports', value: true, shows: '--reports=true' },
  { path: 'namespaceClaims', value: true, shows: '--namespace-claims=true' },
  { path: 'sharedNamespaces', value: ['sources'], shows: '--shared-namespace=sources' },
  { path: 'createSharedNamespaces', value: false, shows: '' },
  { path: 'excludeNamespaces', value: ['legacy'], shows: '--exclude-namespace=legacy' },
  { path: 'clusterVariables', value: { region: 'eu' }, shows: '--variable=cluster.region=eu' },
  { path: 'crds', value: false, shows: '' },
  { path: 'certificates.source', value: 'cert-manager', shows: 'kind: Certificate' },
  { path: 'certificates.secretName', value: 'tls', beside: files, shows: 'secretName: tls' },
  {
    path: 'certificates.issuerRef',
    value: { kind: 'ClusterIssuer', name: 'company' },
    beside: certManager,
    shows: '"name":"company"',
  },
  { path: 'waitUntilEnforced', value: false, shows: "helm.sh/hook: test\n    helm.sh/hook-weight: '0'" },
  {
    path: 'policies',
    value: [{ name: 'p', spec: { suspend: true } }],
    shows: 'post-install\n    helm.sh/hook-delete-policy: hook-failed',
  },
  {
    path: 'shares',
    value: [{ name: 's', spec: { suspend: true } }],
    shows: 'post-install\n    helm.sh/hook-delete-policy: hook-failed',
  },
  {
    path: 'configMapShares',
    value: [{ name: 'c', spec: { suspend: true } }],
    shows: 'post-install\n    helm.sh/hook-delete-policy: hook-failed',
  },
  { path: 'priorityClassName', value: 'high', shows: 'priorityClassName: high' },
  { path: 'nodeSelector', value: { pool: 'platform' }, shows: 'pool: platform' },
  { path: 'tolerations', value: [{ key: 'dedicated', operator: 'Exists' }], shows: 'key: dedicated' },
  { path: 'lostNodeSeconds', value: 60, shows: 'tolerationSeconds: 60' },
  { path: 'spread', value: 'ScheduleAnyway', shows: '' },
  { path: 'podDisruptionBudgets', value: false, shows: '' },
  { path: 'networkPolicy.enabled', value: true, shows: 'kind: NetworkPolicy\n' },
  {
    path: 'networkPolicy.metricsFrom',
    value: [{ namespaceSelector: {} }],
    beside: network,
    shows: 'from: [{"namespaceSelector":{}}]',
  },
  { path: 'networkPolicy.apiServerPorts', value: [8443], beside: network, shows: 'port: 8443 }' },
  { path: 'metrics.podMonitor', value: true, shows: 'kind: PodMonitor' },
  { path: 'metrics.prometheusRule', value: true, shows: 'kind: PrometheusRule' },
  {
    path: 'metrics.runbooksUrl',
    value: 'https://git.example.com/reeve/docs/runbooks/',
    beside: { metrics: { prometheusRule: true } },
    shows: 'runbook_url: https://git.example.com/reeve/docs/runbooks/ReeveNoWebhook.md\n',
  },
  { path: 'metrics.dashboards', value: true, shows: 'reeve-dashboard-' },
  {
    path: 'metrics.labels',
    value: { release: 'prometheus' },
    beside: { metrics: { podMonitor: true } },
    shows: '"release":"prometheus"',
  },
  { path: 'teamLabel', value: 'example.com/team', shows: '--team-label=example.com/team' },
  { path: 'logLevel', value: 'debug', shows: '--log-level=debug' },
  { path: 'extraArgs', value: ['--concurrency=32'], shows: '--concurrency=32' },
];

/** Sets of values that users combine, for comparisons and for a real API server. */
export const valueSets: readonly (readonly [name: string, values: object])[] = [
  ['the defaults', {}],
  ['one Pod', single],
  [
    'webhooks in the network of their nodes',
    { webhook: { hostNetwork: true, port: 10250, probesPort: 9081 } },
  ],
  ['one Pod with files', { ...single, ...files }],
  [
    'named Secrets',
    { secretNames: ['regcred', 'wildcard-tls'], sharedNamespaces: ['sources', 'more-sources'] },
  ],
  ['named Secrets and an audit', { secretNames: ['regcred'], auditSecrets: true }],
  ['no ClusterRole to bind', { bindableClusterRoles: [] }],
  [
    'other kinds',
    { resourceKinds: kinds, webhook: { failurePolicy: 'Fail' }, excludeNamespaces: ['legacy'] },
  ],
  ['fewer adapters of intents', { intentAdapters: ['pod-security', 'kyverno'] }],
  ['a scanner of TLS', { tlsScan: { image: 'registry.example.com/k8tls:1' } }],
  ['a network policy', network],
  ['cert-manager', certManager],
  [
    'an issuer of the cluster',
    { certificates: { source: 'cert-manager', issuerRef: { kind: 'ClusterIssuer', name: 'x' } } },
  ],
  ['everything for Prometheus', { metrics: { podMonitor: true, prometheusRule: true, dashboards: true } }],
];

/** Returns the values with one more, deep inside. */
export function withValue(values: object, path: string, value: unknown): object {
  const [first = '', ...rest] = path.split('.');
  const inner = (values as Record<string, object>)[first] ?? {};
  return { ...values, [first]: rest.length === 0 ? value : withValue(inner, rest.join('.'), value) };
}
