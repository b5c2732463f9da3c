// Finds the rights that our own account lacks for each provider, and asks again from time to time.
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

interface SelfCheckOptions extends ProvidedScope {
  readonly auditSecrets: boolean | undefined;
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

/** Nothing reports a change of rights, so answers expire. Maximum age for a provider that has just changed. */
const maxAgeChangedMs = 2000;
/** Interval for a provider with a missing right or a refused write. */
const recheckMs = 15_000;
/** Maximum age for all other providers. They are checked again with every resync. */
const maxAgeMs = 300_000;
const maxAnswers = 10_000;

export class SelfCheck {
  readonly #options: SelfCheckOptions;
  readonly #answers = new Map<string, Answer>();
  readonly #checked = new Map<ProviderId, Checked>();

  constructor(options: SelfCheckOptions) {
    this.#options = options;
  }

  /** Returns the missing rights. A review without an answer counts as its last answer, so no status says what may be false. */
  async missing(
    provider: ProviderId,
    definition: ProviderDefinition,
    wasRefused: boolean,
    signal: AbortSignal,
  ): Promise<readonly OwnRights[]> {
    const { providerQueue, dispatcher, allowedKinds: resourceKinds } = this.#options;
    const install: Install = { ...this.#options, resourceKinds };
    const last = this.#checked.get(provider);
    const isDoubtful = wasRefused || (last?.missing.length ?? 0) > 0;
    const oldestMs =
      last?.definition !== definition ? maxAgeChangedMs : isDoubtful ? recheckMs - maxAgeChangedMs : maxAgeMs;
    const rules = await Promise.all(
      ownRights(definition, install).map((rule) => this.#lacking(rule, oldestMs, signal)),
    );
    const missing = rules.filter(({ verbs }) => verbs.length > 0);
    this.#checked.set(provider, { definition, missing });
    if (missing.length > 0 || wasRefused) providerQueue.addAfter(provider, recheckMs);
    if (last !== undefined && countOf(missing) < countOf(last.missing)) dispatcher.enqueueProvider(provider);
    return missing;
  }

  forget(provider: ProviderId): void {
    this.#checked.delete(provider);
  }

  clear(): void {
    this.#checked.clear();
    this.#answers.clear();
  }

  /** Returns the rule with only the verbs that our account may not use. */
  async #lacking(rule: OwnRights, oldestMs: number, signal: AbortSignal): Promise<OwnRights> {
    const answers = await Promise.all(
      rule.verbs.map(async (verb) => await this.#may(verb, rule, oldestMs, signal)),
    );
    return { ...rule, verbs: rule.verbs.filter((_, index) => answers[index] === false) };
  }

  /** Undefined: this was never answered. */
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
