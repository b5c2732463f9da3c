// The live feed: takes what the parts of the program report, and hands it on as text or JSON, one event after the other.
import type { Clock } from '../base/clock.ts';
import { ownMember } from '../base/json.ts';
import type { RequestRecord } from '../sandbox/http/server.ts';
import type { UpWitness } from '../app/up.ts';
import { decisionEvent, type FeedEvent } from './feed-event.ts';
import { feedText, type Paint } from './feed-text.ts';

export type Listener = (event: FeedEvent) => void;

export function textFeed(write: (text: string) => void, clock: Pick<Clock, 'now'>, paint: Paint): Listener {
  return (event) => write(feedText(event, clock.now(), paint));
}

export function jsonFeed(write: (text: string) => void, clock: Pick<Clock, 'now'>): Listener {
  return (event) => write(`${JSON.stringify({ time: clock.now().toISOString(), ...event })}\n`);
}

export function witnessFor(listen: Listener): UpWitness {
  return {
    decided: (record) => {
      const event = decisionEvent(record);
      if (event !== undefined) listen(event);
    },
    wrote: (verb, place) => listen({ type: 'written', verb, ...place }),
    failed: (place, reason) => listen({ type: 'not-written', ...place, reason }),
    held: (owner, count, limit) => listen({ type: 'held', owner, count, limit }),
    observer: {
      answered: (record) => {
        const message = refusalIn(record);
        const user = record.impersonatedUser ?? record.user ?? 'nobody';
        if (message !== undefined && !user.startsWith('system:')) listen({ type: 'refused', user, message });
      },
    },
  };
}

/** By our webhook, which tells of it itself. */
const toldAlready = /^admission webhook "[a-z.]+\.reeve\.dev" denied /;
const reading = ['get', 'list', 'watch'];

/** Of a write, by the API itself or by a webhook of somebody else. */
function refusalIn({ verb, code, answer }: RequestRecord): string | undefined {
  const message = ownMember(answer, 'message');
  if (code !== 403 || reading.includes(verb) || typeof message !== 'string') return undefined;
  return toldAlready.test(message) ? undefined : message;
}
