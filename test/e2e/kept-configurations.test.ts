// Reeve keeps its webhook configurations: it applies, repairs and leaves them alone, and an uninstall removes them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installReeve, reeveCertificates } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { spawnReeve, startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { attempt, must } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import { configurationKinds, configurationNames, Configurations } from './support/configurations.ts';
import { createNamespace } from './support/namespace-commands.ts';
import { policy } from './support/objects.ts';
import { file } from './support/ways-to-write.ts';

const prefix = 'ad-wh-';
const always = {
  mutating: ['namespaces.mutate.reeve.dev', 'namespaceclaims.mutate.reeve.dev'],
  validating: [
    'namespaces.validate.reeve.dev',
    'namespacepolicies.validate.reeve.dev',
    'secretshares.validate.reeve.dev',
    'configmapshares.validate.reeve.dev',
    'securityintents.validate.reeve.dev',
    'clustersecurityintentbindings.validate.reeve.dev',
    'securityintentbindings.validate.reeve.dev',
    'namespaceclaims.validate.reeve.dev',
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

/** Returns a policy for a namespace that does not exist. */
const judging = (spec: object): object =>
  policy('ad-wh-rules', { match: { names: ['ad-wh-none'] }, ...spec });

/** The arguments of kubectl to create a Secret that violates a policy with maxBytes 1. */
const tooLarge = ['create', 'secret', 'generic', 's', '-n', 'ad-wh-none', '--from-literal=a=bcd'];

describeControllers('the webhook configurations of a running program', () => {
  const cluster = sharedCluster();
  const options = { role: 'webhook', args: ['--exclude-namespace=ad-wh-excluded'] } as const;
  let reeve: Reeve;

  const configurations = new Configurations(cluster);

  beforeAll(async () => {
    await installReeve(cluster);
    await configurations.remove();
    reeve = await startReeve(cluster, options);
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    await reeve.stop();
    await configurations.remove();
    await installReeve(cluster);
  });

  it.each(configurationKinds)(
    'the %s one leads to the program, and leaves out what the install excludes',
    async (kind) => {
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'reeve-webhook' };
      const uid = await mustKubectl(
        ['get', 'clusterrole', role.name, '-o=jsonpath={.metadata.uid}'],
        cluster,
      );
      const { metadata, webhooks } = await configurations.mustFind(kind);
      expect(metadata.ownerReferences).toEqual([{ ...role, uid }]);
      // Without the second label, AKS adds selectors that Reeve would remove again.
      const labels = { 'app.kubernetes.io/part-of': 'reeve', 'admissions.enforcer/disabled': 'true' };
      expect(metadata.labels).toEqual(labels);
      expect(metadata.annotations?.['reeve.dev/version']).toMatch(/^\d+\.\d+\.\d+/);
      expect(webhooks.map(({ name }) => name)).toEqual(always[kind]);
      const { path, failurePolicy } = shipped[kind];
      const service = { namespace: 'reeve-system', name: 'reeve-webhook', port: reeve.port, path };
      for (const webhook of webhooks) {
        expect(webhook).toMatchObject({ clientConfig: { service }, failurePolicy });
        const bundle = Buffer.from(webhook.clientConfig.caBundle ?? '', 'base64').toString();
        expect(bundle).toMatch(/^-----BEGIN CERTIFICATE-----/);
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
  ] as const)('other kinds are asked about while a rule needs them: $spec', async ({ spec, kind, more }) => {
    await must(file(['create'], judging(spec)), cluster);
    await eventually(() => configurations.names(kind)).toEqual([...always[kind], ...more]);
    await mustKubectl(['delete', 'nspol', 'ad-wh-rules'], cluster);
    await eventually(() => configurations.names(kind)).toEqual(always[kind]);
  });

  it('configurations that a newer version wrote are left alone', async () => {
    const version = (text: string, more: object = {}): object => ({
      metadata: { annotations: { 'reeve.dev/version': text, ...more } },
    });
    const own = await configurations.shown();
    // Anybody can write a version into the annotation. It counts only with its seal.
    for (const more of [{}, { 'reeve.dev/sealed': null }, { 'reeve.dev/sealed': 'broken' }]) {
      await configurations.patch('validating', 'merge', version('99.0.0', more));
      await eventually(() => configurations.shown()).toEqual(own);
    }
    expect(reeve.output).not.toContain('webhook configuration left to a newer version');
    await configurations.sealAs('validating', '99.0.0');
    const { resourceVersion } = (await configurations.mustFind('validating')).metadata;
    await must(
      file(['create'], judging({ secrets: { maxBytes: 1, defaults: { labels: { a: 'b' } } } })),
      cluster,
    );
    // The mutating configuration is written first.
    await eventually(() => configurations.names('mutating')).toContain('secrets.mutate.reeve.dev');
    await eventually(() => reeve.output).toContain('webhook configuration left to a newer version');
    expect((await configurations.mustFind('validating')).metadata.resourceVersion).toBe(resourceVersion);
    await configurations.patch('validating', 'merge', version('0.0.1'));
    // Reeve checks the configurations at once when a policy changes.
    const other = '-p={"spec":{"secrets":{"maxBytes":2}}}';
    await mustKubectl(['patch', 'nspol', 'ad-wh-rules', '--type=merge', other], cluster);
    await eventually(() => configurations.names('validating')).toContain('secrets.validate.reeve.dev');
  });

  it('the configurations are left to people with --manage-webhooks=false', async () => {
    await reeve.stop();
    await configurations.remove();
    await mustKubectl(['delete', 'nspol/ad-wh-rules'], cluster);
    const certificates = await reeveCertificates(cluster);
    const args = [...options.args, '--manage-webhooks=false', `--certs-dir=${certificates}`];
    reeve = await spawnReeve(cluster, { ...options, args });
    await eventually(() => reeve.isReady()).toBe(true);
    const before = (await reeve.metric('reeve_policies{state="loaded"}')) ?? 0;
    await must(
      file(['create'], judging({ secrets: { maxBytes: 1 }, rbac: { forbidWildcardRules: true } })),
      cluster,
    );
    await eventually(() => reeve.metric('reeve_policies{state="loaded"}')).toBe(before + 1);
    expect(await Promise.all(configurationKinds.map((kind) => configurations.find(kind)))).toEqual([
      undefined,
      undefined,
    ]);
    const ca = await readFile(join(certificates, 'ca.crt'));
    for (const kind of configurationKinds) {
      const template = await readFile(`manifests/webhooks/${kind}.yaml`, 'utf8');
      const input = template
        .replaceAll('CA_BUNDLE', ca.toString('base64'))
        .replaceAll('port: 443', `port: ${reeve.port}`);
      await must({ args: ['apply', '-f', '-'], input }, cluster);
    }
    await must(createNamespace('ad-wh-none'), cluster);
    const secret = [...tooLarge, '--dry-run=server'];
    await eventually(async () => (await kubectl(secret, cluster)).stderr).toContain(
      'policy ad-wh-rules, secrets.maxBytes',
    );
    expect(reeve.output).not.toContain('webhook configuration applied');
  });

  it('the configurations are applied only once the program answers', async () => {
    await reeve.stop();
    await configurations.remove();
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
    // Meanwhile no write was refused because a webhook did not answer.
    expect(statuses).toEqual(new Set([201, 403]));
  });

  it('the configurations leave out Secrets and RBAC with --secrets-rbac-failure-policy=Off', async () => {
    await reeve.stop();
    await configurations.remove();
    reeve = await startReeve(cluster, { ...options, args: ['--secrets-rbac-failure-policy=Off'] });
    expect(await Promise.all(configurationKinds.map((kind) => configurations.names(kind)))).toEqual([
      always.mutating,
      always.validating,
    ]);
    await mustKubectl([...tooLarge, '--dry-run=server'], cluster);
  });

  it('Secrets and RoleBindings pass while Reeve is down, unless the install says otherwise', async () => {
    await reeve.stop();
    reeve = await startReeve(cluster, options);
    await eventually(async () => (await kubectl([...tooLarge, '--dry-run=server'], cluster)).code).toBe(1);
    await reeve.stop();
    await mustKubectl(tooLarge, cluster);
    await mustKubectl(
      ['create', 'rolebinding', 'r', '-n', 'ad-wh-none', '--clusterrole=view', '--user=x'],
      cluster,
    );
    const { stderr } = await attempt(createNamespace('ad-wh-new'), cluster);
    expect(stderr).toContain('failed calling webhook "namespaces.validate.reeve.dev"');
  });

  it('the configurations are deleted with the ClusterRole that owns them, and refuse nothing afterwards', async () => {
    await mustKubectl(['delete', 'clusterrole', 'reeve-webhook'], cluster);
    await mustKubectl(['wait', ...configurationNames, '--for=delete', '--timeout=60s'], cluster);
    await eventually(async () => (await attempt(createNamespace('ad-wh-new'), cluster)).code).toBe(0);
  });
});
