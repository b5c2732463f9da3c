// Keys that are ready to be worked on, in the order in which they came; those that have failed stand apart.

interface Ready<K> {
  readonly key: K;
  readonly order: number;
}

export class ReadyKeys<K> {
  readonly #sound = new Line<K>();
  readonly #failed = new Line<K>();
  #count = 0;

  add(key: K, hasFailed: boolean): void {
    this.#count += 1;
    (hasFailed ? this.#failed : this.#sound).push({ key, order: this.#count });
  }

  /** The one that came first, or came first of those that have not failed. */
  take(mayHaveFailed: boolean): { readonly key: K; readonly hasFailed: boolean } | undefined {
    const [sound, failed] = [this.#sound.first, mayHaveFailed ? this.#failed.first : undefined];
    const hasFailed = failed !== undefined && (sound === undefined || failed.order < sound.order);
    const first = (hasFailed ? this.#failed : this.#sound).shift();
    return first === undefined ? undefined : { key: first.key, hasFailed };
  }

  clear(): void {
    this.#sound.clear();
    this.#failed.clear();
  }
}

class Line<K> {
  readonly #items: Ready<K>[] = [];
  #head = 0;

  get first(): Ready<K> | undefined {
    return this.#items[this.#head];
  }

  push(item: Ready<K>): void {
    this.#items.push(item);
  }

  shift(): Ready<K> | undefined {
    const { first } = this;
    if (first === undefined) return undefined;
    this.#head += 1;
    // Now and then, so that taking the first one stays cheap however many there are.
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return first;
  }

  clear(): void {
    this.#items.length = 0;
    this.#head = 0;
  }
}
