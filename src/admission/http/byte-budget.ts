// Limits the bytes of all bodies in memory, because many large reviews could exhaust the memory of the process.

export class ByteBudget {
  readonly #total: number;
  #used = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Returns whether that many bytes fit now. Nothing is reserved, because Content-Length is only a claim of the client. */
  hasRoomFor(bytes: number): boolean {
    return this.#used + bytes <= this.#total;
  }

  /** Opens the lease of one request. */
  open(): ByteLease {
    return new ByteLease(this);
  }

  take(bytes: number): boolean {
    if (!this.hasRoomFor(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#used -= bytes;
  }
}

/** The bytes that one request holds. */
export class ByteLease {
  readonly #budget: ByteBudget;
  #held = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get held(): number {
    return this.#held;
  }

  take(bytes: number): boolean {
    if (!this.#budget.take(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  close(): void {
    this.#budget.giveBack(this.#held);
    this.#held = 0;
  }
}
