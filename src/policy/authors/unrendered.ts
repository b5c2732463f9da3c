// Finds the contents of a policy that existing namespaces do not get, because a template skips or fails there.
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { CompiledContent } from '../compile/compile-contents.ts';
import type { Budget } from '../terms/budget.ts';
import { providedBy, type ProviderWrite } from './provider-write.ts';

/** A content, and the names of all namespaces that do not get it for this reason. */
export interface UnrenderedContent {
  readonly kind: 'skipped' | 'error';
  /** `RoleBinding viewers`, as in the first namespace. */
  readonly object: string;
  readonly message: string;
  readonly names: readonly string[];
}

type Unrendered = UnrenderedContent & { readonly names: string[] };

/** A reason can name a value of the namespace, so that each namespace has another one. */
const maxReasons = 3;
const otherReasons = 'for other reasons';

export class UnrenderedContents {
  readonly #contents: readonly CompiledContent[];
  readonly #isSame: boolean;
  readonly #budget: Budget;
  /** By content, then by reason. */
  readonly #found = new Map<string, Map<string, Unrendered>>();

  constructor({ before, after }: ProviderWrite, budget: Budget) {
    const contents =
      after?.kind === 'NamespacePolicy' && !after.compiled.isSuspended ? after.compiled.contents : [];
    this.#contents = contents.filter(({ isTemplated }) => isTemplated);
    this.#isSame =
      after?.kind === 'NamespacePolicy' &&
      before?.kind === 'NamespacePolicy' &&
      isDeepStrictEqual(providedBy(before), providedBy(after));
    this.#budget = budget;
  }

  get all(): readonly UnrenderedContent[] {
    return [...this.#found.values()].flatMap((reasons) => [...reasons.values()]);
  }

  /** Call it for a namespace that the newer version matches. `isGained`: the older version does not. */
  add(namespaceObject: KubeObject, isGained: boolean): void {
    if (this.#isSame && !isGained) return;
    for (const [index, content] of this.#contents.entries()) {
      const rendered = content.render(namespaceObject, this.#budget);
      if (rendered.kind !== 'skipped' && rendered.kind !== 'error') continue;
      // Without time every template is an error.
      if (this.#budget.isSpent()) return;
      const { kind, object, message } = rendered;
      const key = `${index} ${kind}`;
      const reasons = this.#found.get(key) ?? new Map<string, Unrendered>();
      this.#found.set(key, reasons);
      const why = reasons.has(message) || reasons.size < maxReasons ? message : otherReasons;
      const shown = `${object.kind} ${object.name}`;
      const known = reasons.get(why) ?? { kind, object: shown, message: why, names: [] };
      reasons.set(why, known);
      known.names.push(nameOf(namespaceObject));
    }
  }
}
