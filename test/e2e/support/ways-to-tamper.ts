// All requests that can change, create or remove an object: verbs, types of patches, subresources.
import type { ApiObject } from '../../contract/support/answers.ts';
import type { Api, Reply } from '../../contract/support/api.ts';

export const changes = ['put', 'json-patch', 'merge-patch', 'strategic-patch', 'apply'] as const;
export const statusChanges = changes.map((way) => `${way}/status` as const);
/** The API server serves no other patch of this subresource. */
export const finalizeChanges = ['put/finalize', 'merge-patch/finalize'] as const;
export const creations = ['create', 'create/generate-name', 'create/forged-name', 'create/apply'] as const;
export const removals = ['delete', 'delete-collection'] as const;

type Write = (typeof changes)[number];
type Change = Write | (typeof statusChanges)[number] | (typeof finalizeChanges)[number];
export type Way = Change | (typeof creations)[number] | (typeof removals)[number];

export const ways: readonly Way[] = [
  ...changes,
  ...statusChanges,
  ...finalizeChanges,
  ...creations,
  ...removals,
];

export interface Tampering {
  /** The object as stored. */
  readonly object: ApiObject;
  /** The path of the collection to which the object belongs. */
  readonly collection: string;
  readonly path: readonly string[];
  readonly value: unknown;
  /** The field manager of an apply. It must differ from the manager whose fields the apply takes over. */
  readonly manager?: string;
}

/** Sends the request once. With `dryRun`, nothing is stored. */
export async function tamper(api: Api, way: Way, tampering: Tampering, dryRun: boolean): Promise<Reply> {
  const query = dryRun ? 'dryRun=All' : '';
  const { collection, object } = tampering;
  switch (way) {
    case 'create':
      return await api.create(
        `${collection}?${query}`,
        newObject(tampering, { name: `${nameOf(object)}-new` }),
      );
    case 'create/generate-name':
      return await api.create(
        `${collection}?${query}`,
        newObject(tampering, { generateName: prefixOf(object) }),
      );
    case 'create/forged-name':
      return await api.create(
        `${collection}?${query}`,
        forged(newObject(tampering, { generateName: prefixOf(object) })),
      );
    case 'create/apply': {
      const name = `${nameOf(object)}-new`;
      return await api.apply(
        `${collection}/${name}`,
        newObject(tampering, { name }),
        applyQuery(tampering, query),
      );
    }
    case 'delete':
      return await api.delete(`${collection}/${nameOf(object)}?${query}`);
    case 'delete-collection':
      return await api.delete(`${collection}?fieldSelector=metadata.name%3D${nameOf(object)}&${query}`);
    default:
      return await change(api, way, tampering, query);
  }
}

async function change(api: Api, way: Change, tampering: Tampering, query: string): Promise<Reply> {
  const { object, collection, path, value } = tampering;
  const [type, subresource = ''] = way.split('/') as [Write, string?];
  const target = [collection, nameOf(object), ...(subresource === '' ? [] : [subresource])].join('/');
  const address = `${target}?${query}`;
  switch (type) {
    case 'put':
      return await api.replace(address, submitted(withValue(object, path, value)));
    case 'json-patch':
      return await api.patch(address, 'json', [addition(object, path, value)]);
    case 'merge-patch':
      return await api.patch(address, 'merge', nested(path, value));
    case 'strategic-patch':
      return await api.patch(address, 'strategic', nested(path, value));
    case 'apply': {
      const { apiVersion, kind, metadata } = object;
      const { name, namespace } = metadata;
      const identity = { apiVersion, kind, metadata: { name, namespace } };
      return await api.apply(target, withValue(identity, path, value), applyQuery(tampering, query));
    }
    default:
      return type satisfies never;
  }
}

function applyQuery({ manager = 'somebody' }: Tampering, query: string): string {
  return `fieldManager=${manager}&force=true&${query}`;
}

/** Returns a new object of the same kind with the value. */
function newObject({ object, path, value }: Tampering, name: object): object {
  const { metadata, status: _status, ...rest } = object;
  return withValue({ ...rest, metadata: { ...name, namespace: metadata.namespace } }, path, value);
}

/** Forges the name label. The mutating webhook is selected by it, because the API server has not set the real one yet. */
function forged(object: object): object {
  return withValue(object, ['metadata', 'labels', 'kubernetes.io/metadata.name'], 'kube-system');
}

function submitted(object: object): object {
  const { metadata, ...rest } = object as ApiObject;
  const { managedFields: _managedFields, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function nameOf({ metadata }: ApiObject): string {
  return metadata.name;
}

function prefixOf(object: ApiObject): string {
  return `${nameOf(object)}-`;
}

function nested([key, ...rest]: readonly string[], value: unknown): unknown {
  return key === undefined ? value : { [key]: nested(rest, value) };
}

function withValue(object: object, [key = '', ...rest]: readonly string[], value: unknown): object {
  const below = memberOf(object, key);
  return { ...object, [key]: rest.length === 0 ? value : withValue(below ?? {}, rest, value) };
}

/** Adds all missing parents of the value, which a JSON patch does not create by itself. */
function addition(object: object, path: readonly string[], value: unknown): object {
  let below: object | undefined = object;
  let depth = 0;
  while (depth < path.length - 1) {
    below = memberOf(below, path[depth] ?? '');
    if (below === undefined) break;
    depth += 1;
  }
  const pointer = path
    .slice(0, depth + 1)
    .map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return { op: 'add', path: pointer.join(''), value: nested(path.slice(depth + 1), value) };
}

function memberOf(object: object, key: string): object | undefined {
  const member: unknown = Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
  return typeof member === 'object' && member !== null ? member : undefined;
}
