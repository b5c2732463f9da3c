// Reads the body of a request, an object or a patch, as JSON, YAML or protobuf.
import type { IncomingMessage } from 'node:http';
import { parseYaml } from '../../base/yaml.ts';
import { ApiError, badRequestError } from '../api-error.ts';
import type { ObjectRequest, PatchType } from '../resource.ts';
import type { JsonObject } from '../../base/json.ts';

/** The limit of the API server: https://pkg.go.dev/k8s.io/apiserver/pkg/server#Config (MaxRequestBodyBytes) */
const maxBytes = 3 * 1024 * 1024;

const jsonType = 'application/json';
const protobufType = 'application/vnd.kubernetes.protobuf';
const objectTypes = [jsonType, 'application/yaml', protobufType];
const patchTypes = new Map<string, PatchType>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/apply-patch+yaml', 'apply'],
  ['application/strategic-merge-patch+json', 'strategic'],
]);

type Body = Pick<ObjectRequest, 'body' | 'patchType'>;

export async function readRequestBody(
  request: IncomingMessage,
  verb: string,
  isCustom = false,
): Promise<Body> {
  if (/^(get|list|watch)$/.test(verb)) return { body: undefined, patchType: undefined };
  const [media = ''] = (request.headers['content-type'] ?? jsonType).toLowerCase().split(/\s*;/);
  // Custom kinds have no strategic merge patch.
  const ofPatches = [...patchTypes.keys()].slice(0, isCustom ? -1 : undefined);
  const known = verb === 'patch' ? ofPatches : objectTypes;
  if (!known.includes(media)) {
    const message = `the body of the request was in an unknown format - accepted media types include: ${known.join(', ')}`;
    throw new ApiError({ code: 415, reason: 'UnsupportedMediaType', message });
  }
  const patchType = patchTypes.get(media);
  const bytes = await bytesOf(request);
  if (bytes.length === 0 && verb.startsWith('delete')) return { body: undefined, patchType };
  if (media === protobufType) return { body: readProtobuf(bytes), patchType };
  const body = parsed(bytes.toString(), media.endsWith('yaml'));
  if (isDeep(body)) throw badRequestError('the body of the request is nested too deeply');
  return { body, patchType };
}

/** Reads a body that is too large to its end and drops it, because a client that still sends would not read the answer. */
async function bytesOf(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  if (size <= maxBytes) return Buffer.concat(chunks);
  const message = `Request entity too large: limit is ${maxBytes}`;
  throw new ApiError({ code: 413, reason: 'RequestEntityTooLarge', message });
}

/** Deeper than any object of Kubernetes, and far below the limit of the stack. */
const deepest = 200;

function isDeep(body: unknown): boolean {
  let level: readonly unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return true;
    level = level.flatMap(membersOf);
  }
  return false;
}

function membersOf(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

/** Most bodies of type YAML are JSON. The parsers' own messages would quote the body, so they are not passed on. */
function parsed(text: string, isYaml: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (isYaml) return parsedYaml(text);
    throw badRequestError('the body of the request is not JSON');
  }
}

function parsedYaml(text: string): unknown {
  const [document, ...more] = parseYaml(text).documents;
  if (more.length > 0) throw badRequestError('the body of the request is more than one YAML document');
  if (document?.kind === 'data') return document.value;
  const faults = document?.kind === 'broken' ? document.problems : [];
  const texts = faults.map(({ line, message }) => `: line ${line}: ${message}`);
  throw badRequestError(`the body of the request is not YAML${texts.join('')}`);
}

// Reads the protobuf bodies of `kubectl create` and `kubectl auth`, and of Go clients for the same kinds.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
// https://protobuf.dev/programming-guides/encoding/

/**
 * Lists fields in the order of their numbers: `name:[]Type`. The default type is text. `-` skips a field that the
 * server sets itself, such as times and status. https://github.com/kubernetes/api (generated.proto)
 */
const messages: Readonly<Record<string, string>> = {
  Namespace: 'metadata:Meta spec:NamespaceSpec',
  Secret: 'metadata:Meta data:{}bytes type stringData:{} immutable:bool',
  ConfigMap: 'metadata:Meta data:{} binaryData:{}bytes immutable:bool',
  ServiceAccount:
    'metadata:Meta secrets:[]Reference imagePullSecrets:[]Local automountServiceAccountToken:bool',
  ResourceQuota: 'metadata:Meta spec:QuotaSpec',
  Role: 'metadata:Meta rules:[]PolicyRule',
  ClusterRole: 'metadata:Meta rules:[]PolicyRule aggregationRule:AggregationRule',
  RoleBinding: 'metadata:Meta subjects:[]Subject roleRef:RoleRef',
  ClusterRoleBinding: 'metadata:Meta subjects:[]Subject roleRef:RoleRef',
  SelfSubjectAccessReview: 'metadata:Meta spec:AccessReviewSpec',
  SelfSubjectRulesReview: 'metadata:Meta spec:RulesReviewSpec',
  SelfSubjectReview: 'metadata:Meta',
  TokenRequest: 'metadata:Meta spec:TokenRequestSpec',
  DeleteOptions:
    'gracePeriodSeconds:int preconditions:Preconditions orphanDependents:bool propagationPolicy dryRun:[]',
  Meta:
    'name generateName namespace - uid resourceVersion - - - - labels:{} annotations:{} ' +
    'ownerReferences:[]OwnerReference finalizers:[]',
  OwnerReference: 'kind - name uid apiVersion controller:bool blockOwnerDeletion:bool',
  Preconditions: 'uid resourceVersion',
  NamespaceSpec: 'finalizers:[]',
  Reference: 'kind namespace name uid apiVersion resourceVersion fieldPath',
  Local: 'name',
  QuotaSpec: 'hard:{}Quantity scopes:[] scopeSelector:ScopeSelector',
  ScopeSelector: 'matchExpressions:[]ScopeRequirement',
  ScopeRequirement: 'scopeName operator values:[]',
  PolicyRule: 'verbs:[] apiGroups:[] resources:[] resourceNames:[] nonResourceURLs:[]',
  AggregationRule: 'clusterRoleSelectors:[]LabelSelector',
  LabelSelector: 'matchLabels:{} matchExpressions:[]Requirement',
  Requirement: 'key operator values:[]',
  Subject: 'kind apiGroup name namespace',
  RoleRef: 'apiGroup kind name',
  AccessReviewSpec: 'resourceAttributes:ResourceAttributes nonResourceAttributes:PathAttributes',
  ResourceAttributes: 'namespace verb group version resource subresource name',
  PathAttributes: 'path verb',
  RulesReviewSpec: 'namespace',
  TokenRequestSpec: 'audiences:[] - - expirationSeconds:int',
};

