// Sums up changes and failures of many objects, so that one event reports them.
import type { EventObject, RecordedEvent } from './ports.ts';

export type Change = Pick<RecordedEvent, 'type' | 'reason' | 'action'>;

/** Something that happened to one object. */
export interface Happening extends Change {
  /** `label` and `annotation` for a key of the Namespace. Without a kind and a name: the namespace as a whole. */
  readonly kind?: string;
  readonly name?: string;
  readonly namespace: string;
  /** The error of a failure, or why an object was deleted. */
  readonly message?: string;
  /** For how long the object was missing at most, because it was deleted and created again. */
  readonly missingMs?: number;
  /** The object, if the event can link to it. */
  readonly object?: EventObject;
}

/** Happenings with the same reason. Holds no list of objects, because a share can write into 10,000 namespaces. */
interface Sum {
  readonly change: Change;
  readonly namespaces: Set<string>;
  readonly kinds: Map<string, number>;
  /** The first by namespace, kind and name, so that the order of the work does not change the note. */
  first: Happening;
  missingMs: number | undefined;
  /** The names of the first objects. Notes on a namespace list them. */
  readonly named: string[];
}

interface SummedEvent extends Change {
  readonly note: string;
  /** Undefined when the event is about several objects. */
  readonly object: EventObject | undefined;
}

/** As in a refusal: at most so many objects are named. */
const maxNamed = 3;

export class EventSummary {
  readonly #sums = new Map<string, Sum>();

  add(happening: Happening): void {
    const { type, reason, action, kind = 'Namespace', name, namespace, message } = happening;
    // Failures of one reason are one event. A deletion has a message only if the object has expired.
    const key = JSON.stringify([type, reason, action, type === 'Normal' && message]);
    const sum = this.#sums.get(key) ?? {
      change: { type, reason, action },
      namespaces: new Set<string>(),
      kinds: new Map<string, number>(),
      first: happening,
      missingMs: undefined,
      named: [],
    };
    this.#sums.set(key, sum);
    sum.namespaces.add(namespace);
    const { missingMs = sum.missingMs } = happening;
    sum.missingMs = missingMs === undefined ? undefined : Math.max(missingMs, sum.missingMs ?? 0);
    sum.kinds.set(kind, (sum.kinds.get(kind) ?? 0) + 1);
    if (orderOf(happening) < orderOf(sum.first)) sum.first = happening;
    if (name !== undefined && sum.named.length < maxNamed) sum.named.push(`${kind} ${name}`);
  }

  /** Returns the events about the provider: `Created 26 Secrets in 26 namespaces`. */
  ofProvider(): readonly SummedEvent[] {
    return this.#events((sum) => {
      const { change, first, namespaces, missingMs } = sum;
      const isOne = countOf(sum) === 1;
      const where = countedWord(namespaces.size, 'namespace');
      // Without a kind and a name, it happened to the namespaces themselves.
      const many = first.name === undefined ? where : `${countText(sum)} in ${where}`;
      const objects = isOne ? placeText(first) : many;
      if (change.type === 'Normal')
        return `${change.reason} ${objects}${messageText({ ...first, missingMs })}`;
      return `${objects}${isOne ? '' : `; first ${placeText(first)}`}${messageText(first)}`;
    });
  }

  /** Returns the events about a namespace: `Created RoleBinding viewers, ResourceQuota team for NamespacePolicy/apps`. */
  ofNamespace(provider: string): readonly SummedEvent[] {
    return this.#events((sum) => {
      const { change, first, named, missingMs } = sum;
      const more = countOf(sum) - named.length;
      const objects = `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
      if (change.type === 'Normal')
        return `${change.reason} ${objects} for ${provider}${messageText({ ...first, missingMs })}`;
      return `${named.length === 0 ? '' : `${objects} of `}${provider}${messageText(first)}`;
    });
  }

  #events(noteOf: (sum: Sum) => string): readonly SummedEvent[] {
    return [...this.#sums.values()].map((sum) => ({
      ...sum.change,
      note: noteOf(sum),
      object: countOf(sum) === 1 ? sum.first.object : undefined,
    }));
  }
}

function countOf({ kinds }: Sum): number {
  return [...kinds.values()].reduce((sum, count) => sum + count, 0);
}

function countText({ kinds }: Sum): string {
  return [...kinds].map(([kind, count]) => countedWord(count, kind)).join(', ');
}

function placeText({ kind = '', name, namespace }: Happening): string {
  return name === undefined ? `namespace ${namespace}` : `${kind} ${name} in namespace ${namespace}`;
}

export function messageText({ kind, message, missingMs }: MessageParts): string {
  if (message === undefined) return '';
  const what = kind === 'RoleBinding' ? 'access was interrupted' : 'it was missing';
  const gap = missingMs === undefined ? '' : `: ${what} for at most ${Math.ceil(missingMs)} ms`;
  return `: ${message}${gap}`;
}

type MessageParts = Pick<Happening, 'kind' | 'message'> & { readonly missingMs?: number | undefined };

function orderOf({ namespace, kind, name }: Happening): string {
  return `${namespace}/${kind ?? ''}/${name ?? ''}`;
}

/** `2 NetworkPolicies` */
function countedWord(count: number, word: string): string {
  if (count === 1) return `1 ${word}`;
  if (word.endsWith('y')) return `${count} ${word.slice(0, -1)}ies`;
  return `${count} ${word}${word.endsWith('s') ? 'es' : 's'}`;
}
