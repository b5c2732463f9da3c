// Reads the body of a request, an object or a patch, as JSON, YAML or protobuf.
import type { IncomingMessage } from 'node:http';
import { parseYaml } from '../../base/yaml.ts';
import { ApiError, badRequestError } from '../api-error.ts';
import type { ObjectRequest, PatchType } from '../request.ts';
import { readProtobuf } from './protobuf.ts';

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

/** Reads a body that is too large to its end and drops it: a client that still sends would not read the answer. */
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
