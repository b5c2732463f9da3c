// What manifests/install and manifests/all-in-one promise, as far as the files alone can say it.
import { describe, expect, it } from 'vitest';
import { readCommand } from '../../../src/cli/commands.ts';
import { runSettings } from '../../../src/cli/commands/run.ts';
import { flagName } from '../../../src/cli/flags/settings.ts';
import { objectTypeOf, type ObjectType } from '../../../src/base/object-type.ts';
import { guessedPlural } from '../../../src/base/text.ts';
import { intentAdapters } from '../../../src/policy/intents/adapters.ts';
import { providerLabels } from '../../../src/schema/names.ts';
import { manifestObjects } from '../../support/manifest-files.ts';
import type { ManifestObject } from '../../support/manifest-files.ts';

const install = manifestObjects('install');
const all = [...install, ...manifestObjects('all-in-one')];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Reference {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly securityContext: unknown;
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly Container[];
    readonly securityContext: object;
    readonly serviceAccountName: string;
    readonly terminationGracePeriodSeconds: number;
    readonly topologySpreadConstraints?: readonly unknown[];
    readonly priorityClassName: string;
  };
}

function ofKind(...kinds: readonly string[]): readonly ManifestObject[] {
  return all.filter(({ kind }) => kinds.includes(kind));
}

function templateOf({ object }: ManifestObject): PodTemplate {
  return (object['spec'] as { readonly template: PodTemplate }).template;
}

function containerOf(deployment: ManifestObject): Container {
  const [container, ...more] = templateOf(deployment).spec.containers;
  if (container === undefined || more.length > 0) throw new Error('one container was expected');
  return container;
}

const deployments = ofKind('Deployment');
const roles = ofKind('ClusterRole', 'Role').filter(({ name }) => name !== 'reeve-break-glass');
const rules = roles.flatMap(({ name, object }) =>
  (object['rules'] as Rule[]).map((rule) => ({ name, rule })),
);

/** Returns what the role for contents covers: `networking.k8s.io/networkpolicies`. */
function givenResources(): readonly string[] {
  return rules
    .filter(({ name }) => name === 'reeve-reconciler-resources')
    .flatMap(({ rule }) => rule.resources.map((resource) => `${rule.apiGroups.join('')}/${resource}`))
    .toSorted();
}

function resourceOf({ apiVersion, kind }: ObjectType): string {
  return `${apiVersion.split('/').slice(0, -1).join('/')}/${guessedPlural(kind)}`;
}

