// Writes events of the feed as text, with colors on a terminal, or as JSON.
import { styleText } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { clipped, escapedInQuotes } from '../base/text.ts';
import type { FeedEvent, Listener } from './feed.ts';
import { cleanText } from './output/clean-text.ts';

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
