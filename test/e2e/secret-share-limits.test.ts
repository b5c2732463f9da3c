// Objects that a share does not touch: missing or forbidden sources, Secrets of tenants, and everything it need not read.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { namespaceObject, share } from './support/objects.ts';
import { startRecordingProxy, type RecordingProxy } from './support/recording-proxy.ts';
import { base64, secret, secretRef, Secrets, shareOf, shareRef, sourceNamespace } from './support/secrets.ts';
import { reconcilerUser, Stage } from './support/stage.ts';

const prefix = 'sh-lim-';
const [first, second] = ['sh-lim-1', 'sh-lim-2'];

/** Values that are easy to find in any output. */
const marks = {
  /** The value of a Secret of the tenant. */
  tenant: 'mark-of-a-tenant',
  /** The value of a tenant's Secret that has the name of a copy. */
  conflict: 'mark-of-a-conflict',
  /** The value of a Secret beside the sources that no share names. */
  unshared: 'mark-of-nobody',
  /** The value of a source. */
  shared: 'mark-of-a-source',
};

describeControllers('what SecretShares leave alone', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const secrets = new Secrets(stage, prefix);
  let proxy: RecordingProxy;
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    proxy = await startRecordingProxy(cluster);
    for (const text of Object.values(marks)) proxy.lookFor(base64(text));
    const account = await cluster.tokenKubeconfig('reeve-system', 'reeve-reconciler');
    // Some of these Secrets exist when Reeve starts, and others are created afterwards.
    await secrets.create(
      namespaceObject(first),
      secret({ name: 'sh-lim-own', namespace: first }, { value: marks.tenant }),
      secret({ name: 'sh-lim-unshared' }, { value: marks.unshared }),
    );
    reeve = await startReeve(cluster, { kubeconfig: await proxy.kubeconfigLike(account) });
    await secrets.create(
      namespaceObject(second),
      secret({ name: 'sh-lim-own', namespace: second }, { value: marks.tenant }),
      secret({ name: 'sh-lim-unshared-too' }, { value: marks.unshared }),
    );
  });
  afterAll(async () => {
    await stage.cleanUp();
    await reeve.stop();
    await proxy.close();
  });

  const targets = { names: ['sh-lim-*'] };
  const sourceOf = (name: string): Promise<string> => stage.condition(shareRef(name), 'SourceAvailable');
  const readyOf = (name: string): Promise<string> => stage.condition(shareRef(name));

  describe('the source', () => {
    test('a deleted source keeps its copies and gets no new ones, and a restored source updates all copies', async () => {
      await secrets.shareInto('sh-lim-gone', [first]);
      const copy = await secrets.in(first, 'sh-lim-gone');
      await stage.kubectl('delete', 'secret', 'sh-lim-gone', '-n', sourceNamespace);
      await eventually(() => sourceOf('sh-lim-gone')).toBe('False SourceMissing');
      expect(await readyOf('sh-lim-gone')).toBe('False SourceMissing');
      await stage.apply(shareOf('sh-lim-gone', targets));
      await eventually(() => stage.failures(shareRef('sh-lim-gone'))).toEqual([
        `${second} Secret sh-lim-gone: SourceMissing, there is no Secret ${sourceNamespace}/sh-lim-gone`,
      ]);
      expect(await secrets.namespacesWith('sh-lim-gone')).toEqual([first]);
      expect(await secrets.in(first, 'sh-lim-gone')).toEqual(copy);
      await stage.apply(secret({ name: 'sh-lim-gone' }, { value: 'two' }));
      await eventually(() => secrets.value(first, 'sh-lim-gone')).toBe('two');
      await eventually(() => secrets.value(second, 'sh-lim-gone')).toBe('two');
      await eventually(() => sourceOf('sh-lim-gone')).toBe('True Available');
      await eventually(() => readyOf('sh-lim-gone')).toBe('True Synced');
      await stage.remove(shareRef('sh-lim-gone'));
    });

    const account = { 'kubernetes.io/service-account.name': 'default' };
    test.each([
      { type: 'kubernetes.io/service-account-token', annotations: account },
      { type: 'bootstrap.kubernetes.io/token', annotations: {} },
      { type: 'helm.sh/release.v1', annotations: {} },
    ])('a source of type $type is not copied, under no other type either', async ({ type, annotations }) => {
      const name = `sh-lim-${type.split('/')[1]}`.replace('.v1', '');
      const target = { type: 'Opaque', name: `${name}-copy` };
      await stage.apply(
        secret({ name, annotations }, { value: 'one' }, { type }),
        shareOf(name, targets),
        share(`${name}-typed`, { source: { namespace: sourceNamespace, name }, targets, target }),
      );
      for (const each of [name, `${name}-typed`]) {
        await eventually(() => sourceOf(each)).toBe('False SourceTypeForbidden');
        await eventually(() => readyOf(each)).toBe('False SourceTypeForbidden');
      }
      expect(await secrets.namespacesWith(name)).toEqual([]);
      expect(await secrets.namespacesWith(target.name)).toEqual([]);
      await stage.remove(shareRef(name), shareRef(`${name}-typed`));
    });

    test('a source without a key of the share creates and changes nothing until it has the key', async () => {
      const target = { keys: [{ from: 'later', to: 'value' }] };
      await stage.apply(
        secret({ name: 'sh-lim-key' }, { value: 'one' }),
        shareOf('sh-lim-key', targets, { target }),
      );
      await eventually(() => sourceOf('sh-lim-key')).toBe('False KeyMissing');
      expect(await secrets.namespacesWith('sh-lim-key')).toEqual([]);
      await stage.apply(secret({ name: 'sh-lim-key' }, { later: 'two' }));
      await eventually(() => secrets.value(first, 'sh-lim-key')).toBe('two');
      await eventually(() => sourceOf('sh-lim-key')).toBe('True Available');
      await stage.apply(secret({ name: 'sh-lim-key' }, { value: 'three' }));
      await eventually(() => sourceOf('sh-lim-key')).toBe('False KeyMissing');
      expect(await secrets.value(first, 'sh-lim-key')).toBe('two');
      await stage.remove(shareRef('sh-lim-key'));
    });

    test.each([first, 'kube-system', 'reeve-system'])('a source in %s is refused', async (namespace) => {
      const source = { namespace, name: 'sh-lim-own' };
      const { code, stderr } = await stage.tryApply([share('sh-lim-refused', { source, targets })]);
      expect(code).toBe(1);
      expect(stderr).toContain('spec.source.namespace');
      expect(stderr).toContain(sourceNamespace);
      expect(await stage.get(shareRef('sh-lim-refused'))).toBeUndefined();
    });

    test('sources outside of the source namespaces are not read, even when the share was not refused', async () => {
      const source = { namespace: first, name: 'sh-lim-own' };
      await stage.applyInEmergency(
        share('sh-lim-forced', { source, targets, target: { name: 'sh-lim-forced' } }),
      );
      await eventually(() => sourceOf('sh-lim-forced')).toBe('False SourceNotAllowed');
      expect(await secrets.namespacesWith('sh-lim-forced')).toEqual([]);
      await stage.remove(shareRef('sh-lim-forced'));
    });
  });

  describe('a Secret of the tenant with the name of a copy', () => {
    const tenant = { ...stage.administrator, as: 'sh-lim-tenant' };

    test('a tenant Secret with the name of a copy stays as it is, and status and event report it', async () => {
      await mustKubectl(
        ['create', 'rolebinding', 'tenant', '-n', first, '--clusterrole=edit', '--user=sh-lim-tenant'],
        cluster,
      );
      await secrets.create(secret({ name: 'sh-lim-taken', namespace: first }, { value: marks.conflict }));
      const own = await secrets.in(first, 'sh-lim-taken');
      await stage.apply(secret({ name: 'sh-lim-taken' }, { value: 'one' }), shareOf('sh-lim-taken', targets));
      await eventually(() => readyOf('sh-lim-taken')).toBe('False Conflicts');
      expect((await stage.mustGet(shareRef('sh-lim-taken'))).status).toMatchObject({
        desired: 2,
        synced: 1,
        conflicts: 1,
        failed: 0,
        failures: [{ namespace: first, kind: 'Secret', name: 'sh-lim-taken', reason: 'AlreadyExists' }],
      });
      expect(await secrets.in(first, 'sh-lim-taken')).toEqual(own);
      const events = ['get', 'events', '-n', first, '--field-selector=involvedObject.name=sh-lim-taken'];
      await eventually(async () => (await kubectl(events, cluster)).stdout).toMatch(
        /Warning +AlreadyExists +secret\/sh-lim-taken +SecretShare\/sh-lim-taken: .*reeve\.dev\/adopt=true/,
      );
      await eventually(() => stage.namespaceCondition(first)).toBe('False AlreadyExists');
    });

    test('a tenant Secret is adopted when the tenant annotates it', async () => {
      const uid = await secrets.uid(first, 'sh-lim-taken');
      const label = ['label', 'secret', 'sh-lim-taken', '-n', first, 'reeve.dev/adopt=true'];
      await eventually(async () => (await kubectl(label, tenant)).code).toBe(0);
      await eventually(() => secrets.value(first, 'sh-lim-taken')).toBe('one');
      expect(await stage.ownersOf(secretRef(first, 'sh-lim-taken'))).toEqual(['SecretShare/sh-lim-taken']);
      expect(await secrets.uid(first, 'sh-lim-taken')).toBe(uid);
      await eventually(() => readyOf('sh-lim-taken')).toBe('True Synced');
      await eventually(() => stage.namespaceCondition(first)).toBe('True Synced');
    });

    test('an adopted Secret is a copy, which the tenant cannot change', async () => {
      const change = ['label', 'secret', 'sh-lim-taken', '-n', first, 'mine=true'];
      expect((await kubectl(change, tenant)).stderr).toContain('SecretShare/sh-lim-taken');
      await stage.apply(secret({ name: 'sh-lim-taken' }, { value: 'two' }));
      await eventually(() => secrets.value(first, 'sh-lim-taken')).toBe('two');
      await stage.remove(shareRef('sh-lim-taken'));
      // The tenant's Secret stays, without anything of the share.
      expect(await secrets.namespacesWith('sh-lim-taken')).toEqual([first]);
      expect(
        (await stage.mustGet({ kind: 'Secret', name: 'sh-lim-taken', namespace: first }))['data'],
      ).toBeUndefined();
    });
  });

  describe('the payloads of all other Secrets', () => {
    const path = (namespace: string, name: string): string =>
      `/api/v1/namespaces/${namespace}/secrets/${name}`;

    test('payloads of other Secrets never reach Reeve', async () => {
      await secrets.create(secret({ name: 'sh-lim-read' }, { value: marks.shared }));
      await stage.apply(shareOf('sh-lim-read', targets));
      await eventually(() => readyOf('sh-lim-read')).toBe('True Synced');
      expect(proxy.pathsWith(base64(marks.tenant))).toEqual([]);
      expect(proxy.pathsWith(base64(marks.unshared))).toEqual([]);
      // Reeve read this Secret by its name, after the tenant had offered it for adoption.
      expect(proxy.pathsWith(base64(marks.conflict))).toEqual([path(first, 'sh-lim-taken')]);
      // The proxy does find values that Reeve reads.
      const names = [first, second, sourceNamespace].map((namespace) => path(namespace, 'sh-lim-read'));
      expect(proxy.pathsWith(base64(marks.shared))).toEqual(names.sort());
    });

    test('payloads of other Secrets are never requested', async () => {
      const reads = proxy.requests.filter(
        (request) =>
          request.method === 'GET' &&
          /^\/api\/v1\/(.*\/)?secrets(\/|$)/.test(request.path) &&
          !request.isMetadataOnly,
      );
      const selectors = reads
        .filter((request) => request.path.endsWith('/secrets'))
        .map((request) => request.query.get('labelSelector'));
      expect(new Set(selectors)).toEqual(new Set(['app.kubernetes.io/managed-by=reeve']));
      const ours = (await cluster.auditLog().records()).filter(
        ({ user, resource, name }) =>
          user === reconcilerUser && resource === 'secrets' && name.startsWith(prefix),
      );
      const written = ours.filter(({ verb }) => verb === 'patch');
      const allowed = new Set([
        ...written.map(({ namespace, name }) => path(namespace, name)),
        ...['gone', 'key', 'taken', 'read'].map((name) => path(sourceNamespace, `sh-lim-${name}`)),
        ...['service-account-token', 'token', 'release'].map((name) =>
          path(sourceNamespace, `sh-lim-${name}`),
        ),
      ]);
      // The Secret with the authority of the webhook.
      const authority = path('reeve-system', 'reeve-webhook-ca');
      const single = reads.filter(
        (request) => !request.path.endsWith('/secrets') && request.path !== authority,
      );
      expect(single.filter((request) => !allowed.has(request.path))).toEqual([]);
      // The audit log of the API server proves the same as the proxy.
      const got = ours.filter(({ verb }) => verb === 'get');
      expect(got.length).toBeGreaterThan(0);
      expect(got.filter(({ namespace, name }) => !allowed.has(path(namespace, name)))).toEqual([]);
    });
  });
});
