// The webhook configurations on a real API server: which requests cause a review, and which do not.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { parseYaml } from '../../src/base/yaml.ts';
import { webhookConfigurations } from '../../src/registration/wanted-configurations.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { mustKubectl, type KubectlOptions } from '../support/kubectl.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { startRecordingWebhook, type RecordingWebhook } from './recording-webhook.ts';

const patience = { timeout: 60_000, interval: 200 };
const all = { secrets: true, roles: true, rolebindings: true, secretDefaults: true };

function template(name: string): JsonObject {
  const [document] = parseYaml(readFileSync(`manifests/webhooks/${name}.yaml`, 'utf8')).documents;
  if (document?.kind === 'data' && isJsonObject(document.value)) return document.value;
  throw new Error(`${name}.yaml holds no object`);
}

const policy = (name: string, spec: object = {}): string =>
  JSON.stringify({ apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name }, spec });
const ownSecret = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'own',
    namespace: 'a',
    labels: { 'app.kubernetes.io/managed-by': 'reeve', 'reeve.dev/secretshare': 'x' },
    annotations: { 'reeve.dev/owner': 'SecretShare/x' },
  },
});
const finalizers = (names: readonly string[]): string => JSON.stringify({ metadata: { finalizers: names } });
const merge = (what: readonly string[], patch: unknown): readonly string[] => [
  'patch',
  ...what,
  '--type=merge',
  `-p=${typeof patch === 'string' ? patch : JSON.stringify(patch)}`,
];
const condition = {
  type: 'example.com/Seen',
  status: 'True',
  reason: 'Seen',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const confirm = (value: string): readonly string[] => [
  'annotate',
  '--overwrite',
  'nspol',
  'p',
  `reeve.dev/confirm-deletions${value}`,
];

interface Step {
  readonly step: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly asked: readonly string[];
}

const reconciler = 'system:serviceaccount:reeve-system:reeve-reconciler';
const emergency = { as: 'someone', asGroup: ['system:masters', 'reeve:break-glass'] };
const both = (what: string): readonly string[] => [`mutate ${what}`, `validate ${what}`];

/** Steps that run in this order on one cluster. */
const steps: readonly Step[] = [
  { step: 'a namespace is created', args: ['create', 'ns', 'a'], asked: both('CREATE namespaces') },
  { step: 'it is labeled', args: ['label', 'ns', 'a', 'x=y'], asked: both('UPDATE namespaces') },
  {
    step: 'it gets the label that it has',
    args: merge(['ns', 'a'], { metadata: { labels: { x: 'y' } } }),
    asked: [],
  },
  {
    step: 'it gets a finalizer',
    args: merge(['ns', 'a'], finalizers(['example.com/held'])),
    asked: both('UPDATE namespaces'),
  },
  {
    step: 'its finalizer is removed',
    args: merge(['ns', 'a'], finalizers([])),
    asked: both('UPDATE namespaces'),
  },
  {
    step: 'its condition is written',
    args: [...merge(['ns', 'a'], { status: { conditions: [condition] } }), '--subresource=status'],
    asked: ['validate UPDATE namespaces/status'],
  },
  {
    step: 'its status is written without a change',
    args: [...merge(['ns', 'a'], { status: { conditions: [condition] } }), '--subresource=status'],
    asked: [],
  },
  {
    step: 'it is labeled through its status',
    args: [...merge(['ns', 'a'], { metadata: { labels: { x: 'z' } } }), '--subresource=status'],
    asked: ['validate UPDATE namespaces/status'],
  },
  {
    step: 'its finalizers are written',
    args: ['replace', '--raw', '/api/v1/namespaces/a/finalize', '-f', '-'],
    input: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a' },
      spec: { finalizers: ['kubernetes'] },
    }),
    asked: ['validate UPDATE namespaces/finalize'],
  },
  { step: 'Reeve sets a default', args: ['label', 'ns', 'a', 'z=y'], as: reconciler, asked: [] },
  { step: 'a break-glass user labels it', args: ['label', 'ns', 'a', 'v=w'], ...emergency, asked: [] },
  ...['kube-system', 'kube-public', 'kube-node-lease', 'reeve-system', 'reeve-shared', 'default'].map(
    (name) => ({
      step: `${name} is labeled, an excluded namespace`,
      args: ['label', 'ns', name, 'x=y'],
      asked: [],
    }),
  ),
  {
    step: 'it gets the name label of an excluded namespace',
    args: ['label', '--overwrite', 'ns', 'a', 'kubernetes.io/metadata.name=kube-system', 'u=v'],
    asked: both('UPDATE namespaces'),
  },
  {
    step: 'a policy is created',
    args: ['create', '-f', '-'],
    input: policy('p'),
    asked: ['validate CREATE namespacepolicies'],
  },
  {
    step: 'its spec changes',
    args: merge(['nspol', 'p'], { spec: { suspend: true } }),
    asked: ['validate UPDATE namespacepolicies'],
  },
  {
    step: 'its spec changes in an emergency',
    args: merge(['nspol', 'p'], { spec: { suspend: false } }),
    ...emergency,
    asked: [],
  },
  { step: 'deletions are confirmed', args: confirm('=1'), asked: ['validate UPDATE namespacepolicies'] },
  { step: 'more deletions are confirmed', args: confirm('=2'), asked: ['validate UPDATE namespacepolicies'] },
  { step: 'it gets another annotation', args: ['annotate', 'nspol', 'p', 'x=y'], asked: [] },
  {
    step: 'the confirmation is removed',
    args: confirm('-'),
    asked: ['validate UPDATE namespacepolicies'],
  },
  { step: 'it is labeled', args: ['label', 'nspol', 'p', 'x=y'], asked: [] },
  { step: 'it gets a finalizer', args: merge(['nspol', 'p'], finalizers(['reeve.dev/cleanup'])), asked: [] },
  {
    step: 'its status is written',
    args: [...merge(['nspol', 'p'], { status: { matched: 1 } }), '--subresource=status'],
    asked: [],
  },
  {
    step: 'it is deleted',
    args: ['delete', 'nspol', 'p', '--wait=false'],
    asked: ['validate DELETE namespacepolicies'],
  },
  { step: 'it is deleted once more', args: ['delete', 'nspol', 'p', '--wait=false'], asked: [] },
  { step: 'the finalizer of the policy is removed', args: merge(['nspol', 'p'], finalizers([])), asked: [] },
  {
    step: 'a Secret is created',
    args: ['create', 'secret', 'generic', 's', '-n', 'a'],
    asked: both('CREATE secrets'),
  },
  { step: 'it is labeled', args: ['label', 'secret', 's', '-n', 'a', 'x=y'], asked: both('UPDATE secrets') },
  {
    step: 'it gets other data',
    args: merge(['secret', 's', '-n', 'a'], { stringData: { a: 'b' } }),
    asked: ['validate UPDATE secrets'],
  },
  {
    step: 'it gets the same data',
    args: merge(['secret', 's', '-n', 'a'], { stringData: { a: 'b' } }),
    asked: [],
  },
  {
    step: 'it becomes immutable and gets a finalizer, which no rule judges',
    args: merge(['secret', 's', '-n', 'a'], {
      immutable: true,
      metadata: { finalizers: ['example.com/held'] },
    }),
    asked: [],
  },
  { step: 'its finalizer is removed', args: merge(['secret', 's', '-n', 'a'], finalizers([])), asked: [] },
  { step: 'it is deleted', args: ['delete', 'secret', 's', '-n', 'a'], asked: [] },
  {
    step: 'Reeve creates a Secret',
    args: ['create', '-f', '-'],
    input: ownSecret,
    as: reconciler,
    asked: [],
  },
  {
    step: 'a Secret is created in kube-system',
    args: ['create', 'secret', 'generic', 's', '-n', 'kube-system'],
    asked: [],
  },
  {
    step: 'a Role is created',
    args: ['create', 'role', 'r', '-n', 'a', '--verb=get', '--resource=pods'],
    asked: ['validate CREATE roles'],
  },
  {
    step: 'a RoleBinding is created',
    args: ['create', 'rolebinding', 'r', '-n', 'a', '--clusterrole=view', '--user=x'],
    asked: ['validate CREATE rolebindings'],
  },
  { step: 'the Role is labeled', args: ['label', 'role', 'r', '-n', 'a', 'x=y'], asked: [] },
  {
    step: 'the Role grants other rights',
    args: merge(['role', 'r', '-n', 'a'], { rules: [] }),
    asked: ['validate UPDATE roles'],
  },
  { step: 'the RoleBinding is labeled', args: ['label', 'rolebinding', 'r', '-n', 'a', 'x=y'], asked: [] },
  {
    step: 'its subjects are removed',
    args: merge(['rolebinding', 'r', '-n', 'a'], { subjects: null }),
    asked: ['validate UPDATE rolebindings'],
  },
  { step: 'other kinds are written', args: ['create', 'configmap', 'c', '-n', 'a'], asked: [] },
  {
    step: 'a finalizer holds an object',
    args: merge(['configmap', 'c', '-n', 'a'], finalizers(['example.com/held'])),
    asked: [],
  },
  // The namespace controller writes conditions at the same time.
  {
    step: 'the namespace is deleted',
    args: ['delete', 'ns', 'a', '--wait=false'],
    asked: ['validate DELETE namespaces'],
  },
  { step: 'it is deleted once more', args: ['delete', 'ns', 'a', '--wait=false'], asked: [] },
  {
    step: 'it is labeled while it ends',
    args: ['label', 'ns', 'a', 'late=y'],
    asked: both('UPDATE namespaces'),
  },
  {
    step: 'the finalizer of the object is removed',
    args: merge(['configmap', 'c', '-n', 'a'], finalizers([])),
    asked: [],
  },
  { step: 'the namespace is gone', args: ['wait', 'ns', 'a', '--for=delete', '--timeout=60s'], asked: [] },
];

