// What the steps of one round come to: outcomes, and when the namespace has to be looked at again.
import type { ObjectResult } from '../../policy/plan/object-result.ts';
import type { StepResult } from './step-executor.ts';
import type { WriteFault } from './write-fault.ts';

export class RoundResult {
  readonly outcomes: ObjectResult[] = [];
  writes = 0;
  /** Something failed: try again, not before so long. */
  retryMs: number | undefined;
  /** Nothing failed, but something changes by itself then. */
  againMs: number | undefined;
  /** Something failed that may be over with the next try. */
  isTransient = false;
  /** The API server has left something without an answer. */
  isSilence = false;
  /** There is nothing to be done here any more. */
  isOver = false;

  add({ wrote, outcome, retryMs, againMs, isTransient, isSilence, isOver }: StepResult): void {
    if (wrote) this.writes += 1;
    if (outcome !== undefined) this.outcomes.push(outcome);
    if (retryMs !== undefined) this.#retry(retryMs);
    if (againMs !== undefined) this.againMs = Math.min(this.againMs ?? againMs, againMs);
    if (isTransient === true) this.isTransient = true;
    if (isSilence === true) this.isSilence = true;
    if (isOver === true) this.isOver = true;
  }

  addFault(fault: WriteFault | undefined): void {
    if (fault?.kind === 'transient') {
      this.isTransient = true;
      if (fault.isSilence === true) this.isSilence = true;
      this.#retry(fault.leastMs);
    } else if (fault?.kind === 'lasting' && fault.leastMs !== undefined) this.#retry(fault.leastMs);
  }

  #retry(milliseconds: number): void {
    this.retryMs = Math.min(this.retryMs ?? milliseconds, milliseconds);
  }
}
