// Sets enforced labels and annotations in a write of a Namespace, and finds those whose value its user did not choose.
import { keyText, metadataMap, valueOf, type KubeObject, type MetadataField } from '../../base/metadata.ts';
import { clipped, quoted } from '../../base/text.ts';
import { enforcedValue } from '../../rules/enforced-keys.ts';
import type { DefaultKey, OwnsDefault, RuledWrite } from '../../rules/rule.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { Budget } from '../terms/budget.ts';
import { shownName } from '../terms/provider-id.ts';

/** The written Namespace, with the keys that policies have set so far. */
interface Target {
  readonly object: KubeObject;
  add(key: DefaultKey, value: string, policy: string): void;
  note(key: DefaultKey, text: string): void;
}

interface Enforcement {
  readonly policy: string;
  readonly keys: readonly DefaultKey[];
  /** The old Namespace, if the policy denied violations there. A violation that it already had stays, as in the validation. */
  readonly graced: KubeObject | undefined;
  /** The keys that policies before this one enforce. */
  readonly taken: Set<string>;
  readonly review: Pick<RuledWrite, 'object' | 'oldObject'>;
}

export function enforceKeys(
  target: Target,
  { policy, keys, graced, taken, review }: Enforcement,
  budget: Budget,
): void {
  for (const key of keys) {
    const id = `${key.field} ${key.key}`;
    if (!key.isEnforced || taken.has(id) || budget.isSpent()) continue;
    taken.add(id);
    const rendered = enforcedValue(key, target.object, budget);
    if (!rendered.ok || rendered.value === valueIn(target.object, key)) continue;
    const written = valueIn(review.object, key);
    if (graced !== undefined && isOldViolation(key, graced, written, budget)) continue;
    target.add(key, rendered.value, policy);
    if (written === undefined && valueIn(review.oldObject, key) === undefined) continue;
    // Only the user who sends another value, or removes the key, learns of it.
    const inPlace = written === undefined ? '' : ` in place of ${quoted(written)}`;
    const text = `${keyText(key.field, key.key)}=${clipped(rendered.value)}${inPlace}`;
    target.note(key, `${shownName(policy)} sets ${text}, because it enforces this value`);
  }
}

function valueIn(object: KubeObject | undefined, { field, key }: DefaultKey): string | undefined {
  return valueOf(metadataMap(object, field), key);
}

/** True if the key had this value already, and another one was enforced. */
function isOldViolation(
  key: DefaultKey,
  old: KubeObject,
  value: string | undefined,
  budget: Budget,
): boolean {
  if (valueIn(old, key) !== value) return false;
  const rendered = enforcedValue(key, old, budget);
  return !rendered.ok || rendered.value !== value;
}

/** A key of the written Namespace whose value a policy sets, so that its author answers for it. */
export interface DefaultedKey {
  readonly field: MetadataField;
  readonly key: string;
  readonly value: string;
  /** True if Reeve sets the value in place of any other. */
  readonly isEnforced: boolean;
}

/**
 * Returns the keys of the policy that have the enforced value, and had another one before. Of an existing Namespace, the value
 * must be the same without the write: otherwise the user chose it, by a label that the template reads.
 */
export function enforcedIn(
  { namespaceDefaults }: CompiledPolicy,
  enforces: OwnsDefault,
  { before, after }: { readonly before: KubeObject; readonly after: KubeObject },
  isCreated: boolean,
  budget: Budget,
): readonly DefaultedKey[] {
  return namespaceDefaults.flatMap((each) => {
    const { field, key, isEnforced } = each;
    const value = valueIn(after, each);
    if (!isEnforced || !enforces(field, key) || value === undefined || valueIn(before, each) === value)
      return [];
    const isChosen = (isCreated ? [after] : [before, after]).some((side) => {
      const rendered = enforcedValue(each, side, budget);
      return !rendered.ok || rendered.value !== value;
    });
    return isChosen ? [] : [{ field, key, value, isEnforced }];
  });
}
