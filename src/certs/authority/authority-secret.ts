// Reads and writes the Secret of the shared authority; a write fails when another replica wrote since the read.
import { ownMember } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { partOfLabel, partOfReeve } from '../../schema/names.ts';
import { encodeState, parseState, type AuthorityState } from './authority-state.ts';
import type { FoundState } from './authority-steps.ts';
import type { ObjectStore } from '../../base/object-writer.ts';

export const authoritySecretName = 'reeve-webhook-ca';
const dataKey = 'authorities.json';

export interface FoundSecret {
  readonly found: FoundState;
  /** Undefined when the Secret is missing. */
  readonly object: KubeObject | undefined;
}

/** The Secret that replicas share. All methods reject with a KubeError. */
export class AuthoritySecret {
  readonly #store: ObjectStore;
  readonly #ref;

  constructor(store: ObjectStore, namespace: string) {
    this.#store = store;
    this.#ref = { apiVersion: 'v1', kind: 'Secret', namespace, name: authoritySecretName };
  }

  async read(signal: AbortSignal): Promise<FoundSecret> {
    const object = await this.#store.read(this.#ref, signal);
    if (object === undefined) return { found: { kind: 'missing' }, object };
    const value = ownMember(object['data'], dataKey);
    const state = typeof value === 'string' ? parseState(textOf(value)) : undefined;
    return { found: state === undefined ? { kind: 'corrupt' } : { kind: 'whole', state }, object };
  }

  /** Returns false when another replica wrote first. */
  async write({ object }: FoundSecret, state: AuthorityState, signal: AbortSignal): Promise<boolean> {
    const data = { [dataKey]: Buffer.from(encodeState(state)).toString('base64') };
    try {
      if (object === undefined) await this.#create(data, signal);
      else await this.#replace(object, data, signal);
      return true;
    } catch (error) {
      if (error instanceof KubeError && (error.code === 409 || error.code === 404)) return false;
      throw error;
    }
  }

  /**
   * Uses apply, because RBAC can limit an apply to one name, unlike a POST. The resourceVersion makes the apply fail with 409
   * when the Secret already exists.
   */
  async #create(data: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const { apiVersion, kind, name, namespace } = this.#ref;
    const labels = { [partOfLabel]: partOfReeve };
    const metadata = { name, namespace, labels, resourceVersion: '1' };
    await this.#store.apply({ apiVersion, kind, metadata, type: 'Opaque', data }, { force: true, signal });
  }

  /** Keeps other keys, because a Secret of another type may require them. */
  async #replace(
    object: KubeObject,
    data: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<void> {
    const { resourceVersion } = object.metadata;
    await this.#store.mergePatch(this.#ref, { metadata: { resourceVersion }, data }, { signal });
  }
}

function textOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
