// ConfigMaps that a share joins from several sources: created, repaired, adopted, handed over, and kept while a source is broken.
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { issueAuthority } from '../../../src/certs/issue/issue.ts';
import { configMapType } from '../../../src/base/object-type.ts';
import { teams, team } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const sources = [
  { kind: 'ConfigMap', namespace: 'reeve-shared', name: 'public' },
  { kind: 'Secret', namespace: 'reeve-shared', name: 'corp', keys: [{ from: 'ca.crt' }] },
];

function put(h: Harness, kind: string, metadata: KubeObject['metadata'], fields: object): void {
  const apiVersion = kind === 'ConfigMap' ? 'v1' : 'reeve.dev/v1alpha1';
  h.memory.put({ apiVersion, kind, metadata, ...fields });
}

function share(h: Harness, fields: object = {}): void {
  const spec = { sources, targets: teams, deletionPolicy: 'Delete', maxDeletions: 20, suspend: false };
  put(h, 'ConfigMapShare', { name: 's' }, { spec: { ...spec, target: { name: 'ca' }, ...fields } });
}

function publicData(h: Harness, data: object): void {
  put(h, 'ConfigMap', { namespace: 'reeve-shared', name: 'public' }, { data });
}

async function scene(fields: object = {}, install: object = { resourceKinds: [configMapType] }) {
  const h = harness({ install });
  h.namespace('reeve-shared');
  h.namespace('a', team);
  publicData(h, { a: 'one' });
  h.secret('reeve-shared', 'corp', { 'ca.crt': 'two', 'tls.key': 'canary' });
  share(h, fields);
  h.start();
  await h.settle();
  return h;
}

const dataIn = (h: Harness, name = 'ca'): unknown => h.get('ConfigMap', name, 'a')?.['data'];

describe('the copies of several sources', () => {
  test('each target namespace gets the joined ConfigMap, which follows its sources', async () => {
    const h = await scene();
    expect(dataIn(h)).toEqual({ a: 'one', 'ca.crt': 'two' });
    expect(h.condition('ConfigMapShare', 's')).toMatchObject({ status: 'True' });
    publicData(h, { b: 'three' });
    await h.settle();
    expect(dataIn(h)).toEqual({ b: 'three', 'ca.crt': 'two' });
  });

  test('a changed copy is repaired, and a copy in sync is not written', async () => {
    const h = await scene();
    h.takeWrites();
    h.memory.change(refTo('ConfigMap', 'ca', 'a'), {
      data: { a: 'other', more: 'x' },
      binaryData: { b: '/w==' },
    });
    await h.settle();
    expect(dataIn(h)).toEqual({ a: 'one', 'ca.crt': 'two' });
    expect(h.get('ConfigMap', 'ca', 'a')?.['binaryData'] ?? {}).toEqual({});
    h.takeWrites();
    h.namespace('a', { ...team, more: 'x' });
    await h.settle();
    expect(h.takeWrites().filter(({ kind }) => kind === 'ConfigMap')).toEqual([]);
  });

  test('a key that moves from text to bytes has one place', async () => {
    const h = await scene();
    put(h, 'ConfigMap', { namespace: 'reeve-shared', name: 'public' }, { binaryData: { a: '/w==' } });
    await h.settle();
    expect(h.get('ConfigMap', 'ca', 'a')).toMatchObject({
      data: { 'ca.crt': 'two' },
      binaryData: { a: '/w==' },
    });
    expect(dataIn(h)).not.toHaveProperty('a');
  });

  test('a deleted share deletes its copies, and an orphaning one leaves them', async () => {
    const h = await scene({ deletionPolicy: 'Orphan' });
    h.memory.delete(refTo('ConfigMapShare', 's'));
    await h.settle();
    expect(h.get('ConfigMap', 'ca', 'a')?.metadata.labels).toEqual({ 'reeve.dev/orphaned-from': 's' });
    share(h);
    await h.settle();
    h.memory.delete(refTo('ConfigMapShare', 's'));
    await h.settle();
    expect(dataIn(h)).toBeUndefined();
  });

  test('an immutable copy is deleted and created again', async () => {
    const h = await scene({ target: { name: 'ca', immutable: true } });
    const uid = h.get('ConfigMap', 'ca', 'a')?.metadata.uid;
    publicData(h, { a: 'new' });
    await h.settle();
    expect(dataIn(h)).toEqual({ a: 'new', 'ca.crt': 'two' });
    expect(h.get('ConfigMap', 'ca', 'a')?.metadata.uid).not.toBe(uid);
  });
});

