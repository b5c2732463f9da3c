// Removes Reeve from a cluster. No request is blocked while this runs, or if it ends half-way.
import type { ObjectRef } from '../base/metadata.ts';
import type { ClusterConnection } from '../app/cluster-connection.ts';
import { clearAccounts } from './accounts.ts';
import { clearContents, removeProviders, planContents, type ContentsPlan } from './contents.ts';
import { readFacts, type Facts, readShippedParts, type ShippedParts } from './facts.ts';
import {
  removeHooks,
  podsEnded,
  removeGrants,
  removeConditions,
  releaseClaims,
  removeReports,
  removeNamespaces,
  type NamespaceSettings,
  findLeftovers,
  type Leftovers,
} from './steps.ts';
import { remove, textOfError, type Removal, type NotDone } from './removal.ts';
import { configurationName } from '../schema/names.ts';
import { ownerRole } from '../registration/configuration-keeper.ts';

interface UninstallOptions extends NamespaceSettings {
  readonly keepContents: boolean;
  /** How long each step waits for deletions, in milliseconds. */
  readonly timeout: number;
}

export interface UninstallResult extends Leftovers {
  /** Steps, or parts of steps, that failed. */
  readonly notDone: NotDone;
}

/**
 * Deletes the webhook configurations, and before them their ClusterRole, without which no replica creates them again. Reads and
 * writes no other object, so that few rights are enough.
 */
export async function removeWebhooks(
  { writer }: Pick<ClusterConnection, 'writer'>,
  patienceMs: number,
  say: (line: string) => void,
): Promise<NotDone> {
  const removal = { writer, say, patienceMs };
  const notDone = await remove([ownerRole], removal);
  return notDone.length > 0 ? notDone : await removeHooks(configurationRefs, removal);
}

interface Step {
  readonly run: () => Promise<NotDone>;
  /** If this step fails, the next steps would block requests, so the uninstall ends here. */
  readonly isNeeded?: true;
}

const configurationRefs = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  name: configurationName,
}));

export class Uninstall {
  readonly #options: UninstallOptions;
  readonly #connection: ClusterConnection;
  readonly #removal: Removal;

  /** `say` gets one line for each change. */
  constructor(options: UninstallOptions, connection: ClusterConnection, say: (line: string) => void) {
    this.#options = options;
    this.#connection = connection;
    this.#removal = { writer: connection.writer, say, patienceMs: options.timeout };
  }

  /** Returns what an uninstall would do with the contents. Rejects with a KubeError. */
  async plan(): Promise<ContentsPlan> {
    return planContents(await this.#facts(), this.#options.keepContents);
  }

  /** Can be repeated, wherever an earlier run ended. */
  async run(): Promise<UninstallResult> {
    const parts = await readShippedParts(this.#options);
    const notDone: string[] = [];
    for (const { run, isNeeded = false } of this.#steps(parts)) {
      const found = await run();
      notDone.push(...found);
      if (isNeeded && found.length > 0) break;
    }
    const refs = Object.values(parts).flat();
    return {
      ...(await findLeftovers(refs, await this.#lastFacts(), this.#options.namespace, this.#connection)),
      notDone,
    };
  }

  /**
   * First the API servers stop calling the webhooks, then the program ends, then its accounts lose their rights. Only then may
   * the guards be deleted, because they limit these accounts too. The contents come before the providers, which decide their
   * fate.
   */
  #steps(parts: ShippedParts): readonly Step[] {
    const removal = this.#removal;
    const { client } = this.#connection;
    const { namespace, keepContents, timeout } = this.#options;
    const contents = { ...removal, facts: () => this.#facts(), keepContents };
    const deletion = (refs: readonly ObjectRef[]) => () => remove(refs, removal);
    return [
      { run: deletion(parts.hooksOwner), isNeeded: true },
      { run: () => removeHooks(parts.hooks, removal), isNeeded: true },
      { run: deletion(parts.program), isNeeded: true },
      { run: () => podsEnded(namespace, client, timeout) },
      // A replica may have written a configuration just before it ended.
      { run: () => removeHooks(parts.hooks, removal), isNeeded: true },
      { run: deletion(parts.rights), isNeeded: true },
      { run: deletion(parts.guards), isNeeded: true },
      { run: () => clearContents(contents), isNeeded: true },
      { run: () => clearAccounts(contents), isNeeded: true },
      { run: () => removeGrants(contents), isNeeded: true },
      { run: () => removeProviders(contents), isNeeded: true },
      { run: () => releaseClaims(client, removal) },
      { run: deletion(parts.definitions) },
      { run: deletion(parts.rest) },
      { run: () => removeReports(client, removal) },
      { run: () => removeConditions(client, removal.say) },
      { run: () => removeNamespaces(this.#options, removal) },
    ];
  }

  /** An error of this last look must not hide what the steps have not done. */
  async #lastFacts(): Promise<Facts> {
    try {
      return await this.#facts();
    } catch (error) {
      const what = `policies, shares and what they provided (${textOfError(error)})`;
      return { providers: [], marked: [], accounts: [], grants: [], unseen: [what] };
    }
  }

  async #facts(): Promise<Facts> {
    return await readFacts(this.#connection.client);
  }
}
