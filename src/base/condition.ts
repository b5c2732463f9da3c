// Kubernetes conditions: how to find one in a status, stamp its transition time and compare it.
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties
import { isJsonObject, ownMember } from './json.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface StampedCondition extends Condition {
  readonly lastTransitionTime: string;
}

/** Returns undefined if the status has no condition of the type, or a malformed one. */
export function conditionOf(status: unknown, type: string): StampedCondition | undefined {
  const conditions = ownMember(status, 'conditions');
  if (!Array.isArray(conditions)) return undefined;
  return conditions.find((each): each is StampedCondition => isCondition(each) && each.type === type);
}

function isCondition(value: unknown): value is StampedCondition {
  const texts = ['type', 'status', 'reason', 'message', 'lastTransitionTime'];
  return isJsonObject(value) && texts.every((field) => typeof ownMember(value, field) === 'string');
}

/** Sets lastTransitionTime: a new status is a transition, a new reason or message is not. */
export function stamped(
  condition: Condition,
  before: StampedCondition | undefined,
  now: Date,
): StampedCondition {
  const { type, status, reason, message } = condition;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : seconds(now);
  return { type, status, reason, message, lastTransitionTime };
}

/** metav1.Time has no fractions of a second. */
function seconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Compares the conditions of each type. */
export function areSameConditions(a: readonly Condition[], b: readonly Condition[]): boolean {
  const isIn = (all: readonly Condition[], one: Condition): boolean =>
    all.some((each) => each.type === one.type && isSameCondition(one, each));
  return a.length === b.length && a.every((each) => isIn(b, each));
}

export function isSameCondition(a: Condition, b: Condition | undefined): boolean {
  return a.status === b?.status && a.reason === b.reason && a.message === b.message;
}
