// The feed of `reeve up`: turns answers, refusals and writes into events for its listeners, and writes events as text or JSON.
import { ownMember } from '../base/json.ts';
import { textsOf } from '../base/metadata.ts';
import type { RequestRecord } from '../sandbox/http/server.ts';
import type { UpObserver } from '../app/up.ts';
import type { DecisionRecord, DecisionKind } from '../admission/ports.ts';
import type { JsonPatchOperation } from '../policy/decide/mutate.ts';
import type { Place, WriteVerb } from '../reconcile/ports.ts';
import { styleText } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { clipped, escapedInQuotes } from '../base/text.ts';
import { cleanText } from './output/clean-text.ts';

export function observerFor(listen: Listener): UpObserver {
  return {
    decided: (record) => {
      const event = decisionEvent(record);
      if (event !== undefined) listen(event);
    },
    wrote: (verb, place) => listen({ type: 'written', verb, ...place }),
    failed: (place, reason) => listen({ type: 'not-written', ...place, reason }),
    held: (provider, count, limit) => listen({ type: 'held', owner: provider, count, limit }),
    repaired: (kind, found) => listen({ type: 'repaired', kind, found }),
    observer: {
      answered: (record) => {
        const message = refusalIn(record);
        const user = record.impersonatedUser ?? record.user ?? 'nobody';
        if (message !== undefined && !user.startsWith('system:')) listen({ type: 'refused', user, message });
      },
    },
  };
}

/** Matches a refusal by our webhook, which reports the refusal itself. */
const toldAlready = /^admission webhook "[a-z.]+\.reeve\.dev" denied /;
const reading = ['get', 'list', 'watch'];

/** Returns the message of a write that the API itself or another webhook refused. */
function refusalIn({ verb, code, answer }: RequestRecord): string | undefined {
  const message = ownMember(answer, 'message');
  if (code !== 403 || reading.includes(verb) || typeof message !== 'string') return undefined;
  return toldAlready.test(message) ? undefined : message;
}

