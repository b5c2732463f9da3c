// Tracks one watch of live objects: which objects it covers, and up to which version it has reported.
import { type ObjectType, groupOf } from '../../policy/terms/object-key.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import { isNewerResourceVersion } from '../../base/resource-version.ts';

export class ObjectFeed {
  readonly type: ObjectType;
  /** The only name that the watch covers. Undefined: all names. */
  readonly name: string | undefined;
  #highest = '';
  #isSynced = false;

  constructor(type: ObjectType, name?: string) {
    this.type = type;
    this.name = name;
  }

  /** True when the first complete list has arrived. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  covers({ type, name }: Pick<Observed, 'type' | 'name'>): boolean {
    return (
      type.kind === this.type.kind &&
      groupOf(type.apiVersion) === groupOf(this.type.apiVersion) &&
      (this.name === undefined || this.name === name)
    );
  }

  listed(resourceVersion: string): void {
    this.#isSynced = true;
    this.reported(resourceVersion);
  }

  reported(resourceVersion: string): void {
    if (this.#highest === '' || isNewerResourceVersion(resourceVersion, this.#highest))
      this.#highest = resourceVersion;
  }

  /** Forgets the reported versions, after a restore of etcd. */
  restart(): void {
    this.#highest = '';
  }

  /** Returns whether the watch has reported everything up to this version. */
  hasReported(resourceVersion: string): boolean {
    return this.#highest !== '' && !isNewerResourceVersion(resourceVersion, this.#highest);
  }
}
