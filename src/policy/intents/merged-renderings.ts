// Merges what the adapters render for the intents of one binding, or names the two intents that contradict each other.
import { isDeepStrictEqual } from 'node:util';
import type { ContentsSpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { RequiredKey, RequiredSpec } from '../../rules/namespace-required.ts';
import type { DefaultsSpec } from '../../rules/default-keys.ts';
import { type Problem, compiled, refused, type CompileResult } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import { objectKey } from '../../base/object-type.ts';
import type { Rendering } from './adapter.ts';

/** What one adapter renders for one intent. */
export interface IntentRendering {
  /** The name of the intent, and its place in `spec.intents`. */
  readonly intent: string;
  readonly index: number;
  readonly rendering: Rendering;
}

/** A part of the merged policy, and the place of the first intent that gives it. */
interface Origin {
  readonly intent: string;
  readonly index: number;
}
type Resource = NonNullable<ContentsSpec['resources']>[number];
type AccountFields = NonNullable<ContentsSpec['serviceAccounts']>[number];
type From<T> = Origin & { readonly value: T };
type Field = 'labels' | 'annotations';
const nounOf = { labels: 'label', annotations: 'annotation' } as const;

export interface MergedRenderings {
  readonly resources: readonly (From<Resource> & { readonly onlyIn: string | undefined })[];
  readonly serviceAccounts: readonly From<AccountFields>[];
  readonly defaults: Readonly<Record<Field, ReadonlyMap<string, From<string>>>>;
  readonly required: Readonly<Record<Field, ReadonlyMap<string, From<RequiredKey>>>>;
}

export function mergeRenderings(parts: readonly IntentRendering[]): CompileResult<MergedRenderings> {
  const merger = new Merger();
  for (const part of parts) merger.add(part);
  return merger.problems.length > 0 ? refused(merger.problems) : compiled(merger.merged());
}

class Merger {
  readonly problems: Problem[] = [];
  readonly #resources = new Map<string, MergedRenderings['resources'][number]>();
  readonly #accounts = new Map<string, From<AccountFields>>();
  readonly #defaults = {
    labels: new Map<string, From<string>>(),
    annotations: new Map<string, From<string>>(),
  };
  readonly #required = {
    labels: new Map<string, From<RequiredKey>>(),
    annotations: new Map<string, From<RequiredKey>>(),
  };

  add({ intent, index, rendering }: IntentRendering): void {
    const { resources = [], serviceAccounts = [], namespaces, onlyIn } = rendering;
    for (const value of resources) this.#resource({ intent, index, value, onlyIn });
    for (const value of serviceAccounts) this.#account({ intent, index, value });
    for (const field of ['labels', 'annotations'] as const) {
      for (const [key, value] of entriesOf(namespaces?.defaults, field))
        this.#default(field, key, { intent, index, value });
      for (const [key, value] of entriesOf(namespaces?.required, field))
        this.#require(field, key, { intent, index, value });
    }
  }

  merged(): MergedRenderings {
    return {
      resources: [...this.#resources.values()],
      serviceAccounts: [...this.#accounts.values()],
      defaults: this.#defaults,
      required: this.#required,
    };
  }

  #resource(next: MergedRenderings['resources'][number]): void {
    const key = objectKey(next.value, next.value.metadata.name);
    const known = this.#resources.get(key);
    if (known === undefined) this.#resources.set(key, next);
    else if (!isDeepStrictEqual([known.value, known.onlyIn], [next.value, next.onlyIn]))
      this.#conflict(
        known,
        next,
        `they give different ${next.value.kind}s ${clipped(next.value.metadata.name)}`,
      );
  }

  /** The pull secrets of all intents come together. A ServiceAccount mounts its token or not. */
  #account(next: From<AccountFields>): void {
    const { name } = next.value;
    const known = this.#accounts.get(name);
    if (known === undefined) {
      this.#accounts.set(name, next);
      return;
    }
    const [was, is] = [known.value, next.value].map((each) => each.automountServiceAccountToken);
    if (was !== undefined && is !== undefined && was !== is)
      this.#conflict(known, next, `automountServiceAccountToken of ServiceAccount ${clipped(name)} differs`);
    const secrets = [...(known.value.imagePullSecrets ?? []), ...(next.value.imagePullSecrets ?? [])];
    const value = {
      ...known.value,
      ...next.value,
      ...(secrets.length === 0 ? {} : { imagePullSecrets: [...new Set(secrets)] }),
    };
    this.#accounts.set(name, { ...known, value });
  }

  #default(field: Field, key: string, next: From<string>): void {
    const known = this.#defaults[field].get(key);
    if (known === undefined) this.#defaults[field].set(key, next);
    else if (known.value !== next.value)
      this.#conflict(
        known,
        next,
        `${nounOf[field]} ${key} is ${clipped(known.value)} or ${clipped(next.value)}`,
      );
  }

  #require(field: Field, key: string, next: From<RequiredKey>): void {
    const known = this.#required[field].get(key);
    const value = known === undefined ? next.value : bothOf(known.value, next.value);
    if (value !== undefined) this.#required[field].set(key, { ...(known ?? next), value });
    else if (known !== undefined)
      this.#conflict(known, next, `no value of ${nounOf[field]} ${key} satisfies both`);
  }

  #conflict(known: Origin, next: Origin, what: string): void {
    const found = `SecurityIntent ${next.intent}, which contradicts SecurityIntent ${known.intent}: ${what}`;
    const accepted = 'intents that agree, or a binding of its own for each, in other namespaces';
    this.problems.push({ path: ['spec', 'intents', next.index], found, accepted });
  }
}

/** Returns what satisfies both, or undefined if nothing does. */
function bothOf(a: RequiredKey, b: RequiredKey): RequiredKey | undefined {
  if (a.pattern !== undefined && b.pattern !== undefined && a.pattern !== b.pattern) return undefined;
  const pattern = a.pattern ?? b.pattern;
  const values =
    a.values === undefined ? b.values : a.values.filter((each) => b.values?.includes(each) !== false);
  if (values?.length === 0) return undefined;
  return { ...(pattern === undefined ? {} : { pattern }), ...(values === undefined ? {} : { values }) };
}

function entriesOf<T extends DefaultsSpec | RequiredSpec>(
  spec: T | undefined,
  field: Field,
): readonly [string, NonNullable<T[Field]>[string]][] {
  return Object.entries(spec?.[field] ?? {});
}
