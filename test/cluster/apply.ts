// Applies objects as `kubectl apply` does, in this process: a run of kubectl costs more than all requests that it sends.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import type { KubectlOptions } from '../support/kubectl.ts';
import type { ProgramOutput } from '../support/run-program.ts';
import type { Answer } from './admin-client.ts';
import type { ClusterAccess } from './cluster-access.ts';

/** https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/#how-apply-calculates-differences-and-merges-changes */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** A namespaced object names its namespace. */
export interface AppliedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface Applying {
  readonly who: KubectlOptions;
  readonly isDryRun: boolean;
}

type Send = (method: string, path: string, body?: unknown, type?: string) => Promise<Answer>;

/** Returns what kubectl prints to its standard error: the warnings and the refusals. */
export async function applyAll(
  cluster: ClusterAccess,
  objects: readonly AppliedObject[],
  { who, isDryRun }: Applying,
): Promise<ProgramOutput> {
  if (who.kubeconfig !== cluster.kubeconfig) throw new Error('only the administrator can act as other users');
  const query = `?fieldManager=kubectl-client-side-apply&fieldValidation=Strict${isDryRun ? '&dryRun=All' : ''}`;
  const send: Send = async (method, path, body, type) =>
    await cluster.admin.send(method, method === 'GET' ? path : `${path}${query}`, body, {
      ...headersOf(who),
      ...(type === undefined ? {} : { 'content-type': type }),
    });
  const warnings = new Set<string>();
  const refusals: string[] = [];
  for (const object of objects) {
    const answer = await applyOne(send, object);
    for (const warning of answer.warnings) warnings.add(`Warning: ${warning}\n`);
    if (answer.status >= 300) refusals.push(refusalIn(answer.body));
  }
  return { code: refusals.length === 0 ? 0 : 1, stdout: '', stderr: [...warnings, ...refusals].join('') };
}

/** Returns the headers with which the administrator acts as this user. */
export function headersOf({ as, asGroup = [] }: KubectlOptions): Record<string, string | string[]> {
  return {
    ...(as === undefined ? {} : { 'impersonate-user': as }),
    ...(asGroup.length === 0 ? {} : { 'impersonate-group': [...asGroup] }),
  };
}

async function applyOne(send: Send, object: AppliedObject): Promise<Answer> {
  const path = pathOf(object);
  const wanted = marked(object);
  const found = await send('GET', path);
  if (found.status === 404) return await send('POST', path.slice(0, path.lastIndexOf('/')), wanted);
  if (found.status !== 200 || !isJsonObject(found.body)) return found;
  const patch = mergePatch(earlierOf(found.body), wanted, found.body);
  if (Object.keys(patch).length === 0) return found;
  return await send('PATCH', path, patch, 'application/merge-patch+json');
}

/** The plural of each kind that tests write follows from its name. */
function pathOf({ apiVersion, kind, metadata: { name, namespace } }: AppliedObject): string {
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
  const place = namespace === undefined ? plural : `namespaces/${namespace}/${plural}`;
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${place}/${name}`;
}

function marked(object: AppliedObject): JsonObject {
  const annotations = { ...object.metadata.annotations };
  const text = JSON.stringify({ ...object, metadata: { ...object.metadata, annotations } });
  const written = JSON.parse(text) as AppliedObject;
  const marks = { ...written.metadata.annotations, [lastApplied]: `${text}\n` };
  return { ...written, metadata: { ...written.metadata, annotations: marks } };
}

function earlierOf(live: JsonObject): JsonObject {
  const { annotations } = live['metadata'] as { readonly annotations?: Readonly<Record<string, string>> };
  const text = annotations?.[lastApplied];
  return text === undefined ? {} : (JSON.parse(text) as JsonObject);
}

/** Sets what differs from `wanted`, and removes what only `earlier` has. Lists are replaced as a whole. */
function mergePatch(earlier: JsonObject, wanted: JsonObject, live: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(wanted)) {
    const [before, now] = [earlier[key], live[key]];
    if (isJsonObject(value) && isJsonObject(now)) {
      const inner = mergePatch(isJsonObject(before) ? before : {}, value, now);
      if (Object.keys(inner).length > 0) patch[key] = inner;
    } else if (!isDeepStrictEqual(value, now)) patch[key] = value;
  }
  for (const key of Object.keys(earlier))
    if (!Object.hasOwn(wanted, key) && Object.hasOwn(live, key)) patch[key] = null;
  return patch;
}

function refusalIn(body: unknown): string {
  const { reason = '', message } = body as { readonly reason?: string; readonly message?: string };
  return `Error from server (${reason}): ${message ?? JSON.stringify(body)}\n`;
}