/** The object of a write. */
interface Target {
  readonly operation: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export type FeedEvent =
  | (Target & {
      readonly type: 'decision';
      readonly decision: DecisionKind;
      readonly user: string;
      readonly isDryRun: boolean;
      readonly rules: readonly string[];
      /** The message for the user. Undefined when the request is allowed. */
      readonly refusal: string | undefined;
      readonly warnings: readonly string[];
      readonly additions: readonly Addition[];
    })
  | { readonly type: 'refused'; readonly user: string; readonly message: string }
  | (Place & { readonly type: 'written'; readonly verb: WriteVerb })
  | (Place & { readonly type: 'not-written'; readonly reason: string })
  | { readonly type: 'held'; readonly owner: string; readonly count: number; readonly limit: number }
  | { readonly type: 'repaired'; readonly kind: string; readonly found: readonly string[] };

export type Listener = (event: FeedEvent) => void;

/** A label or annotation that a default set. */
interface Addition {
  readonly path: string;
  readonly value: string;
}

/** Returns undefined for mutations without a change, and for allowed requests of controllers. */
export function decisionEvent(record: DecisionRecord): FeedEvent | undefined {
  const { endpoint, decision, user, explanation } = record;
  if (decision === 'allowed' && (endpoint === 'mutate' || user.startsWith('system:'))) return undefined;
  return {
    type: 'decision',
    decision,
    user,
    isDryRun: record.isDryRun,
    operation: record.operation,
    resource: record.resource,
    namespace: record.namespace,
    name: record.name,
    rules: [...new Set(record.rules.map(({ policy, rule }) => `${policy}: ${rule}`))],
    refusal: explanation.refusal,
    warnings: explanation.warnings,
    additions: explanation.patch.flatMap(additionsOf),
  };
}

/** If the object had no labels, the patch adds the whole map. */
function additionsOf({ path, value }: JsonPatchOperation): readonly Addition[] {
  const place = path.slice(1).split('/').map(unescaped);
  if (typeof value === 'string') return [{ path: place.slice(-2).join(' '), value }];
  return Object.entries(textsOf(value)).map(([key, text]) => ({
    path: `${place.at(-1) ?? ''} ${key}`,
    value: text,
  }));
}

/** https://www.rfc-editor.org/rfc/rfc6901#section-4 */
function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

// Writes events of the feed as text, with colors on a terminal, or as JSON.

export type Paint = (color: Color, text: string) => string;
type Color = 'red' | 'green' | 'yellow' | 'cyan' | 'bold' | 'dim';

export const plain: Paint = (_, text) => text;
export const colored: Paint = (color, text) => styleText(color, text, { validateStream: false });

export function textFeed(write: (text: string) => void, clock: Pick<Clock, 'now'>, paint: Paint): Listener {
  return (event) => write(feedText(event, clock.now(), paint));
}

export function jsonFeed(write: (text: string) => void, clock: Pick<Clock, 'now'>): Listener {
  return (event) =>
    write(`${escapedInQuotes(JSON.stringify({ time: clock.now().toISOString(), ...event }))}\n`);
}

interface FeedLine {
  readonly color: Color;
  readonly word: string;
  readonly text: string;
  /** More lines, which are printed below. */
  readonly more: readonly string[];
}

const wordWidth = 10;
const timeWidth = 10;
/** Longer than any line of the feed. */
const maxCharacters = 10_000;

/** Returns one line, and below it the details, indented. */
export function feedText(event: FeedEvent, time: Date, paint: Paint): string {
  const { color, word, text, more } = printable(feedLine(event));
  const first = `${paint('dim', clockTime(time))}  ${paint(color, word.padEnd(wordWidth))} ${text}`;
  const indent = ' '.repeat(timeWidth + wordWidth + 1);
  return [first, ...more.map((line) => `${indent}${line}`)].map((line) => `${line}\n`).join('');
}

function printable({ text, more, ...rest }: FeedLine): FeedLine {
  return { ...rest, text: printableLine(text), more: more.map(printableLine) };
}

/** Keeps names and texts of requests from moving the cursor, looking like lines of the feed, or giving orders to a pipeline. */
function printableLine(line: string): string {
  return cleanText(clipped(line, maxCharacters), { isColored: false, givesCommands: false });
}

function feedLine(event: FeedEvent): FeedLine {
  switch (event.type) {
    case 'decision':
      return decisionLine(event);
    case 'refused':
      return {
        color: 'red',
        word: 'refused',
        text: `${event.user}: by the API server`,
        more: event.message.split('\n'),
      };
    case 'written':
      return {
        color: 'cyan',
        word: past[event.verb],
        text: `${placeText(event)}, for ${event.owner}`,
        more: [],
      };
    case 'not-written':
      return {
        color: 'yellow',
        word: 'failed',
        text: `${placeText(event)}, for ${event.owner}`,
        more: [event.reason],
      };
    case 'held': {
      const text = `${event.count} deletions for ${event.owner} wait: more than ${event.limit} want a confirmation`;
      return { color: 'yellow', word: 'held', text, more: [] };
    }
    case 'repaired': {
      const text = `${event.kind} reeve, which others had changed`;
      return { color: 'yellow', word: 'repaired', text, more: event.found };
    }
  }
}

const past = {
  create: 'created',
  update: 'updated',
  replace: 'replaced',
  delete: 'deleted',
  release: 'released',
} as const;

type Decision = Extract<FeedEvent, { readonly type: 'decision' }>;

function decisionLine(event: Decision): FeedLine {
  const suffix = event.isDryRun ? ' (dry run)' : '';
  const text = `${event.user}: ${event.operation.toLowerCase()} ${targetText(event)}${suffix}`;
  const warnings = event.warnings.map((warning) => `warning: ${warning}`);
  switch (event.decision) {
    case 'allowed':
      return { color: 'green', word: 'allowed', text, more: warnings };
    case 'mutated': {
      const more = event.additions.map(({ path, value }) => `${path} = ${value}`);
      return { color: 'green', word: 'defaulted', text, more };
    }
    case 'denied':
      return {
        color: 'red',
        word: 'refused',
        text,
        more: [...(event.refusal ?? '').split('\n'), ...warnings],
      };
    case 'malformed':
    case 'unavailable':
    case 'error':
      return { color: 'red', word: event.decision, text, more: (event.refusal ?? '').split('\n') };
  }
}

function targetText({ resource, namespace, name }: Decision): string {
  const isOwnNamespace = namespace === '' || resource.startsWith('namespaces');
  return `${resource} ${isOwnNamespace ? name : `${namespace}/${name}`}`;
}

function placeText({
  kind,
  namespace,
  name,
}: {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}): string {
  return `${kind} ${namespace}/${name}`;
}

function clockTime(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
