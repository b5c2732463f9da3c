// Provides kinds, objects and requests for the tests of the store and its readers.
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { ApiError } from '../../../../src/sandbox/api-error.ts';
import { readList, type SandboxWatchEvent, startWatch } from '../../../../src/sandbox/read/read.ts';
import type { ObjectRequest, Resource } from '../../../../src/sandbox/resource.ts';
import type { SandboxStore } from '../../../../src/sandbox/store.ts';

export function resourceOf(
  plural: string,
  kind: string,
  { group = '', isNamespaced = true, isCustom = false } = {},
): Resource {
  return {
    group,
    version: 'v1',
    kind,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    isNamespaced,
    subresources: [],
    columns: [],
    rules: { prepare: (submitted) => submitted, problems: () => [] },
    isCustom,
    listKeys: {},
  };
}

export const configMaps = resourceOf('configmaps', 'ConfigMap');
export const secrets = resourceOf('secrets', 'Secret');
export const namespaces = resourceOf('namespaces', 'Namespace', { isNamespaced: false });

export function configMap(namespace: string, name: string, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels } };
}

export function requestFor(query: string, parts: Partial<ObjectRequest> = {}): ObjectRequest {
  return {
    user: { username: 'someone', groups: [] },
    verb: 'list',
    resource: configMaps,
    subresource: undefined,
    namespace: undefined,
    name: undefined,
    query: new URLSearchParams(query),
    body: undefined,
    patchType: undefined,
    agent: 'test',
    warn: () => undefined,
    signal: new AbortController().signal,
    ...parts,
  };
}

export function listed(store: SandboxStore, query: string, parts: Partial<ObjectRequest> = {}) {
  const answer = readList(store, requestFor(query, parts));
  return { ...answer, names: answer.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`) };
}

export function watched(
  store: SandboxStore,
  query: string,
  parts: Partial<ObjectRequest> = {},
): AsyncIterator<SandboxWatchEvent> {
  const answer = startWatch(store, requestFor(query, parts));
  if (answer.kind !== 'watch') throw new Error(`not a watch: ${answer.kind}`);
  return answer.events[Symbol.asyncIterator]();
}

/** `ADDED a@1001` */
export async function next(events: AsyncIterator<SandboxWatchEvent>): Promise<string> {
  const taken = await events.next();
  if (taken.done === true) return 'the end';
  const { type, object } = taken.value;
  if (type === 'ERROR') return `ERROR ${String(object['code'])} ${String(object['reason'])}`;
  const { name, resourceVersion, annotations } = object.metadata;
  const mark = annotations === undefined ? '' : ` ${JSON.stringify(annotations)}`;
  return `${type} ${name ?? object.kind}@${String(resourceVersion)}${mark}`;
}

/** `400 BadRequest: …` */
export function errorTextOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, reason, message } = error.status;
    return `${code} ${reason}: ${message}`;
  }
  return 'none';
}
