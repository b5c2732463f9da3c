// Keeps the live ServiceAccounts to which policies may add fields, with only the facts that planning needs.
import type { KubeObject } from '../../base/metadata.ts';
import { isNewerResourceVersion, type WatchSink } from '../../base/watch-sink.ts';
import { hasFieldsOf, observeAccount, type ObservedAccount } from '../../policy/plan/account.ts';
import { objectKey, serviceAccountType, type ObjectKey } from '../../base/object-type.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { keptFieldManager } from '../../schema/names.ts';

export interface AccountChange {
  readonly namespace: string;
  readonly key: ObjectKey;
  readonly before: ObservedAccount | undefined;
  readonly after: ObservedAccount | undefined;
  /** `own`: from the answer to our own request. */
  readonly from: 'watch' | 'own';
}

interface AccountsListener {
  readonly changed: (change: AccountChange) => void;
  readonly synced: () => void;
}

export class ObservedAccounts {
  readonly #byNamespace = new Map<string, Map<ObjectKey, ObservedAccount>>();
  /** Accounts with fields of ours, by UID. */
  readonly #marked = new Map<string, ObservedAccount>();
  readonly #needed = Promise.withResolvers<void>();
  readonly #listeners: AccountsListener[] = [];
  #isSynced = false;

  /** Resolves when the watch must start. */
  get needed(): Promise<void> {
    return this.#needed.promise;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  need(): void {
    this.#needed.resolve();
  }

  subscribe(listener: AccountsListener): void {
    this.#listeners.push(listener);
  }

  readonly sink: WatchSink = {
    replaced: (objects) => this.#replaced(objects),
    changed: (object) => this.#changed(object),
    removed: (object) => this.deleted(observeAccount(object), 'watch'),
  };

  get(namespace: string, key: ObjectKey): ObservedAccount | undefined {
    return this.#byNamespace.get(namespace)?.get(key);
  }

  /** Includes accounts that lost their marks while Reeve's manager still owns a field, so that others can get the field. */
  markedIn(namespace: string): readonly ObservedAccount[] {
    const all = [...(this.#byNamespace.get(namespace)?.values() ?? [])];
    return all.filter(({ marks, managers }) => marks.size + managers.length > 0);
  }

  /** Returns whether an account in such a namespace has fields of the provider and is not being deleted. */
  holdsFieldsOf(provider: ProviderId, isOfInterest: (namespace: string) => boolean): boolean {
    return this.#marked
      .values()
      .some(
        (account) =>
          !account.isTerminating && hasFieldsOf(provider, account) && isOfInterest(account.namespace),
      );
  }

  /** Takes the answer to our own write. Its marks are complete, unless the write only kept fields for another manager. */
  wrote(object: KubeObject, manager: string): ObservedAccount {
    const known = this.#knownOf(object);
    const account = observeAccount(object, manager === keptFieldManager ? known : undefined);
    if (known !== undefined && !isNewerResourceVersion(known.resourceVersion, account.resourceVersion))
      this.#put(account, known, 'own');
    return account;
  }

  deleted({ namespace, key, uid }: ObservedAccount, from: AccountChange['from']): void {
    const accounts = this.#byNamespace.get(namespace);
    const before = accounts?.get(key);
    if (before?.uid !== uid) return;
    accounts?.delete(key);
    if (accounts?.size === 0) this.#byNamespace.delete(namespace);
    this.#marked.delete(uid);
    this.#notify({ namespace, key, before, after: undefined, from });
  }

  #changed(object: KubeObject): void {
    const known = this.#knownOf(object);
    const account = observeAccount(object, known);
    if (known?.uid === account.uid && !isNewerResourceVersion(account.resourceVersion, known.resourceVersion))
      return;
    this.#put(account, known, 'watch');
  }

  #knownOf({ metadata }: KubeObject): ObservedAccount | undefined {
    return this.get(metadata.namespace ?? '', objectKey(serviceAccountType, metadata.name ?? ''));
  }

  #replaced(objects: readonly KubeObject[]): void {
    const listed = new Set(objects.map(({ metadata }) => metadata.uid));
    for (const accounts of this.#byNamespace.values())
      for (const account of accounts.values()) if (!listed.has(account.uid)) this.deleted(account, 'watch');
    for (const object of objects) {
      const known = this.#knownOf(object);
      this.#put(observeAccount(object, known), known, 'watch');
    }
    if (this.#isSynced) return;
    this.#isSynced = true;
    for (const { synced } of this.#listeners) synced();
  }

  #put(account: ObservedAccount, before: ObservedAccount | undefined, from: AccountChange['from']): void {
    const { namespace, key, uid, marks } = account;
    const accounts = this.#byNamespace.get(namespace) ?? new Map<ObjectKey, ObservedAccount>();
    this.#byNamespace.set(namespace, accounts.set(key, account));
    if (before !== undefined) this.#marked.delete(before.uid);
    if (marks.size > 0) this.#marked.set(uid, account);
    this.#notify({ namespace, key, before, after: account, from });
  }

  #notify(change: AccountChange): void {
    for (const { changed } of this.#listeners) changed(change);
  }
}
