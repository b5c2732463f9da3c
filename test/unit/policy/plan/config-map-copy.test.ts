// Tests which ConfigMap a share gives for its sources, and why it gives none.
import { generateKeyPairSync } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { copyOf } from '../../../../src/policy/plan/copy.ts';
import { aConfigMapShare } from '../../../support/engine.ts';

const now = new Date('2026-01-01T00:00:00Z');
const canary = 'canary-value';
const [one = '', two = ''] = rootCertificates;
const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

function configMap(data: object, more: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data, ...more };
}

function secret(values: Readonly<Record<string, string>>, more: object = {}): KubeObject {
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, btoa(value)]));
  return { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: {}, data, ...more };
}

const place = { namespace: 'src', name: 'x' };
const ofSecret = { ...place, kind: 'Secret', keys: [{ from: 'ca.crt' }] };

function copied(sources: readonly object[], objects: readonly KubeObject[], target: object = {}): unknown {
  const share = aConfigMapShare('s', { sources, targets: { names: ['*'] }, target });
  const copy = copyOf(share, objects, now);
  expect(JSON.stringify(copy.kind === 'unavailable' ? copy : '')).not.toContain(canary);
  if (copy.kind === 'unavailable') return `${copy.reason}: ${copy.message}`;
  return copy.kind === 'ready' ? copy.payload.body : copy.kind;
}

describe('the copy of several sources', () => {
  test.each<readonly [string, readonly object[], readonly KubeObject[], object, unknown]>([
    [
      'a copy joins the keys of ConfigMaps and the named keys of Secrets',
      [place, ofSecret],
      [configMap({ a: 'x' }), secret({ 'ca.crt': 'y', other: canary })],
      {},
      { data: { a: 'x', 'ca.crt': 'y' } },
    ],
    [
      'a copy has the new names of the keys',
      [{ ...place, keys: [{ from: 'a', to: 'b' }, { from: 'a' }] }],
      [configMap({ a: 'x', c: 'y' })],
      {},
      { data: { b: 'x', a: 'x' } },
    ],
    [
      'bytes that are no text are binaryData of the copy',
      [place],
      [configMap({}, { binaryData: { b: '/w==' } })],
      { immutable: true },
      { data: {}, binaryData: { b: '/w==' }, immutable: true },
    ],
    [
      'a key that two sources have gives no copy',
      [place, place],
      [configMap({ a: canary }), configMap({ a: canary })],
      {},
      'KeyTwice: two sources give the key a',
    ],
    [
      'a key that the source lacks gives no copy',
      [ofSecret],
      [secret({ other: canary })],
      {},
      'KeyMissing: Secret src/x has no key ca.crt',
    ],
    [
      'a private key gives no copy, whatever its key is called',
      [ofSecret],
      [secret({ 'ca.crt': `${one}\n${pem}` })],
      {},
      'PrivateKey: key ca.crt of Secret src/x holds a private key, and private keys are never written to ConfigMaps',
    ],
    [
      'a source that Reeve keeps gives no copy',
      [place],
      [
        configMap(
          {},
          {
            metadata: {
              labels: { 'app.kubernetes.io/managed-by': 'reeve' },
              annotations: { 'reeve.dev/owner': 'NamespacePolicy/p' },
            },
          },
        ),
      ],
      {},
      'SourceNotAllowed: the source is itself a copy that Reeve manages',
    ],
    [
      'a token of a service account gives no copy',
      [ofSecret],
      [secret({ 'ca.crt': canary }, { type: 'kubernetes.io/service-account-token' })],
      {},
      'SourceTypeForbidden: Secrets of type kubernetes.io/service-account-token are never copied',
    ],
  ])('%s', (_what, sources, objects, target, expected) => {
    expect(copied(sources, objects, target)).toEqual(expected);
  });
});

describe('a bundle', () => {
  const target = { format: 'PEMBundle', key: 'ca-bundle.crt' };

  test('a bundle has the certificates of all sources, and the status can count them', () => {
    const share = aConfigMapShare('s', { sources: [place, ofSecret], targets: { names: ['*'] }, target });
    const copy = copyOf(share, [configMap({ a: one, b: two }), secret({ 'ca.crt': one })], now);
    expect(copy).toMatchObject({
      kind: 'ready',
      payload: {
        bundle: { certificates: 2, duplicates: 1, expired: 0 },
        facts: { keys: ['ca-bundle.crt'], binaryKeys: [] },
      },
    });
  });

  test.each([
    [
      canary,
      'CertificateInvalid: key a of ConfigMap src/x holds no certificate; accepted: certificates in PEM',
    ],
    [
      pem,
      'PrivateKey: key a of ConfigMap src/x holds a private key, and private keys are never written to ConfigMaps',
    ],
  ])('a broken value gives no bundle, and no message quotes the value (%#)', (value, expected) => {
    expect(copied([place], [configMap({ a: value })], target)).toBe(expected);
  });
});
