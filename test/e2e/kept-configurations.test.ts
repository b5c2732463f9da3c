// The webhook configurations as the program keeps them: applied, put right, left alone, and gone with the install.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve, reeveCertificates } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { spawnReeve, startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { attempt, must } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
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
const shipped = {
  mutating: { path: '/mutate', failurePolicy: 'Ignore' },
  validating: { path: '/validate', failurePolicy: 'Fail' },
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

describeControllers('the webhook configurations of a running program', () => {
  const cluster = sharedCluster();
  const options = { role: 'webhook', args: ['--exclude-namespace=ad-wh-excluded'] } as const;
  let reeve: Reeve;

  const configurations = kinds.map((kind) => `${kind}webhookconfiguration/reeve`);
  const find = async (kind: Kind): Promise<Configuration | undefined> => {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/reeve`;
    const { status, body } = await cluster.admin.send('GET', path);
    return status === 200 ? (body as Configuration) : undefined;
  };
  const mustFind = async (kind: Kind): Promise<Configuration> => {
    const found = await find(kind);
    if (found === undefined) throw new Error(`there is no ${kind} configuration`);
    return found;
  };
  /** All that the program has a say in. */
  const shown = async (): Promise<unknown> =>
    await Promise.all(
      kinds.map(async (kind) => {
        const found = await find(kind);
        const { labels, annotations, ownerReferences } = found?.metadata ?? {};
        return { kind, labels, annotations, ownerReferences, webhooks: found?.webhooks };
      }),
    );
  const names = async (kind: Kind): Promise<readonly string[]> =>
    (await mustFind(kind)).webhooks.map(({ name }) => name);
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

  it.each(kinds)(
    'the %s one leads to the program, and leaves out what the install excludes',
    async (kind) => {
      const ca = await readFile(join(await reeveCertificates(cluster), 'ca.crt'));
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'reeve-webhook' };
      const uid = await mustKubectl(
        ['get', 'clusterrole', role.name, '-o=jsonpath={.metadata.uid}'],
        cluster,
      );
      const { metadata, webhooks } = await mustFind(kind);
      expect(metadata.ownerReferences).toEqual([{ ...role, uid }]);
      expect(metadata.annotations?.['reeve.dev/version']).toMatch(/^\d+\.\d+\.\d+/);
      expect(webhooks.map(({ name }) => name)).toEqual(always[kind]);
      const { path, failurePolicy } = shipped[kind];
      const service = { namespace: 'reeve-system', name: 'reeve-webhook', port: reeve.port, path };
      for (const webhook of webhooks) {
        const clientConfig = { caBundle: ca.toString('base64'), service };
        expect(webhook).toMatchObject({ clientConfig, failurePolicy });
      }
      const [ofNamespaces, ...others] = webhooks.map(({ namespaceSelector }) => namespaceSelector);
      expect(ofNamespaces?.matchExpressions?.[0]?.values).toEqual(excluded);
      expect(others.every((selector) => selector.matchExpressions === undefined)).toBe(true);
    },
  );

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
      await eventually(() => names(kind)).toEqual([...always[kind], ...more]);
      await mustKubectl(['delete', 'nspol', 'ad-wh-rules'], cluster);
      await eventually(() => names(kind)).toEqual(always[kind]);
    },
  );

  it('are put right whatever somebody has done to them', async () => {
    const before = await shown();
    const { webhooks } = await mustFind('validating');
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
    await eventually(shown).toEqual(before);
  });

  it('are left to a newer version', async () => {
    const version = (text: string): object => ({ metadata: { annotations: { 'reeve.dev/version': text } } });
    await change('validating', 'merge', version('99.0.0'));
    const { resourceVersion } = (await mustFind('validating')).metadata;
    await must(
      file(['create'], judging({ secrets: { maxBytes: 1, defaults: { labels: { a: 'b' } } } })),
      cluster,
    );
    // Of the two, the mutating one is written first.
    await eventually(() => names('mutating')).toContain('secrets.mutate.reeve.dev');
    await eventually(() => reeve.output).toContain('webhook configuration left to a newer version');
    expect((await mustFind('validating')).metadata.resourceVersion).toBe(resourceVersion);
    await change('validating', 'merge', version('0.0.1'));
    // It looks again at once when a policy changes.
    const other = '-p={"spec":{"secrets":{"maxBytes":2}}}';
    await mustKubectl(['patch', 'nspol', 'ad-wh-rules', '--type=merge', other], cluster);
    await eventually(() => names('validating')).toContain('secrets.validate.reeve.dev');
  });

  it('are left to people with --manage-webhooks=false', async () => {
    await reeve.stop();
    await mustKubectl(['delete', ...configurations, 'nspol/ad-wh-rules'], cluster);
    const args = [...options.args, '--manage-webhooks=false'];
    reeve = await spawnReeve(cluster, { ...options, args });
    await eventually(() => reeve.isReady()).toBe(true);
    const before = (await reeve.metric('reeve_policies{state="loaded"}')) ?? 0;
    await must(file(['create'], judging({ secrets: { maxBytes: 1 } })), cluster);
    await eventually(() => reeve.metric('reeve_policies{state="loaded"}')).toBe(before + 1);
    expect(await Promise.all(kinds.map(find))).toEqual([undefined, undefined]);
    const ca = await readFile(join(await reeveCertificates(cluster), 'ca.crt'));
    for (const kind of kinds) {
      const template = await readFile(`manifests/webhooks/${kind}.yaml`, 'utf8');
      const input = template
        .replaceAll('CA_BUNDLE', ca.toString('base64'))
        .replaceAll('port: 443', `port: ${reeve.port}`);
      await must({ args: ['apply', '-f', '-'], input }, cluster);
    }
    await must(createNamespace('ad-wh-none'), cluster);
    const secret = [
      'create',
      'secret',
      'generic',
      's',
      '-n',
      'ad-wh-none',
      '--from-literal=a=bcd',
      '--dry-run=server',
    ];
    await eventually(async () => (await kubectl(secret, cluster)).stderr).toContain(
      'policy ad-wh-rules, secrets.maxBytes',
    );
    expect(reeve.output).not.toContain('webhook configuration applied');
  });

  it('are applied only once the program answers', async () => {
    await reeve.stop();
    await mustKubectl(['delete', ...configurations], cluster);
    const early = { match: { names: ['ad-wh-early'] }, namespaces: { required: { labels: { never: {} } } } };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ad-wh-early' } };
    const statuses = new Set<number>();
    const create = async (): Promise<number> =>
      (await cluster.admin.send('POST', '/api/v1/namespaces?dryRun=All', namespace)).status;
    await eventually(create).toBe(201);
    await must(file(['create'], policy('ad-wh-early', early)), cluster);
    reeve = await spawnReeve(cluster, options);
    await eventually(async () => {
      const status = await create();
      statuses.add(status);
      return status;
    }).toBe(403);
    // In between, nobody was refused because nobody answered.
    expect(statuses).toEqual(new Set([201, 403]));
  });

  describe('while Reeve is down', () => {
    const held = { name: 'held', namespace: 'ad-wh-ending', finalizers: ['example.com/held'] };
    const finalized = policy('ad-wh-finalized', {
      match: { names: ['ad-wh-finalized'] },
      contents: { roleBindings: [roleBinding('x', 'y')] },
    });
    const release = ['--type=merge', '-p={"metadata":{"finalizers":[]}}'];

    beforeAll(async () => {
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
      await until(
        async () => (await names('validating')).includes('secrets.validate.reeve.dev'),
        () => 'the webhook for Secrets',
      );
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
    ])('$what is refused in clear words', async ({ command, by }) => {
      const { code, stderr } = await attempt(command, cluster);
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
        args: ['create', 'secret', 'generic', 's', '-n', 'ad-wh-there', '--from-literal=a=bcd'],
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
      const { code, stderr } = await attempt({ args }, cluster);
      expect(code, stderr).toBe(0);
    });

    it('a policy that has lost its finalizer is gone', async () => {
      expect((await kubectl(['get', 'nspol', 'ad-wh-finalized'], cluster)).stderr).toContain('NotFound');
    });

    it('an emergency goes on', async () => {
      await mustKubectl(['label', 'namespace', 'ad-wh-there', 'x=y'], emergency(cluster));
      expect((await attempt(createNamespace('ad-wh-new'), cluster)).code).toBe(1);
    });

    it('they vanish with the ClusterRole that owns them, and with them all refusals', async () => {
      await mustKubectl(['delete', 'clusterrole', 'reeve-webhook'], cluster);
      await mustKubectl(['wait', ...configurations, '--for=delete', '--timeout=60s'], cluster);
      const creation = createNamespace('ad-wh-new');
      await eventually(async () => (await attempt(creation, cluster)).code).toBe(0);
    });
  });
});
