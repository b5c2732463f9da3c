// Knows which rights our own account lacks for each policy and share, and looks again from time to time.
import type { RightsRule } from '../../policy/authors/needed-rights.ts';
import { ownRights, type OwnRights } from '../../policy/authors/own-rights.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import type { Install } from '../../policy/compile/install.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import type { Clock } from '../../base/clock.ts';
import type { Dispatcher } from '../dispatcher.ts';
import type { ProvidedScope } from '../live/watches.ts';
import type { SelfReviewer } from '../ports.ts';
import type { WorkQueue } from '../queue/queue.ts';

export interface SelfCheckOptions extends ProvidedScope {
  readonly resourceOf: Install['resourceOf'];
  readonly selfReviewer: SelfReviewer;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly providerQueue: Pick<WorkQueue<ProviderId>, 'addAfter'>;
  readonly dispatcher: Pick<Dispatcher, 'enqueueProvider'>;
}

interface Answer {
  readonly isYes: boolean;
  readonly at: number;
}

interface Checked {
  readonly definition: ProviderDefinition;
  readonly missing: readonly OwnRights[];
}

/** Rights come and go without anybody telling us. This old an answer will do: about a policy that has just changed, ... */
const freshMs = 2000;
/** ... about one for which something is missing, or was refused, ... */
const soonMs = 15_000;
/** ... and about all others. */
const usualMs = 300_000;
const maxAnswers = 10_000;

export class SelfCheck {
  readonly #options: SelfCheckOptions;
  readonly #answers = new Map<string, Answer>();
  readonly #checked = new Map<ProviderId, Checked>();

  constructor(options: SelfCheckOptions) {
    this.#options = options;
  }

  /** What cannot be answered counts as it was answered last; nothing is said that may be false. */
  async missing(
    owner: ProviderId,
    definition: ProviderDefinition,
    wasRefused: boolean,
    signal: AbortSignal,
  ): Promise<readonly OwnRights[]> {
    const { providerQueue, dispatcher, allowedKinds: resourceKinds } = this.#options;
    const install: Install = { ...this.#options, resourceKinds };
    const last = this.#checked.get(owner);
    const isDoubtful = wasRefused || (last?.missing.length ?? 0) > 0;
    const oldest = last?.definition !== definition ? freshMs : isDoubtful ? soonMs - freshMs : usualMs;
    const rules = await Promise.all(
      ownRights(definition, install).map((rule) => this.#lacking(rule, oldest, signal)),
    );
    const missing = rules.filter(({ verbs }) => verbs.length > 0);
    this.#checked.set(owner, { definition, missing });
    // All others are looked at again with everything else.
    if (missing.length > 0 || wasRefused) providerQueue.addAfter(owner, soonMs);
    if (last !== undefined && countOf(missing) < countOf(last.missing)) dispatcher.enqueueProvider(owner);
    return missing;
  }

  forget(owner: ProviderId): void {
    this.#checked.delete(owner);
  }

  clear(): void {
    this.#checked.clear();
    this.#answers.clear();
  }

  /** The rule with those of its verbs that we may not use. */
  async #lacking(rule: OwnRights, oldestMs: number, signal: AbortSignal): Promise<OwnRights> {
    const answers = await Promise.all(
      rule.verbs.map(async (verb) => await this.#may(verb, rule, oldestMs, signal)),
    );
    return { ...rule, verbs: rule.verbs.filter((_, index) => answers[index] === false) };
  }

  /** Undefined: nobody has ever said. */
  async #may(
    verb: string,
    { group, resource, name, namespace }: RightsRule,
    oldestMs: number,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const { selfReviewer, clock } = this.#options;
    const key = JSON.stringify([verb, group, resource, name, namespace]);
    const known = this.#answers.get(key);
    const now = clock.monotonic();
    if (known !== undefined && now - known.at < oldestMs) return known.isYes;
    const right = {
      verb,
      group,
      resource,
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
    };
    const answer = await selfReviewer.mayDo(right, signal);
    if (answer === 'unknown') return known?.isYes;
    if (this.#answers.size >= maxAnswers) this.#answers.clear();
    this.#answers.set(key, { isYes: answer === 'yes', at: now });
    return answer === 'yes';
  }
}

function countOf(rules: readonly OwnRights[]): number {
  return rules.reduce((count, { verbs }) => count + verbs.length, 0);
}