describe('a ConfigMap of another owner', () => {
  const owned = { metadata: { namespace: 'a', name: 'ca' }, data: { theirs: 'x', a: 'x' } };

  test('a ConfigMap of the namespace is a conflict until it is offered, and is given back later', async () => {
    const h = await scene({ target: { name: 'other' } });
    put(h, 'ConfigMap', owned.metadata, { data: owned.data });
    share(h);
    await h.settle();
    expect(h.condition('ConfigMapShare', 's')).toMatchObject({ reason: 'Conflicts' });
    h.memory.change(refTo('ConfigMap', 'ca', 'a'), { metadata: { labels: { 'reeve.dev/adopt': 'true' } } });
    await h.settle();
    expect(dataIn(h)).toEqual({ a: 'one', 'ca.crt': 'two' });
    h.memory.delete(refTo('ConfigMapShare', 's'));
    await h.settle();
    expect(h.get('ConfigMap', 'ca', 'a')?.metadata.annotations ?? {}).not.toHaveProperty('reeve.dev/owner');
  });

  test('a policy hands its ConfigMap over to a share and takes it back, without a deletion', async () => {
    const resource = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ca' }, data: { p: 'x' } };
    const h = await scene({ target: { name: 'other' } });
    const policy = (resources: readonly object[]): void =>
      h.policy('p', { match: teams, contents: { resources } });
    policy([resource]);
    await h.settle();
    expect(dataIn(h)).toEqual({ p: 'x' });
    const uid = h.get('ConfigMap', 'ca', 'a')?.metadata.uid;
    share(h);
    policy([]);
    await h.settle();
    expect(dataIn(h)).toEqual({ a: 'one', 'ca.crt': 'two' });
    publicData(h, { b: 'x' });
    await h.settle();
    policy([resource]);
    share(h, { target: { name: 'other' } });
    await h.settle();
    expect(dataIn(h)).toEqual({ p: 'x' });
    expect(h.get('ConfigMap', 'ca', 'a')?.metadata.uid).toBe(uid);
  });
});

test('a policy that takes over an immutable copy deletes it and creates its own ConfigMap', async () => {
  const target = { name: 'ca', immutable: true };
  const h = await scene({ target });
  const resource = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ca' }, data: { p: 'x' } };
  const uid = h.get('ConfigMap', 'ca', 'a')?.metadata.uid;
  h.policy('p', { match: teams, contents: { resources: [resource] } });
  share(h, { target: { ...target, name: 'other' } });
  await h.settle();
  expect(dataIn(h)).toEqual({ p: 'x' });
  expect(h.get('ConfigMap', 'ca', 'a')?.metadata.uid).not.toBe(uid);
});

describe('a share without its copies', () => {
  test.each<readonly [string, (h: Harness) => void, string, string]>([
    [
      'lacks a source',
      (h) => h.memory.delete(refTo('ConfigMap', 'public', 'reeve-shared')),
      'SourceMissing',
      'there is no ConfigMap reeve-shared/public',
    ],
    [
      'has a key twice',
      (h) => publicData(h, { 'ca.crt': 'x' }),
      'KeyTwice',
      'two sources give the key ca.crt',
    ],
    [
      'has a private key',
      (h) => h.secret('reeve-shared', 'corp', { 'ca.crt': '-----BEGIN PRIVATE KEY-----\ncanary' }),
      'PrivateKey',
      'key ca.crt of Secret reeve-shared/corp holds a private key, and private keys are never written to ConfigMaps',
    ],
  ])('a share that %s says so, and its copies stay', async (_what, breaks, reason, message) => {
    const h = await scene();
    breaks(h);
    await h.settle();
    expect(dataIn(h)).toEqual({ a: 'one', 'ca.crt': 'two' });
    expect(h.condition('ConfigMapShare', 's', 'SourceAvailable')).toMatchObject({
      status: 'False',
      reason,
      message,
    });
    expect(JSON.stringify([h.told, h.get('ConfigMapShare', 's')])).not.toContain('canary');
  });

  test('a share of ConfigMaps that the install does not allow says which flag it needs', async () => {
    const h = await scene({}, { resourceKinds: [] });
    expect(dataIn(h)).toBeUndefined();
    expect(h.status('ConfigMapShare', 's')['failures']).toMatchObject([{ reason: 'KindNotAllowed' }]);
    expect(JSON.stringify(h.status('ConfigMapShare', 's'))).toContain('--resource-kind=v1/ConfigMap');
  });
});

describe('a bundle', () => {
  const [one = '', two = ''] = rootCertificates.toSorted(
    (a, b) => new X509Certificate(a).validToDate.getTime() - new X509Certificate(b).validToDate.getTime(),
  );
  const target = { name: 'ca', format: 'PEMBundle', key: 'ca-bundle.crt' };
  const bundled = [{ kind: 'ConfigMap', namespace: 'reeve-shared', name: 'public' }];

  test('the status counts the certificates, and a broken source keeps the last bundle', async () => {
    const h = await scene({ sources: bundled, target });
    expect(h.condition('ConfigMapShare', 's')).toMatchObject({ reason: 'CertificateInvalid' });
    publicData(h, { one, two, again: one });
    await h.settle();
    const bundle = dataIn(h);
    expect(JSON.stringify(bundle).match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(h.status('ConfigMapShare', 's')['bundle']).toEqual({ certificates: 2, duplicates: 1, expired: 0 });
    publicData(h, { two, more: one });
    await h.settle();
    expect(dataIn(h)).toEqual(bundle);
    publicData(h, { one, two: 'not a certificate' });
    await h.settle();
    expect(dataIn(h)).toEqual(bundle);
    expect(h.condition('ConfigMapShare', 's')).toMatchObject({
      status: 'False',
      reason: 'CertificateInvalid',
    });
  });

  test('a certificate that expires leaves the bundle at that time, without another event', async () => {
    const h = await scene({ sources: bundled, target });
    const ending = (await issueAuthority(24 * 3_600_000, h.clock.now())).certPem;
    publicData(h, { ending, two });
    await h.settle();
    expect(JSON.stringify(dataIn(h)).match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    await h.clock.advance(25 * 3_600_000);
    await h.settle();
    expect(dataIn(h)).toEqual({ 'ca-bundle.crt': new X509Certificate(two).toString() });
    expect(h.status('ConfigMapShare', 's')['bundle']).toEqual({ certificates: 1, duplicates: 0, expired: 1 });
  });
});