describe('the files', () => {
  it('an object comes after the objects that it needs', () => {
    const firstOf = (kind: string): number => install.findIndex((each) => each.kind === kind);
    const order = [
      'Namespace',
      'ServiceAccount',
      'ClusterRole',
      'Lease',
      'ValidatingAdmissionPolicy',
      'Deployment',
    ];
    expect(order.map(firstOf)).toEqual(order.map(firstOf).toSorted((a, b) => a - b));
    expect(order.map(firstOf)).not.toContain(-1);
  });

  it('no object occurs twice', () => {
    const ids = all.map(({ kind, name, object }) => `${kind}/${namespaceOf(object)}/${name}`);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('no shipped object carries the label of objects that the reconciler owns', () => {
    const labels = all.map(({ object }) => (object['metadata'] as { labels: Record<string, string> }).labels);
    const pods = deployments.map((each) => templateOf(each).metadata.labels);
    for (const each of [...labels, ...pods]) {
      expect(each['app.kubernetes.io/part-of']).toBe('reeve');
      expect(each).not.toHaveProperty(['app.kubernetes.io/managed-by']);
    }
  });

  it('the files name only namespaces and objects of Reeve', () => {
    const namespaces = new Set(all.map(({ object }) => namespaceOf(object)));
    expect([...namespaces].toSorted()).toEqual(['', 'reeve-system']);
    expect(all.map(({ name }) => name).filter((name) => !name.startsWith('reeve'))).toEqual([]);
  });
});

function namespaceOf(object: ManifestObject['object']): string {
  return (object['metadata'] as { readonly namespace?: string }).namespace ?? '';
}

describe('the roles', () => {
  it.each(rules)('the rules of $name have no wildcards', ({ rule }) => {
    const named = [...rule.apiGroups, ...rule.resources, ...rule.verbs, ...(rule.resourceNames ?? [])];
    expect(named.filter((each) => each.includes('*'))).toEqual([]);
    const known = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'bind'];
    expect(rule.verbs.filter((verb) => !known.includes(verb))).toEqual([]);
  });

  it.each(rules)('the rules of $name do not allow escalation', ({ rule }) => {
    if (rule.apiGroups.includes('rbac.authorization.k8s.io')) {
      expect(['clusterroles', 'rolebindings', 'roles']).toEqual(expect.arrayContaining([...rule.resources]));
    }
    if (rule.resources.includes('roles')) {
      // For the audit. A right to write Roles would be an escalation.
      expect(rule.verbs).toEqual(['list', 'watch']);
    }
    if (rule.resources.includes('clusterroles')) {
      expect(rule.verbs).toHaveLength(1);
      expect(['bind', 'get']).toContain(rule.verbs[0]);
      expect(rule.resourceNames).toBeDefined();
    }
    const withNames = [
      'leases',
      'customresourcedefinitions',
      'validatingwebhookconfigurations',
      'mutatingwebhookconfigurations',
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
    ];
    if (rule.resources.some((resource) => withNames.includes(resource))) {
      expect(rule.resourceNames).toBeDefined();
    }
    expect(rule.resources).not.toContain('pods');
    expect(rule.resources).not.toContain('serviceaccounts/token');
  });

  it('the reconciler may bind only view and edit', () => {
    const bound = rules.filter(({ rule }) => rule.verbs.includes('bind'));
    expect(bound.map(({ rule }) => rule.resourceNames)).toEqual([['view', 'edit']]);
  });

  it('the roles are bound only to the two accounts', () => {
    const accounts = new Set(ofKind('ServiceAccount').map(({ name }) => name));
    for (const { object } of ofKind('ClusterRoleBinding', 'RoleBinding')) {
      const { roleRef, subjects } = object as { roleRef?: Reference; subjects?: readonly Reference[] };
      expect(roles.map(({ kind, name }) => `${kind}/${name}`)).toContain(`${roleRef?.kind}/${roleRef?.name}`);
      expect(subjects).toHaveLength(1);
      expect(subjects?.[0]).toMatchObject({ kind: 'ServiceAccount', namespace: 'reeve-system' });
      expect(accounts).toContain(subjects?.[0]?.name);
    }
  });

  it('the emergency role is bound to no subject', () => {
    const breakGlass = ofKind('ClusterRole').find(({ name }) => name === 'reeve-break-glass');
    expect(breakGlass?.object['rules']).toEqual([
      {
        apiGroups: [''],
        resources: ['groups'],
        resourceNames: ['reeve:break-glass'],
        verbs: ['impersonate'],
      },
    ]);
    expect(JSON.stringify(ofKind('ClusterRoleBinding'))).not.toContain('break-glass');
  });

  it('the webhook cannot write objects of tenants, and can read only the Secret of its authority', () => {
    const ofWebhook = rules.filter(({ name }) => name.startsWith('reeve-webhook'));
    const written = ofWebhook.filter(({ rule }) =>
      rule.verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)),
    );
    expect(written.flatMap(({ rule }) => rule.resources).toSorted()).toEqual([
      'leases',
      'mutatingwebhookconfigurations',
      'secrets',
      'subjectaccessreviews',
      'validatingwebhookconfigurations',
    ]);
    const ofSecrets = ofWebhook.filter(({ rule }) => rule.resources.includes('secrets'));
    expect(ofSecrets.map(({ rule }) => rule)).toEqual([
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['reeve-webhook-ca'],
        verbs: ['get', 'list', 'watch', 'create', 'patch'],
      },
    ]);
  });

  it('the roles cover exactly the kinds that the default, and the adapters without a scanner, may provide', () => {
    const ofAdapters = intentAdapters
      .filter(({ id }) => id !== 'tls-scan')
      .flatMap(({ provides }) => provides);
    const kinds = [...(runSettings.resourceKind.fallback?.value ?? []).map(objectTypeOf), ...ofAdapters];
    expect(givenResources()).toEqual([...new Set(kinds.map(resourceOf))].toSorted());
  });
});

