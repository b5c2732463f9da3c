// The webhook configurations as the program keeps them: applied, put right, left alone, and gone with the install.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve, reeveCertificates } from '../cluster/reeve-install.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { spawnReeve, startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { must } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import { inTime } from './support/in-time.ts';
import { createNamespace, deleteNamespace, labelNamespace } from './support/namespace-commands.ts';
import { policy, roleBinding } from './support/objects.ts';
import { emergency } from './support/people.ts';
import { file } from './support/ways-to-write.ts';

const prefix = 'ad-wh-';
const kinds = ['mutating', 'validating'] as const;
type Kind = (typeof kinds)[number];

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly caBundle: string; readonly service: object };
  readonly failurePolicy: string;
  readonly namespaceSelector: {
    readonly matchExpressions?: readonly { readonly values: readonly string[] }[];
  };
}
interface Configuration {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly labels?: object;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly webhooks: readonly Webhook[];
}

const always = {
  mutating: ['namespaces.mutate.reeve.dev'],
  validating: [
    'namespaces.validate.reeve.dev',
    'namespacepolicies.validate.reeve.dev',
    'secretshares.validate.reeve.dev',
  ],
};
const excluded = [
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'reeve-system',
  'reeve-shared',
  'ad-wh-excluded',
];

/** Of a namespace that there is not. */
const judging = (spec: object): object =>
  policy('ad-wh-rules', { match: { names: ['ad-wh-none'] }, ...spec });