describeControllers('the webhook configurations', { timeout: 120_000 }, () => {
  let plane: ControlPlane;
  let webhook: RecordingWebhook;
  let administrator: KubectlOptions;

  beforeAll(async () => {
    plane = await startControlPlane({ audit: false });
    webhook = await startRecordingWebhook('reeve-system');
    administrator = { kubeconfig: plane.kubeconfig };
    await mustKubectl(['apply', '-f', 'manifests/crds', '-f', 'manifests/install'], administrator);
    const service = ['service', 'reeve-webhook', '-n', 'reeve-system'];
    await mustKubectl(['delete', ...service], administrator);
    await mustKubectl(
      ['create', 'service', 'externalname', ...service.slice(1), '--external-name=localhost'],
      administrator,
    );
    await mustKubectl(['create', 'namespace', 'kept'], administrator);
    await applyConfigurations();
  }, 180_000);

  afterAll(async () => {
    await webhook.stop();
    await plane.stop();
  });

  /** Applies the configurations with the webhook's account, as Reeve does. The second apply is an update, not a creation. */
  async function applyConfigurations(): Promise<void> {
    const kubeconfig = await plane.tokenKubeconfig('reeve-system', 'reeve-webhook');
    const uid = await mustKubectl(['get', 'clusterrole', 'reeve-webhook', '-o=jsonpath={.metadata.uid}'], {
      kubeconfig,
    });
    const { validating, mutating } = webhookConfigurations(
      { validating: template('validating'), mutating: template('mutating') },
      {
        caBundle: webhook.caPem,
        service: { namespace: 'reeve-system', name: 'reeve-webhook', port: webhook.port },
        excludedNamespaces: ['reeve-system', 'reeve-shared', 'default'],
        reconcilerUsername: reconciler,
        secretsAndRbac: 'Ignore',
        judged: all,
        owner: { name: 'reeve-webhook', uid },
        version: '0.1.0',
      },
    );
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [validating, mutating] });
    for (const _ of [1, 2]) {
      await mustKubectl(['apply', '--server-side', '--field-manager=reeve', '-f', '-'], {
        kubeconfig,
        input,
      });
    }
    await vi.waitFor(async () => {
      await mustKubectl(
        ['create', 'role', 'probe', '-n', 'kept', '--verb=get', '--resource=pods', '--dry-run=server'],
        administrator,
      );
      await mustKubectl(
        ['label', '--overwrite', 'ns', 'kept', 'probe=yes', '--dry-run=server'],
        administrator,
      );
      expect(webhook.take()).toEqual(['validate CREATE roles', ...both('UPDATE namespaces')]);
    }, patience);
  }

  it.each(steps)('$step', async ({ args, input, as, asGroup, asked }) => {
    const who = as === undefined ? {} : { as, asGroup: asGroup ?? ['system:masters'] };
    await mustKubectl(args, { ...administrator, ...who, ...(input === undefined ? {} : { input }) });
    expect(webhook.take()).toEqual(asked);
  });
});
