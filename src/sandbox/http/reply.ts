// Chooses the form of an answer and writes it: a JSON or YAML document, a text, or the events of a watch.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { JsonObject } from '../../base/json.ts';
import { stringifyYaml } from '../../base/yaml.ts';
import { ApiError } from '../api-error.ts';

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
export type Form = 'plain' | OtherForm;

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
