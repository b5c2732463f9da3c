// Serves objects from its own store to a user with all rights. `admitted` lets a test act during admission.
import { kindDefinitions } from '../../../../src/api/kinds.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { ReviewedWrite } from '../../../../src/sandbox/admission/reviewed-write.ts';
import { createAuthorizer } from '../../../../src/sandbox/access/authorizer.ts';
import { kindsServedFrom } from '../../../../src/sandbox/kinds/served-kinds.ts';
import { objectService } from '../../../../src/sandbox/objects.ts';
import type { ObjectRequest, Resource } from '../../../../src/sandbox/resource.ts';
import { MemoryStore } from '../../../../src/sandbox/store.ts';
import { Tokens } from '../../../../src/sandbox/access/users.ts';
import type { WriteContext } from '../../../../src/sandbox/write/context.ts';
import type { ObjectAnswer } from '../../../../src/sandbox/read/read.ts';

export class Service {
  readonly store = new MemoryStore();
  readonly kinds = kindsServedFrom(this.store, kindDefinitions);
  readonly configMaps: Resource = this.#kind('configmaps');
  readonly namespaces: Resource = this.#kind('namespaces');
  readonly serviceAccounts: Resource = this.#kind('serviceaccounts');
  now = new Date(0);
  /** Called for every write before it is judged. */
  admitted: (write: ReviewedWrite) => unknown = () => undefined;
  readonly context: WriteContext = {
    store: this.store,
    kinds: this.kinds,
    authorizer: { ...createAuthorizer(this.store), allows: () => true },
    admission: {
      mutate: (write) => Promise.resolve(write.object),
      validate: async (write) => {
        await this.admitted(write);
      },
    },
    now: () => this.now,
    uid: () => 'the-uid',
  };
  readonly tokens = new Tokens();
  readonly #serve = objectService(this.context, this.tokens);

  constructor() {
    this.store.put(this.namespaces, { metadata: { name: 'here' } }, undefined);
  }

  #kind(plural: string): Resource {
    const found = this.kinds.find('', 'v1', plural);
    if (found === undefined) throw new Error(`${plural} are not served`);
    return found;
  }

  put(name: string, metadata: KubeObject['metadata'] = {}): void {
    const object = { metadata: { name, namespace: 'here', uid: name, ...metadata } };
    this.store.put(this.configMaps, object, undefined);
  }

  remove(name: string): void {
    const stored = this.store.get(this.configMaps, 'here', name);
    if (stored !== undefined) this.store.remove(this.configMaps, stored);
  }

  get names(): readonly unknown[] {
    return this.store.list(this.configMaps).map(({ metadata }) => metadata.name);
  }

  async ask(verb: ObjectRequest['verb'], parts: Partial<ObjectRequest> = {}): Promise<ObjectAnswer> {
    return await this.#serve({
      user: { username: 'ann', groups: [] },
      verb,
      resource: this.configMaps,
      subresource: undefined,
      namespace: 'here',
      name: undefined,
      query: new URLSearchParams(),
      body: undefined,
      patchType: undefined,
      agent: 'test',
      warn: () => undefined,
      signal: new AbortController().signal,
      ...parts,
    });
  }
}
