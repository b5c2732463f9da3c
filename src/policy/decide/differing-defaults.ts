// Finds keys for which two policies of one namespace can have different defaults. The first policy by name sets the key.
import { keyText, nameOf, type KubeObject } from '../../base/metadata.ts';
import type { Path } from '../../base/problem.ts';
import { keySource } from '../../rules/default-keys.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { isManaged } from '../desired/desired.ts';
import type { DefaultKey } from '../../rules/rule.ts';
import type { Budget } from '../terms/budget.ts';
import { canBothMatch, matchNamespace, mayMatch } from '../terms/match.ts';
import { compareProviders, type ProviderId } from '../terms/provider-id.ts';
import { counted, listed, quoted } from '../../base/text.ts';

interface DifferingDefault {
  readonly path: Path;
  /** The policy whose value the namespaces get. */
  readonly winner: ProviderId;
  /** The other policies, without the given one. */
  readonly others: readonly ProviderId[];
  readonly message: string;
}

const blocks = { namespaces: 'namespaceDefaults', secrets: 'secretDefaults' } as const;
type Block = keyof typeof blocks;

interface OtherDefault {
  readonly policy: CompiledPolicy;
  readonly source: string;
}

/** Returns at most two differences for each key: one with the first policy, and one with all policies after the given one. */
export function differingDefaults(
  policy: CompiledPolicy,
  snapshot: ClusterSnapshot,
  budget: Budget,
): readonly DifferingDefault[] {
  return (['namespaces', 'secrets'] as const).flatMap((block) =>
    policy[blocks[block]].flatMap((key) => {
      const others = othersOf(policy, block, key, snapshot);
      const isBefore = ({ policy: { id } }: OtherDefault): boolean => compareProviders(id, policy.id) < 0;
      // Policies are in the order in which they set defaults.
      const groups = [others.filter(isBefore).slice(0, 1), others.filter((each) => !isBefore(each))];
      return groups.flatMap((group): readonly DifferingDefault[] => {
        const [first] = group;
        if (first === undefined) return [];
        const winner = isBefore(first) ? first.policy.id : policy.id;
        const message =
          `${differenceText(key, group)}; where both match, ${winner} comes first` +
          whereText([policy, ...group.map((each) => each.policy)], snapshot, budget);
        return [{ path: keySource(key), winner, others: group.map((each) => each.policy.id), message }];
      });
    }),
  );
}

function othersOf(
  { id, match }: CompiledPolicy,
  block: Block,
  { rule, field, key, template }: DefaultKey,
  { policies }: ClusterSnapshot,
): readonly OtherDefault[] {
  return policies.policies.flatMap((policy) => {
    const other = policy[blocks[block]].find(
      (each) => each.rule === rule && each.field === field && each.key === key,
    );
    if (other === undefined || other.template.source === template.source || policy.id === id) return [];
    return canBothMatch(match, policy.match) ? [{ policy, source: other.template.source }] : [];
  });
}

function differenceText(
  { rule, isEnforced, field, key, template }: DefaultKey,
  others: readonly OtherDefault[],
): string {
  const values = [...new Set(others.map(({ source }) => source))];
  const theirs = values.length === 1 ? values.map(quoted).join('') : 'another value';
  const ids = listed(others.map(({ policy }) => policy.id));
  const what = `${keyText(field, key)}${rule === 'secrets.defaults' ? ' of Secrets' : ''}`;
  const word = isEnforced ? 'enforced value' : 'default';
  return `its ${word} of ${what} is ${quoted(template.source)}, and that of ${ids} is ${theirs}`;
}

/** Returns an empty text if no namespace matches both policies now. */
function whereText(
  [policy, ...others]: readonly CompiledPolicy[],
  snapshot: ClusterSnapshot,
  budget: Budget,
): string {
  const isMatched = (each: CompiledPolicy | undefined, namespaceObject: KubeObject): boolean =>
    each !== undefined && matchNamespace(each.match, namespaceObject, budget).kind === 'yes';
  const names = [...snapshot.namespaces()]
    .filter(
      (namespaceObject) =>
        isManaged(namespaceObject, snapshot) &&
        // Names and labels come before all conditions, because they cost nothing.
        others.some(({ match }) => mayMatch(match, namespaceObject)) &&
        isMatched(policy, namespaceObject) &&
        others.some((each) => isMatched(each, namespaceObject)),
    )
    .map(nameOf);
  return names.length === 0 ? '' : `: ${counted(names.length, 'namespace')} (${listed(names)})`;
}