describe.each(deployments)('the Deployment $name', (deployment) => {
  const container = containerOf(deployment);
  const template = templateOf(deployment);

  it('the program knows all the flags', async () => {
    const known = new Set(Object.keys(runSettings).map(flagName));
    const [command, ...flags] = container.args;
    expect(command).toBe('run');
    expect(flags.map((flag) => flag.split('=')[0]).filter((flag) => !known.has(flag ?? ''))).toEqual([]);
    expect(await readCommand(container.args, {})).toMatchObject({
      kind: 'run',
      settings: { namespace: 'reeve-system' },
    });
  });

  it('the flags name the kinds of the roles, each once, and all adapters of intents', () => {
    const valuesOf = (flag: string): readonly string[] =>
      container.args.flatMap((arg) => (arg.startsWith(`--${flag}=`) ? [arg.slice(flag.length + 3)] : []));
    const kinds = valuesOf('resource-kind').map(objectTypeOf);
    expect(kinds.map(resourceOf).toSorted()).toEqual(givenResources());
    expect(valuesOf('intent-adapter')).toEqual(runSettings.intentAdapter.fallback?.value);
    expect(valuesOf('tls-scan-image')).toEqual([]);
  });

  it('the Pods run as the account of their role', () => {
    const role = container.args.find((arg) => arg.startsWith('--role='))?.slice('--role='.length);
    expect(template.spec.serviceAccountName).toBe(role === 'webhook' ? 'reeve-webhook' : 'reeve-reconciler');
    expect(template.metadata.labels['app.kubernetes.io/component']).toBe(role);
    expect('reeve.dev/answers-reviews' in template.metadata.labels).toBe(role !== 'reconciler');
  });

  it('the Pods satisfy the restricted Pod Security Standard', () => {
    expect(template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(JSON.stringify(deployment.object)).not.toMatch(/host(Network|PID|IPC|Path|Port)|privileged/);
  });

  it('the probes call the ports and paths that the program serves', () => {
    const { startupProbe, readinessProbe, livenessProbe, ports } = container;
    expect([startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)).toEqual([
      { path: '/livez', port: 'probes' },
      { path: '/readyz', port: 'probes' },
      { path: '/livez', port: 'probes' },
    ]);
    const numbers = Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]));
    expect(numbers['probes']).toBe(runSettings.probesPort.fallback?.value);
    expect([undefined, runSettings.port.fallback?.value]).toContain(numbers['webhook']);
  });

  it('the grace period is longer than the drain, and the priority is that of the cluster', async () => {
    const { terminationGracePeriodSeconds, priorityClassName } = template.spec;
    const command = await readCommand(container.args, {});
    const drainMs = command.kind === 'run' ? command.settings.drainGrace : Number.NaN;
    expect(terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(drainMs + 30_000);
    expect(priorityClassName).toBe('system-cluster-critical');
    expect(container.resources.requests).toHaveProperty('memory');
    expect(container.resources.limits).toHaveProperty('memory');
  });

  it('a rolling update keeps all replicas available', () => {
    const spec = deployment.object['spec'] as { replicas: number; strategy: { rollingUpdate: object } };
    expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    if (deployment.name === 'reeve') return;
    expect(spec.replicas).toBe(2);
    expect(template.spec.topologySpreadConstraints).toHaveLength(2);
    expect(ofKind('PodDisruptionBudget').map(({ name }) => name)).toContain(deployment.name);
  });
});

it('the Service selects only the Pods that answer reviews', () => {
  const [service] = ofKind('Service');
  const spec = service?.object['spec'] as { selector: Record<string, string>; ports: readonly object[] };
  expect(spec.ports).toEqual([
    { name: 'webhook', port: runSettings.servicePort.fallback?.value, targetPort: 'webhook' },
  ]);
  expect(service?.name).toBe(runSettings.serviceName.fallback?.value);
  const selected = deployments.filter((each) => {
    const { labels } = templateOf(each).metadata;
    return Object.entries(spec.selector).every(([key, value]) => labels[key] === value);
  });
  expect(selected.map(({ name }) => name)).toEqual(['reeve-webhook', 'reeve']);
});

it('the labels that name a provider are judged where an object has one of them, and nowhere else', () => {
  const bindings = ofKind('ValidatingAdmissionPolicyBinding').filter(
    ({ object }) => (object['spec'] as { policyName: string }).policyName === 'reeve-guard-names',
  );
  expect(bindings.map(({ object }) => object['spec'])).toEqual(
    Object.values(providerLabels).map((key) => ({
      policyName: 'reeve-guard-names',
      validationActions: ['Deny'],
      matchResources: { objectSelector: { matchExpressions: [{ key, operator: 'Exists' }] } },
    })),
  );
});

it('the guard denies writes to all marked objects, except by Reeve and in emergencies', () => {
  const [guard, binding] = ofKind('ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding').filter(
    ({ name }) => name === 'reeve-guard',
  );
  const spec = guard?.object['spec'] as { matchConditions: readonly { name: string }[] };
  const everything = { apiGroups: ['*'], apiVersions: ['*'], scope: '*' };
  expect(spec).toMatchObject({
    failurePolicy: 'Fail',
    matchConstraints: {
      objectSelector: { matchLabels: { 'app.kubernetes.io/managed-by': 'reeve' } },
      resourceRules: [
        { ...everything, resources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
        // Some kinds have a subresource that also writes the metadata.
        { ...everything, resources: ['*/*'], operations: ['UPDATE'] },
        { ...everything, apiGroups: [''], resources: ['pods/binding'], operations: ['CREATE'] },
      ],
    },
  });
  expect(spec.matchConditions.map(({ name }) => name)).toEqual(['not-reeve', 'no-emergency']);
  expect(binding?.object['spec']).toEqual({ policyName: guard?.name, validationActions: ['Deny'] });
});
