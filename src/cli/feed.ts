// The feed of `reeve up`: turns answers, refusals and writes into events for its listeners.
import { ownMember } from '../base/json.ts';
import type { RequestRecord } from '../sandbox/http/server.ts';
import type { UpObserver } from '../app/up.ts';
import type { DecisionRecord, DecisionKind } from '../admission/ports.ts';
import type { JsonPatchOperation } from '../policy/decide/mutate.ts';
import type { Place, WriteVerb } from '../reconcile/ports.ts';

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
  return Object.entries(value).map(([key, text]) => ({ path: `${place.at(-1) ?? ''} ${key}`, value: text }));
}

/** https://www.rfc-editor.org/rfc/rfc6901#section-4 */
function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
