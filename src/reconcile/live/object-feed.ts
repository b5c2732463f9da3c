// One watch that tells of live objects: which ones, and how far it has told of them.
import type { ObjectType } from '../../policy/compile/compile-contents.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import { groupOf } from '../../policy/compile/object-key.ts';
import { isNewerVersion } from '../../base/resource-version.ts';

export class ObjectFeed {
  readonly type: ObjectType;
  /** Of this name alone; undefined: of any name. */
  readonly name: string | undefined;
  #highest = '';
  #isSynced = false;

  constructor(type: ObjectType, name?: string) {
    this.type = type;
    this.name = name;
  }

  /** Whether it has told its whole state once. */
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
    this.heard(resourceVersion);
  }

  heard(resourceVersion: string): void {
    if (this.#highest === '' || isNewerVersion(resourceVersion, this.#highest))
      this.#highest = resourceVersion;
  }

  /** It has told of what came after that version. */
  isPast(resourceVersion: string): boolean {
    return this.#highest !== '' && isNewerVersion(this.#highest, resourceVersion);
  }

  /** What it has told counts no more. */
  restart(): void {
    this.#highest = '';
  }

  /** Everything that has happened up to that version has been told. */
  hasHeardOf(resourceVersion: string): boolean {
    return this.#highest !== '' && !isNewerVersion(resourceVersion, this.#highest);
  }
}