describeControllers('the webhook configurations', () => {
  const cluster = sharedCluster();
  const options = { role: 'webhook', args: ['--exclude-namespace=ad-wh-excluded'] } as const;
  let reeve: Reeve;

  const configurations = kinds.map((kind) => `${kind}webhookconfiguration/reeve`);
  const find = async (kind: Kind): Promise<Configuration | undefined> => {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/reeve`;
    const { status, body } = await cluster.admin.send('GET', path);
    return status === 200 ? (body as Configuration) : undefined;
  };
  /** All that the program has a say in. */
  const shown = async (): Promise<unknown> =>
    await Promise.all(
      kinds.map(async (kind) => {
        const { metadata: { labels, annotations, ownerReferences } = {}, webhooks } =
          (await find(kind)) ?? {};
        return { kind, labels, annotations, ownerReferences, webhooks };
      }),
    );
  const names = async (kind: Kind): Promise<readonly string[]> =>
    ((await find(kind))?.webhooks ?? []).map(({ name }) => name);
  const change = async (kind: Kind, type: string, patch: unknown): Promise<void> => {
    const what = [`${kind}webhookconfiguration/reeve`, `--type=${type}`, '-p', JSON.stringify(patch)];
    await mustKubectl(['patch', ...what], cluster);
  };

  beforeAll(async () => {
    await installReeve(cluster);
    await mustKubectl(['delete', ...configurations, '--ignore-not-found'], cluster);
    reeve = await startReeve(cluster, options);
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    await reeve.stop();
    await mustKubectl(['delete', ...configurations, '--ignore-not-found'], cluster);
    await installReeve(cluster);
  });

  it('lead to the program, and leave out what the install excludes', async () => {
    const caPem = await readFile(join(await reeveCertificates(cluster), 'ca.crt'));
    const uid = await mustKubectl(
      ['get', 'clusterrole', 'reeve-webhook', '-o=jsonpath={.metadata.uid}'],
      cluster,
    );
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    for (const kind of kinds) {
      const { metadata, webhooks = [] } = (await find(kind)) ?? {};
      expect(metadata?.ownerReferences).toEqual([
        { apiVersion, kind: 'ClusterRole', name: 'reeve-webhook', uid },
      ]);
      expect(metadata?.annotations?.['reeve.dev/version']).toMatch(/^\d+\.\d+\.\d+/);
      expect(webhooks.map(({ name }) => name).sort()).toEqual([...always[kind]].sort());
      const service = { namespace: 'reeve-system', name: 'reeve-webhook', port: reeve.port };
      const path = kind === 'mutating' ? '/mutate' : '/validate';
      for (const { name, clientConfig, failurePolicy, namespaceSelector } of webhooks) {
        expect(clientConfig).toEqual({ caBundle: caPem.toString('base64'), service: { ...service, path } });
        expect(failurePolicy).toBe(kind === 'mutating' ? 'Ignore' : 'Fail');
        const isOfNamespaces = name.startsWith('namespaces.');
        expect(namespaceSelector.matchExpressions?.[0]?.values).toEqual(
          isOfNamespaces ? excluded : undefined,
        );
      }
    }
  });

  it.each([
    { spec: { secrets: { maxBytes: 1 } }, kind: 'validating', more: ['secrets.validate.reeve.dev'] },
    {
      spec: { secrets: { defaults: { labels: { a: 'b' } } } },
      kind: 'mutating',
      more: ['secrets.mutate.reeve.dev'],
    },
    { spec: { rbac: { forbidWildcardRules: true } }, kind: 'validating', more: ['roles.validate.reeve.dev'] },
    {
      spec: { rbac: { allowedRoleRefs: ['ClusterRole/view'] } },
      kind: 'validating',
      more: ['rolebindings.validate.reeve.dev'],
    },
  ] as const)(
    'ask about other kinds while a policy has rules for them: $spec',
    async ({ spec, kind, more }) => {
      await must(file(['create'], judging(spec)), cluster);
      await inTime(() => names(kind)).toEqual([...always[kind], ...more]);
      await mustKubectl(['delete', 'nspol', 'ad-wh-rules'], cluster);
      await inTime(() => names(kind)).toEqual(always[kind]);
    },
  );

  it('are put right whatever somebody has done to them', async () => {
    const before = await shown();
    const { webhooks = [] } = (await find('validating')) ?? {};
    const [first] = webhooks;
    const weakened = {
      ...first,
      failurePolicy: 'Ignore',
      rules: [],
      objectSelector: { matchLabels: { never: 'there' } },
      matchConditions: [{ name: 'never', expression: 'false' }],
    };
    const foreign = { ...first, name: 'other.example.com', failurePolicy: 'Ignore' };
    await change('validating', 'merge', {
      metadata: { annotations: { 'reeve.dev/version': null }, ownerReferences: null, labels: null },
      webhooks: [foreign, weakened, ...webhooks.slice(2)],
    });
    await mustKubectl(['delete', 'mutatingwebhookconfiguration/reeve'], cluster);
    expect(await shown()).not.toEqual(before);
    await inTime(shown).toEqual(before);
  });

  it('are left to a newer version', async () => {
    const version = (text: string): object => ({ metadata: { annotations: { 'reeve.dev/version': text } } });
    await change('validating', 'merge', version('99.0.0'));
    const { resourceVersion } = (await find('validating'))?.metadata ?? {};
    await must(
      file(['create'], judging({ secrets: { maxBytes: 1, defaults: { labels: { a: 'b' } } } })),
      cluster,
    );
    // Of the two, the mutating one is written first.
    await inTime(() => names('mutating')).toContain('secrets.mutate.reeve.dev');
    await inTime(() => reeve.output).toContain('webhook configuration left to a newer version');
    expect((await find('validating'))?.metadata.resourceVersion).toBe(resourceVersion);
    await change('validating', 'merge', version('0.0.1'));
    await inTime(() => names('validating')).toContain('secrets.validate.reeve.dev');
  });

  it('are left to people with --manage-webhooks=false', async () => {
    await reeve.stop();
    await mustKubectl(['delete', ...configurations, 'nspol/ad-wh-rules'], cluster);
    const args = [...options.args, '--manage-webhooks=false'];
    reeve = await spawnReeve(cluster, { ...options, args });
    await inTime(() => reeve.isReady()).toBe(true);
    const before = (await reeve.metric('reeve_policies{state="loaded"}')) ?? 0;
    await must(file(['create'], judging({ secrets: { maxBytes: 1 } })), cluster);
    await inTime(() => reeve.metric('reeve_policies{state="loaded"}')).toBe(before + 1);
    expect(await Promise.all(kinds.map(find))).toEqual([undefined, undefined]);
    const ca = await readFile(join(await reeveCertificates(cluster), 'ca.crt'));
    for (const kind of kinds) {
      const template = await readFile(`manifests/webhooks/${kind}.yaml`, 'utf8');
      const input = template
        .replaceAll('CA_BUNDLE', ca.toString('base64'))
        .replaceAll('port: 443', `port: ${reeve.port}`);
      await mustKubectl(['apply', '-f', '-'], { ...cluster, input });
    }
    const share = { args: ['create', 'namespace', 'ad-wh-none'] };
    await must(share, cluster);
    const secret = [
      'create',
      'secret',
      'generic',
      's',
      '-n',
      'ad-wh-none',
      '--from-literal=a=bc',
      '--dry-run=server',
    ];
    await inTime(async () => (await kubectl(secret, cluster)).stderr).toContain(
      'policy ad-wh-rules, secrets.maxBytes',
    );
    expect(reeve.output).not.toContain('webhook configuration applied');
  });

  describe('while Reeve is down', () => {
    const held = { name: 'held', namespace: 'ad-wh-ending', finalizers: ['example.com/held'] };
    const finalized = policy('ad-wh-finalized', {
      match: { names: ['ad-wh-finalized'] },
      contents: { roleBindings: [roleBinding('x', 'y')] },
    });
    const release = ['--type=merge', '-p={"metadata":{"finalizers":[]}}'];

    beforeAll(async () => {
      await reeve.stop();
      await mustKubectl(['delete', ...configurations], cluster);
      reeve = await startReeve(cluster, options);
      await must(
        file(['create'], {
          ...finalized,
          metadata: { ...finalized.metadata, finalizers: ['reeve.dev/cleanup'] },
        }),
        cluster,
      );
      for (const name of ['ad-wh-ending', 'ad-wh-there']) await must(createNamespace(name), cluster);
      await must(file(['create'], { apiVersion: 'v1', kind: 'ConfigMap', metadata: held }), cluster);
      await must(deleteNamespace('ad-wh-ending'), cluster);
      await mustKubectl(['delete', 'nspol', 'ad-wh-finalized', '--wait=false'], cluster);
      await inTime(() => names('validating')).toContain('secrets.validate.reeve.dev');
      await reeve.stop();
    });

    it.each([
      { what: 'a new Namespace', command: createNamespace('ad-wh-new'), by: 'namespaces' },
      { what: 'a label of a Namespace', command: labelNamespace('ad-wh-there', 'x=y'), by: 'namespaces' },
      { what: 'the deletion of a Namespace', command: deleteNamespace('ad-wh-there'), by: 'namespaces' },
      { what: 'a policy', command: file(['create'], policy('ad-wh-new', {})), by: 'namespacepolicies' },
      {
        what: 'the deletion of a policy',
        command: { args: ['delete', 'nspol', 'ad-wh-rules'] },
        by: 'namespacepolicies',
      },
    ])('$what is refused in clear words', async ({ command: { args, input = '' }, by }) => {
      const { code, stderr } = await kubectl(args, { ...cluster, input });
      expect(code).toBe(1);
      expect(stderr).toContain(
        `failed calling webhook "${by}.validate.reeve.dev": failed to call webhook: Post "https://reeve-webhook.reeve-system.svc:`,
      );
      expect(stderr).toContain('connection refused');
    });

    it.each([
      { what: 'whatever is read', args: ['get', 'namespaces,nspol,sshare,secrets', '-n', 'ad-wh-there'] },
      {
        what: 'Secrets',
        args: ['create', 'secret', 'generic', 's', '-n', 'ad-wh-there', '--from-literal=a=bc'],
      },
      {
        what: 'RoleBindings',
        args: ['create', 'rolebinding', 'r', '-n', 'ad-wh-there', '--clusterrole=view', '--user=x'],
      },
      {
        what: 'the namespaces of Kubernetes and of Reeve',
        args: ['label', 'namespace', 'kube-system', 'reeve-system', 'x=y', '--dry-run=server'],
      },
      {
        what: 'what a Namespace waits for',
        args: ['patch', 'configmap', 'held', '-n', 'ad-wh-ending', ...release],
      },
      {
        what: 'the end of that Namespace',
        args: ['wait', 'namespace/ad-wh-ending', '--for=delete', '--timeout=60s'],
      },
      { what: 'the last finalizer of a policy', args: ['patch', 'nspol', 'ad-wh-finalized', ...release] },
    ])('$what goes on', async ({ args }) => {
      const { code, stderr } = await kubectl(args, cluster);
      expect(code, stderr).toBe(0);
    });

    it('a policy that has lost its finalizer is gone', async () => {
      expect((await kubectl(['get', 'nspol', 'ad-wh-finalized'], cluster)).stderr).toContain('NotFound');
    });

    it('an emergency goes on', async () => {
      await mustKubectl(['label', 'namespace', 'ad-wh-there', 'x=y'], emergency(cluster));
      expect((await kubectl(createNamespace('ad-wh-new').args, cluster)).code).toBe(1);
    });

    it('they vanish with the ClusterRole that owns them, and with them all refusals', async () => {
      await mustKubectl(['delete', 'clusterrole', 'reeve-webhook'], cluster);
      await mustKubectl(['wait', ...configurations, '--for=delete', '--timeout=60s'], cluster);
      const { args, input = '' } = createNamespace('ad-wh-new');
      await inTime(async () => (await kubectl(args, { ...cluster, input })).code).toBe(0);
    });
  });
});
