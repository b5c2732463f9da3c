// Takes Reeve off a cluster, so that nothing blocks at any moment: not while it goes on, and not if it ends half-way.
import type { ObjectRef } from '../base/kube-object.ts';
import type { ClusterConnection } from '../app/cluster-connection.ts';
import { removeConditions } from './conditions.ts';
import { clearContents, removeProviders } from './contents.ts';
import { readFacts, type Facts } from './facts.ts';
import { removeHooks } from './hooks.ts';
import { findLeftovers, type Leftovers } from './leftovers.ts';
import { removeNamespaces, type NamespaceSettings } from './namespaces.ts';
import { planContents, type ContentsPlan } from './plan.ts';
import { podsEnded } from './pods.ts';
import { remove, wordsOf, type Demolition, type Problems } from './removal.ts';
import { readShippedParts, type ShippedParts } from './shipped-parts.ts';

export interface UninstallOptions extends NamespaceSettings {
  readonly keepContents: boolean;
  /** How long each step waits for what is being deleted, in milliseconds. */
  readonly timeout: number;
}

export interface Outcome extends Leftovers {
  /** What was not done. */
  readonly problems: Problems;
}

interface Step {
  readonly run: () => Promise<Problems>;
  /** Without it, going on would be worse than ending here. */
  readonly isNeeded?: true;
}

export class Uninstall {
  readonly #options: UninstallOptions;
  readonly #connection: ClusterConnection;
  readonly #demolition: Demolition;

  /** `say` is told every single thing that has been done, as a line. */
  constructor(options: UninstallOptions, connection: ClusterConnection, say: (line: string) => void) {
    this.#options = options;
    this.#connection = connection;
    this.#demolition = { writer: connection.writer, say, patienceMs: options.timeout };
  }

  /** What will become of what policies and shares provide at present. Rejects with a KubeError. */
  async plan(): Promise<ContentsPlan> {
    return planContents(await this.#facts(), this.#options.keepContents);
  }

  /** Can be done again, from wherever an earlier one has ended. */
  async run(): Promise<Outcome> {
    const parts = await readShippedParts(this.#options);
    const problems: string[] = [];
    for (const { run, isNeeded = false } of this.#steps(parts)) {
      const found = await run();
      problems.push(...found);
      if (isNeeded && found.length > 0) break;
    }
    const refs = Object.values(parts).flat();
    return {
      ...(await findLeftovers(refs, await this.#lastFacts(), this.#options.namespace, this.#connection)),
      problems,
    };
  }

  /**
   * First nobody is asked any more, then nobody acts any more; only then may the guards go, for they hold Reeve's accounts
   * too. What was provided goes while the policies and shares still say what shall become of it.
   */
  #steps(parts: ShippedParts): readonly Step[] {
    const demolition = this.#demolition;
    const { client } = this.#connection;
    const { namespace, keepContents, timeout } = this.#options;
    const contents = { ...demolition, facts: () => this.#facts(), keepContents };
    const removal = (refs: readonly ObjectRef[]) => () => remove(refs, demolition);
    return [
      { run: removal(parts.hooksOwner), isNeeded: true },
      { run: () => removeHooks(parts.hooks, demolition), isNeeded: true },
      { run: removal(parts.program), isNeeded: true },
      { run: () => podsEnded(namespace, client, timeout) },
      // One may have been on its way to the API server at that very moment; now there is nobody left who sends any.
      { run: () => removeHooks(parts.hooks, demolition), isNeeded: true },
      { run: removal(parts.guards), isNeeded: true },
      { run: () => clearContents(contents), isNeeded: true },
      { run: () => removeProviders(contents), isNeeded: true },
      { run: removal(parts.definitions) },
      { run: removal(parts.rest) },
      { run: () => removeConditions(client, demolition.say) },
      { run: () => removeNamespaces(this.#options, demolition) },
    ];
  }

  /** Whatever was said before must not be lost because of what cannot be looked at in the end. */
  async #lastFacts(): Promise<Facts> {
    try {
      return await this.#facts();
    } catch (error) {
      const what = `policies, shares and what they have provided (${wordsOf(error)})`;
      return { owners: [], marked: [], unseen: [what] };
    }
  }

  async #facts(): Promise<Facts> {
    return await readFacts(this.#connection.client);
  }
}
