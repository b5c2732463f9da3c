// Several ConfigMaps and Secrets, declared once, are one ConfigMap in every target namespace, and no private key gets there.
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { namespaceObject, type WrittenObject } from './support/objects.ts';
import { secret, sourceNamespace } from './support/secrets.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const [one = '', two = ''] = rootCertificates.filter(
  (each) => new X509Certificate(each).validToDate.getTime() > Date.now() + 86_400_000,
);

interface StoredConfigMap {
  readonly data?: Readonly<Record<string, string>>;
}

interface StoredShare {
  readonly status?: {
    readonly bundle?: object;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
  };
}

function sourceOf(name: string, data: object): WrittenObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: sourceNamespace, name },
    data,
  };
}

function shareOf(name: string, spec: object): WrittenObject {
  return {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'ConfigMapShare',
    metadata: { name },
    spec,
  };
}

describeControllers('ConfigMapShares', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, 'cms-');
  withReeve(stage);

  beforeAll(async () => {
    await stage.apply(...['cms-a', 'cms-b'].map((name) => namespaceObject(name)));
  });

  const dataIn = async (namespace: string, name: string) =>
    ((await stage.get({ kind: 'ConfigMap', namespace, name })) as StoredConfigMap | undefined)?.data;
  const statusOf = async (name: string) =>
    ((await stage.get({ kind: 'ConfigMapShare', name })) as StoredShare | undefined)?.status;
  const readyOf = async (name: string) =>
    (await statusOf(name))?.conditions?.find(({ type }) => type === 'Ready')?.reason;

  test('a ConfigMap and the named key of a Secret are one ConfigMap in each target namespace, and follow their sources', async () => {
    await stage.apply(
      sourceOf('cms-settings', { a: 'one' }),
      secret({ name: 'cms-host' }, { host: 'db', password: 'canary' }),
      shareOf('cms-joined', {
        sources: [
          { namespace: sourceNamespace, name: 'cms-settings' },
          {
            kind: 'Secret',
            namespace: sourceNamespace,
            name: 'cms-host',
            keys: [{ from: 'host', to: 'HOST' }],
          },
        ],
        targets: { names: ['cms-*'] },
      }),
    );
    const joined = { a: 'one', HOST: 'db' };
    await eventually(() => dataIn('cms-a', 'cms-settings')).toEqual(joined);
    await eventually(() => dataIn('cms-b', 'cms-settings')).toEqual(joined);
    await stage.apply(sourceOf('cms-settings', { b: 'two' }));
    await eventually(() => dataIn('cms-a', 'cms-settings')).toEqual({ b: 'two', HOST: 'db' });
    await eventually(() => readyOf('cms-joined')).toBe('Synced');
  });

  test('a user cannot change a copy, and a copy that an administrator changes is repaired', async () => {
    const what = [
      'configmap',
      'cms-settings',
      '-n',
      'cms-a',
      '--type=merge',
      '-p={"data":{"b":"other","c":"x"}}',
    ];
    await expect(stage.kubectl('patch', ...what)).rejects.toThrow(/only Reeve writes it/);
    await stage.inEmergency('patch', ...what);
    await eventually(() => dataIn('cms-a', 'cms-settings')).toEqual({ b: 'two', HOST: 'db' });
  });

  test('a bundle has each certificate once, and keeps its last content while a source is broken', async () => {
    await stage.apply(
      sourceOf('cms-public', { one, again: one }),
      secret({ name: 'cms-corp' }, { 'ca.crt': two }),
      shareOf('cms-trust', {
        sources: [
          { namespace: sourceNamespace, name: 'cms-public' },
          { kind: 'Secret', namespace: sourceNamespace, name: 'cms-corp', keys: [{ from: 'ca.crt' }] },
        ],
        targets: { names: ['cms-*'] },
        target: { name: 'ca-bundle', format: 'PEMBundle', key: 'ca-bundle.crt', immutable: true },
      }),
    );
    const certificates = async () =>
      (await dataIn('cms-a', 'ca-bundle'))?.['ca-bundle.crt']?.match(/BEGIN CERTIFICATE/g)?.length;
    await eventually(certificates).toBe(2);
    await eventually(async () => (await statusOf('cms-trust'))?.bundle).toEqual({
      certificates: 2,
      duplicates: 1,
      expired: 0,
    });
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    await stage.apply(secret({ name: 'cms-corp' }, { 'ca.crt': `${two}\n${pem}` }));
    await eventually(() => readyOf('cms-trust')).toBe('PrivateKey');
    expect(await certificates()).toBe(2);
    await stage.apply(secret({ name: 'cms-corp' }, { 'ca.crt': one }));
    await eventually(certificates).toBe(1);
    await eventually(() => readyOf('cms-trust')).toBe('Synced');
  });

  test('a Secret without named keys is refused before it is stored', async () => {
    const sources = [{ kind: 'Secret', namespace: sourceNamespace, name: 'cms-corp' }];
    const share = shareOf('cms-refused', { sources, targets: { names: ['cms-*'] } });
    await expect(stage.apply(share)).rejects.toThrow(/keys/);
  });

  test('a deleted share takes its copies with it', async () => {
    await stage.kubectl('delete', 'configmapshare', 'cms-joined', 'cms-trust');
    await eventually(() => dataIn('cms-a', 'cms-settings')).toBe(undefined);
    await eventually(() => dataIn('cms-b', 'ca-bundle')).toBe(undefined);
  });
});
