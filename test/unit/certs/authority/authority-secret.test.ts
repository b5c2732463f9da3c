// Tests the Secret of the shared authority: what it reads as, and that a write fails after a write of another replica.
import { beforeAll, describe, expect, test } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import {
  authorityOf,
  encodeState,
  type AuthorityState,
} from '../../../../src/certs/authority/authority-state.ts';
import { issueAuthority } from '../../../../src/certs/issue/issue.ts';
import type { ObjectStore } from '../../../../src/base/object-writer.ts';
import { AuthoritySecret } from '../../../../src/certs/authority/authority-secret.ts';

const signal = new AbortController().signal;
let state: AuthorityState;

beforeAll(async () => {
  state = { signing: authorityOf(await issueAuthority(3_600_000, new Date())), retired: [] };
});

/** An API server that answers every write in the same way. */
class StubStore implements ObjectStore {
  readonly writes: unknown[] = [];
  readonly #stored: KubeObject | undefined;
  readonly #code: number;

  constructor(stored: KubeObject | undefined, code = 200) {
    this.#stored = stored;
    this.#code = code;
  }

  read(): Promise<KubeObject | undefined> {
    return Promise.resolve(this.#stored);
  }

  async apply(object: KubeObject, options: object): Promise<KubeObject> {
    return await this.#answer({ apply: object, ...options });
  }

  async mergePatch(ref: object, patch: object): Promise<KubeObject> {
    return await this.#answer({ patch, ref });
  }

  #answer(write: unknown): Promise<KubeObject> {
    this.writes.push(write);
    if (this.#code === 200) return Promise.resolve({ metadata: {} });
    return Promise.reject(new KubeError({ code: this.#code, reason: 'Stub', retryable: true }));
  }
}

const secretOf = (data: unknown): KubeObject => ({
  kind: 'Secret',
  metadata: { name: 'reeve-webhook-ca', resourceVersion: '17' },
  data,
});
const encoded = (text: string): string => Buffer.from(text).toString('base64');
const stored = (): KubeObject => secretOf({ 'authorities.json': encoded(encodeState(state)) });

describe('reading the Secret', () => {
  test.each<[string, () => KubeObject | undefined, object]>([
    ['no Secret', () => undefined, { kind: 'missing' }],
    ['no data', () => secretOf(undefined), { kind: 'corrupt' }],
    ['other data', () => secretOf({ 'tls.crt': encoded('x') }), { kind: 'corrupt' }],
    ['data that is no text', () => secretOf({ 'authorities.json': 1 }), { kind: 'corrupt' }],
    ['rubbish', () => secretOf({ 'authorities.json': '%%%' }), { kind: 'corrupt' }],
  ])('%s', async (_, object, found) => {
    const secret = new AuthoritySecret(new StubStore(object()), 'reeve-system');
    expect((await secret.read(signal)).found).toEqual(found);
  });

  test('a stored state is read as it was written', async () => {
    const secret = new AuthoritySecret(new StubStore(stored()), 'reeve-system');
    expect((await secret.read(signal)).found).toEqual({ kind: 'whole', state });
  });
});

describe('writing the Secret', () => {
  test('a missing Secret is created with a resource version that fails if the Secret exists by then', async () => {
    const writer = new StubStore(undefined);
    const secret = new AuthoritySecret(writer, 'reeve-system');
    expect(await secret.write(await secret.read(signal), state, signal)).toBe(true);
    const { metadata, type } = (writer.writes[0] as { readonly apply: KubeObject }).apply;
    expect({ metadata, type }).toEqual({
      type: 'Opaque',
      metadata: {
        name: 'reeve-webhook-ca',
        namespace: 'reeve-system',
        labels: { 'app.kubernetes.io/part-of': 'reeve' },
        resourceVersion: '1',
      },
    });
  });

  test('an existing Secret is patched at the version that was read, and its other keys stay', async () => {
    const writer = new StubStore(secretOf({ other: encoded('x'), 'authorities.json': encoded('y') }));
    const secret = new AuthoritySecret(writer, 'reeve-system');
    expect(await secret.write(await secret.read(signal), state, signal)).toBe(true);
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'reeve-system', name: 'reeve-webhook-ca' };
    const data = { 'authorities.json': encoded(encodeState(state)) };
    expect(writer.writes).toEqual([{ ref, patch: { metadata: { resourceVersion: '17' }, data } }]);
  });

  test.each([409, 404])('an answer of %d means that the state was not written', async (code) => {
    const secret = new AuthoritySecret(new StubStore(stored(), code), 'reeve-system');
    expect(await secret.write(await secret.read(signal), state, signal)).toBe(false);
  });

  test('any other error answer rejects the write', async () => {
    const secret = new AuthoritySecret(new StubStore(stored(), 403), 'reeve-system');
    await expect(secret.write(await secret.read(signal), state, signal)).rejects.toBeInstanceOf(KubeError);
  });
});
