// Chooses the form of an answer and writes it: a JSON or YAML document, a text, or the events of a watch.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { JsonObject } from '../../base/json.ts';
import { stringifyYaml } from '../../base/yaml.ts';
import { ApiError } from '../api-error.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { apiVersionOf, withType, type Resource } from '../resource.ts';
import type { ObjectAnswer, ObjectList, SandboxWatchEvent } from '../read/read.ts';

export type Reply = { readonly code: number; readonly headers?: Readonly<Record<string, string>> } & (
  | { readonly kind: 'json'; readonly body: JsonObject }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'watch'; readonly events: AsyncIterable<JsonObject> }
);

interface Delivery {
  readonly response: ServerResponse;
  readonly isYaml: boolean;
  readonly warnings: ReadonlySet<string>;
  readonly onError: (error: unknown) => void;
}

export function errorReply(error: unknown): Reply {
  const { status, body } = apiErrorOf(error);
  const seconds = status.details?.retryAfterSeconds;
  const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
  return { kind: 'json', code: status.code, body, headers };
}

/** Hides the cause of an internal error from the client. */
function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError({ code: 500, reason: 'InternalError', message: 'Internal error occurred' });
}

export async function send(reply: Reply, delivery: Delivery): Promise<void> {
  const { response, warnings } = delivery;
  const [type, text] = contentOf(reply, delivery.isYaml);
  response.writeHead(reply.code, {
    'Content-Type': type,
    'Cache-Control': 'no-cache, private',
    ...(warnings.size === 0 ? {} : { Warning: warningHeaders(warnings) }),
    ...reply.headers,
  });
  // As bytes: Node would encode the head together with a text and damage the warnings.
  if (reply.kind !== 'watch') return void response.end(Buffer.from(text));
  response.flushHeaders();
  // Most watches end when the client disconnects; that is not an error.
  await pipeline(lines(reply.events, delivery.onError), response).catch(() => undefined);
}

function contentOf(reply: Reply, isYaml: boolean): readonly [string, string] {
  if (reply.kind === 'text') return ['text/plain; charset=utf-8', reply.text];
  if (reply.kind === 'watch') return ['application/json', ''];
  if (isYaml) return ['application/yaml', stringifyYaml(reply.body)];
  return ['application/json', `${JSON.stringify(reply.body)}\n`];
}

async function* lines(
  events: AsyncIterable<JsonObject>,
  faulted: (error: unknown) => void,
): AsyncGenerator<string> {
  try {
    for await (const event of events) yield `${JSON.stringify(event)}\n`;
  } catch (error) {
    if (!(error instanceof ApiError)) faulted(error);
    yield `${JSON.stringify({ type: 'ERROR', object: apiErrorOf(error).body })}\n`;
  }
}

/**
 * Cuts warnings that are too long together:
 * https://pkg.go.dev/k8s.io/apiserver/pkg/endpoints/filters#WithWarningRecorder
 */
function warningHeaders(warnings: ReadonlySet<string>): string[] {
  const texts = [...warnings].map((text) => text.replaceAll(/\p{Cc}+/gu, ' ').trim());
  const isMuch = texts.join('').length > 4096;
  return (isMuch ? texts.slice(0, 16).map((text) => text.slice(0, 256)) : texts).map(warningHeader);
}

