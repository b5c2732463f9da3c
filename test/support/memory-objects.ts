// What a cluster in memory knows of kinds, errors and watches.
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../../src/base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../src/base/metadata.ts';
import type { WatchSink } from '../../src/base/watch-sink.ts';
import { kubeErrorOfAnswer } from '../../src/kube/http/answers.ts';
import { ApiError } from '../../src/sandbox/api-error.ts';
import { kindDefinitions } from '../../src/api/kinds.ts';
import { customResource } from '../../src/sandbox/kinds/custom-kinds.ts';
import { define } from '../../src/sandbox/kinds/define.ts';
import { kindsServedFrom } from '../../src/sandbox/kinds/served-kinds.ts';
import { apiVersionOf, type Kinds, type Resource } from '../../src/sandbox/resource.ts';
import { MemoryStore } from '../../src/sandbox/store.ts';

type ObjectType = Pick<ObjectRef, 'apiVersion' | 'kind'>;

/** The kinds of the sandbox, with any content in those of Reeve, and every other kind that a test names. */
export class MemoryKinds implements Kinds {
  readonly #kinds = new Map(
    [
      ...kindDefinitions.map((each) => lenient(customResource(each))),
      ...kindsServedFrom(new MemoryStore(), []).all(),
    ].map((one) => [one.kind, one]),
  );

  all(): readonly Resource[] {
    return [...this.#kinds.values()];
  }

  find(_group: string, _version: string, plural: string): Resource | undefined {
    return this.all().find((kind) => kind.plural === plural);
  }

  ofKind(_apiVersion: string, kind: string): Resource | undefined {
    return this.#kinds.get(kind);
  }

  of({ apiVersion, kind }: ObjectType): Resource {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    const found = define(group, kind, { description: '', version, isOpen: true });
    this.#kinds.set(kind, found);
    return found;
  }

  named(plural: string): ObjectType {
    const found = this.find('', '', plural);
    if (found === undefined) throw new Error(`no kind is called ${plural}`);
    return { apiVersion: apiVersionOf(found), kind: found.kind };
  }
}

/** Tests also store policies that the schema of the real API server refuses. */
function lenient(kind: Resource): Resource {
  return { ...kind, rules: { prepare: withGeneration, problems: () => [] } };
}

/** The generation counts the changes of the spec. */
function withGeneration(object: KubeObject, stored: KubeObject | undefined): KubeObject {
  const before = Number(stored?.metadata['generation'] ?? 0);
  const isSame = isDeepStrictEqual(object['spec'], stored?.['spec']);
  return { ...object, metadata: { ...object.metadata, generation: isSame ? before : before + 1 } };
}

export function asKubeError(error: unknown, { kind }: ObjectRef): unknown {
  if (!(error instanceof ApiError)) return error;
  const body = Buffer.from(JSON.stringify(error.body));
  return kubeErrorOfAnswer(error.status.code, {}, body, kind === 'Secret');
}

/** A 403 is a missing right. */
export function failure(code: number, causes: readonly string[] = [], retryAfterMs?: number): KubeError {
  const reasons: Record<number, string> = {
    403: 'Forbidden',
    404: 'NotFound',
    409: 'Conflict',
    422: 'Invalid',
  };
  return new KubeError({
    code,
    reason: reasons[code] ?? 'InternalError',
    causes,
    ...(code === 403 ? { refusal: { by: 'rights', name: 'patch something' } } : {}),
    retryable: code === 0 || code === 429 || code >= 500,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

export function refTo({
  apiVersion = '',
  kind = '',
  metadata: { namespace, name = '' },
}: KubeObject): ObjectRef {
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

export interface MemoryWatch {
  readonly type: { readonly apiVersion: string; readonly kind: string };
  readonly namespace?: string;
  readonly name?: string;
  readonly metadataOnly?: boolean;
  readonly sink: WatchSink;
}

/** Returns whether the watch reports this object. */
export function covers({ type, namespace, name }: MemoryWatch, object: KubeObject): boolean {
  return (
    object.kind === type.kind &&
    object.apiVersion === type.apiVersion &&
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (name === undefined || object.metadata.name === name)
  );
}

/** Returns the object as the watch shows it. */
export function shown({ metadataOnly = false }: MemoryWatch, object: KubeObject): KubeObject {
  if (!metadataOnly) return object;
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata };
}