const fieldsByType = new Map(
  Object.entries(messages).map(([type, text]) => [type, text.split(' ').map(field)]),
);

type Field = ReturnType<typeof field>;

function field(text: string) {
  const [, name = '', many = '', type] = /^([\w-]+):?(\[\]|\{\})?(\w*)$/.exec(text) ?? [];
  return { name, many, type: type || 'text' };
}

const magic = Buffer.from('k8s\0');
const nothing = Buffer.alloc(0);
/** The limit for one body. Each part takes far more memory than its two bytes. */
const maxParts = 100_000;

/** `number` holds a varint; `bytes` holds a value with a length: a text, bytes or a message. */
interface Part {
  readonly id: number;
  readonly number: number;
  readonly bytes: Buffer;
}

/** Returns the object as JSON would have sent it. */
export function readProtobuf(bytes: Buffer): JsonObject {
  if (!bytes.subarray(0, magic.length).equals(magic)) throw unreadable('it does not begin as one');
  return new Reader().object(bytes.subarray(magic.length));
}

function unreadable(why: string): ApiError {
  return badRequestError(`the body of the request is no Kubernetes object in protobuf: ${why}`);
}

class Reader {
  #partsLeft = maxParts;

  object(bytes: Buffer): JsonObject {
    const [type, object] = this.#pair(bytes);
    const [apiVersion = '', kind = ''] = this.#pair(type).map(String);
    if (fieldsByType.has(kind)) return { apiVersion, kind, ...this.#message(kind, object) };
    const message = 'the sandbox reads objects of this kind in JSON and YAML, not in protobuf';
    throw new ApiError({ code: 415, reason: 'UnsupportedMediaType', message });
  }

  /** Skips unknown fields, as the API server does. No message contains itself, so the recursion ends. */
  #message(type: string, bytes: Buffer): JsonObject {
    const found = Map.groupBy(this.#parts(bytes), ({ id }) => id);
    const members = (fieldsByType.get(type) ?? []).flatMap((member, index) => {
      const parts = found.get(index + 1);
      const value = parts === undefined || member.name === '-' ? '' : this.#member(member, parts);
      // Go sends the empty texts that JSON leaves out.
      return value === '' ? [] : [[member.name, value] as const];
    });
    return Object.fromEntries(members);
  }

  #member({ many, type }: Field, parts: readonly Part[]): unknown {
    if (many === '[]') return parts.map((part) => this.#single(type, part));
    if (many === '') return parts.map((part) => this.#single(type, part)).at(-1);
    const entries = parts.map(({ bytes }) => this.#pair(bytes));
    return Object.fromEntries(
      entries.map(([key, value]) => [key.toString(), this.#single(type, { number: 0, bytes: value })]),
    );
  }

  /** Returns the parts 1 and 2. Envelopes, their types and the entries of maps have only these. */
  #pair(bytes: Buffer): readonly [Buffer, Buffer] {
    const found = new Map(Array.from(this.#parts(bytes), (part) => [part.id, part.bytes]));
    return [found.get(1) ?? nothing, found.get(2) ?? nothing];
  }

  #single(type: string, { number, bytes }: Omit<Part, 'id'>): unknown {
    switch (type) {
      case 'int':
        return number;
      case 'bool':
        return number !== 0;
      case 'text':
        return bytes.toString();
      case 'bytes':
        return bytes.toString('base64');
      case 'Quantity':
        return this.#pair(bytes)[0].toString() || '0';
      default:
        return this.#message(type, bytes);
    }
  }

  /** Checks every length before use. These kinds have no fields of fixed length. */
  *#parts(bytes: Buffer): Generator<Part, undefined> {
    let at = 0;
    const take = (length: number): Buffer => {
      if (length < 0 || length > bytes.length - at) throw unreadable('it ends too early');
      at += length;
      return bytes.subarray(at - length, at);
    };
    const varint = (): number => {
      let value = 0n;
      for (let shift = 0n; shift < 64n; shift += 7n) {
        const [byte = 0] = take(1);
        value |= BigInt(byte & 0x7f) << shift;
        // A negative number uses all 64 bits.
        if (byte < 0x80) return Number(BigInt.asIntN(64, value));
      }
      throw unreadable('a number is longer than 64 bits');
    };
    while (at < bytes.length) {
      this.#partsLeft -= 1;
      if (this.#partsLeft < 0) throw unreadable('it has too many parts');
      const tag = varint();
      const id = Math.floor(tag / 8);
      if (tag % 8 === 0) yield { id, number: varint(), bytes: nothing };
      else if (tag % 8 === 2) yield { id, number: 0, bytes: take(varint()) };
      else throw unreadable('a field is of an unknown wire type');
    }
  }
}