/** https://www.rfc-editor.org/rfc/rfc7234#section-5.5 */
function warningHeader(text: string): string {
  const quoted = `299 - "${text.toWellFormed().replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  // Node writes one byte for each character of a header; Kubernetes sends UTF-8.
  return Buffer.from(quoted).toString('latin1');
}

type OtherForm = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList';
type Form = 'plain' | OtherForm;

const homes = ['meta.k8s.io/v1', 'apidiscovery.k8s.io/v2'];
const ours = ['application/json', 'application/*', '*/*', 'application/yaml'];

/** Returns the first form that the client accepts and the server offers. */
export function acceptedForm(accept: string | undefined, offered: readonly OtherForm[]): Form {
  for (const clause of (accept === undefined || accept === '' ? '*/*' : accept).split(',')) {
    const [media = '', ...parameters] = clause.split(';').map((text) => text.trim());
    const given = new URLSearchParams(parameters.join('&'));
    const isHome = homes.includes(`${given.get('g')}/${given.get('v')}`);
    const form = offered.find((name) => isHome && name === given.get('as'));
    if (ours.includes(media) && (form !== undefined || !given.has('as'))) return form ?? 'plain';
  }
  const message = 'only the following media types are accepted: application/json, application/yaml';
  throw new ApiError({ code: 406, reason: 'NotAcceptable', message });
}

// Shows an answer in the form that the client accepts: the object, a table, or the metadata alone.

interface View {
  readonly resource: Resource;
  readonly form: Form;
  /** Which part of its object each row of a table holds: `Object`, `None`, or the metadata by default. */
  readonly included: string;
}

const metaVersion = 'meta.k8s.io/v1';

export function replyOf(answer: ObjectAnswer, view: View): Reply {
  switch (answer.kind) {
    case 'object': {
      const { code, object } = answer;
      // A Status or a token is not an object of the kind and has only one form.
      const isOfKind = object['kind'] === view.resource.kind;
      return {
        kind: 'json',
        code,
        body: isOfKind ? objectView(withType(view.resource, object), view) : object,
      };
    }
    case 'list':
      return { kind: 'json', code: 200, body: listView(answer, view) };
    case 'watch':
      return { kind: 'watch', code: 200, events: eventViews(answer.events, view) };
  }
}

function objectView(object: KubeObject, view: View): JsonObject {
  if (view.form === 'plain') return object;
  if (view.form !== 'Table') return metadataOf(object);
  return table([object], { resourceVersion: object.metadata['resourceVersion'] }, view);
}

function listView({ items, resourceVersion }: ObjectList, view: View): JsonObject {
  const metadata = { resourceVersion };
  if (view.form === 'Table') return table(items, metadata, view);
  if (view.form !== 'plain') {
    return { kind: view.form, apiVersion: metaVersion, metadata, items: items.map(metadataOf) };
  }
  const { resource } = view;
  // In lists of built-in kinds, the items have no kind and apiVersion.
  const listed = resource.isCustom ? items : items.map(({ kind: _kind, apiVersion: _of, ...rest }) => rest);
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items: listed };
}

function metadataOf({ metadata }: KubeObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: metaVersion, metadata };
}

async function* eventViews(events: AsyncIterable<SandboxWatchEvent>, view: View): AsyncGenerator<JsonObject> {
  // Only the first table of a watch names its columns.
  let columns: JsonObject = {};
  for await (const { type, object } of events) {
    yield { type, object: type === 'ERROR' ? object : { ...eventView({ type, object }, view), ...columns } };
    if (type === 'ERROR') return;
    if (view.form === 'Table') columns = { columnDefinitions: null };
  }
}

/** A bookmark has no row. */
function eventView({ type, object }: SandboxWatchEvent, view: View): JsonObject {
  const hasNoRow = type === 'BOOKMARK' && view.form === 'Table';
  return hasNoRow ? table([], object.metadata, view) : objectView(object, view);
}

function table(objects: readonly KubeObject[], metadata: JsonObject, view: View): JsonObject {
  const name = { name: 'Name', type: 'string', format: 'name', description: 'The name.', priority: 0 };
  const columns = view.resource.columns.map(({ cell: _cell, ...column }) => ({ format: '', ...column }));
  const rows = objects.map((object) => {
    const part = view.included === 'Object' ? object : metadataOf(object);
    return { cells: cells(object, view), object: view.included === 'None' ? null : part };
  });
  return { kind: 'Table', apiVersion: metaVersion, metadata, columnDefinitions: [name, ...columns], rows };
}

function cells(object: KubeObject, { resource }: View): readonly unknown[] {
  const values = resource.columns.map(({ cell, type }) => {
    const value = cell(object);
    // Custom kinds show an empty cell for a missing value.
    if (value === '' && resource.isCustom) return null;
    return type === 'date' ? ageOf(value, new Date()) : value;
  });
  return [object.metadata.name, ...values];
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** Returns the age as `5s`, `3m` or `2d`, in the largest unit that fits at least twice. */
export function ageOf(time: unknown, now: Date): string {
  const then = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(then)) return '<unknown>';
  const seconds = Math.max(0, Math.trunc((now.getTime() - then) / 1000));
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.floor(seconds / length)}${unit}`;
}
