// Finds the providers that can match a namespace: by its exact name, a prefix of it, or a label.
import type { CompiledMatch } from '../terms/match.ts';
import { labelsOf, nameOf, type KubeObject } from '../../base/metadata.ts';

interface Indexed {
  readonly match: CompiledMatch;
}

/** Indexes each provider by its narrowest term. Providers without such a term are always candidates. */
export class ProviderIndex<T extends Indexed> {
  readonly #byName = new Map<string, T[]>();
  readonly #byPrefix = new Map<string, T[]>();
  readonly #prefixLengths = new Set<number>();
  readonly #byPair = new Map<string, T[]>();
  readonly #byKey = new Map<string, T[]>();
  readonly #always: T[] = [];
  readonly #places = new Map<T, number>();

  constructor(providers: readonly T[]) {
    for (const [place, provider] of providers.entries()) {
      this.#places.set(provider, place);
      this.#add(provider);
    }
  }

  /** The providers that can match any of these objects, in the order that the constructor was given, each once. */
  candidates(objects: readonly KubeObject[]): readonly T[] {
    const found = new Set<T>(this.#always);
    for (const object of objects) this.#collect(object, found);
    if (found.size < 2) return [...found];
    return [...found].sort((a, b) => this.#placeOf(a) - this.#placeOf(b));
  }

  #placeOf(provider: T): number {
    return this.#places.get(provider) ?? 0;
  }

  #add(provider: T): void {
    const term = narrowestTerm(provider.match);
    switch (term.kind) {
      case 'names':
        for (const name of term.values) append(this.#byName, name, provider);
        break;
      case 'pairs':
        for (const pair of term.values) append(this.#byPair, pair, provider);
        break;
      case 'prefixes':
        for (const prefix of term.values) {
          append(this.#byPrefix, prefix, provider);
          this.#prefixLengths.add(prefix.length);
        }
        break;
      case 'key':
        append(this.#byKey, term.key, provider);
        break;
      case 'none':
        this.#always.push(provider);
        break;
      default:
        term satisfies never;
    }
  }

  #collect(object: KubeObject, found: Set<T>): void {
    const name = nameOf(object);
    if (this.#byName.size > 0) addAll(found, this.#byName.get(name));
    for (const length of this.#prefixLengths) addAll(found, this.#byPrefix.get(name.slice(0, length)));
    if (this.#byPair.size === 0 && this.#byKey.size === 0) return;
    const labels = labelsOf(object);
    for (const key of Object.keys(labels)) {
      addAll(found, this.#byPair.get(pairKey(key, labels[key] ?? '')));
      addAll(found, this.#byKey.get(key));
    }
  }
}

type Term =
  | { readonly kind: 'names' | 'pairs' | 'prefixes'; readonly values: ReadonlySet<string> }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'none' };

/** Returns the narrowest term. The order is: exact names, a label with its value, a name prefix, a label. */
function narrowestTerm({ names, selector }: CompiledMatch): Term {
  const need = selector?.needs;
  if (names?.every(({ exact }) => exact) === true) {
    return { kind: 'names', values: new Set(names.map(({ source }) => source)) };
  }
  if (need?.kind === 'pairs') {
    return { kind: 'pairs', values: new Set(need.values.map((value) => pairKey(need.key, value))) };
  }
  if (names?.every(({ prefix }) => prefix !== '') === true) {
    return { kind: 'prefixes', values: new Set(names.map(({ prefix }) => prefix)) };
  }
  return need?.kind === 'key' ? { kind: 'key', key: need.key } : { kind: 'none' };
}

/** Unambiguous, because a label key contains no `=`. */
function pairKey(key: string, value: string): string {
  return `${key}=${value}`;
}

function append<T>(index: Map<string, T[]>, key: string, provider: T): void {
  const list = index.get(key);
  if (list === undefined) index.set(key, [provider]);
  else list.push(provider);
}

function addAll<T>(found: Set<T>, providers: readonly T[] | undefined): void {
  if (providers === undefined) return;
  for (const provider of providers) found.add(provider);
}
