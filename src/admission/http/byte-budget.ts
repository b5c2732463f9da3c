// Bounds how many bytes of bodies are held at once: many large reviews must not use up the memory of the process.

export class ByteBudget {
  readonly #total: number;
  #used = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Whether that many bytes would fit now. Nothing is kept for them: a promise to send bytes is worth nothing. */
  hasRoomFor(bytes: number): boolean {
    return this.#used + bytes <= this.#total;
  }

  /** One per request. */
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
