// Reads match and exclude of a Kyverno rule as sets of namespaces.
// https://github.com/kyverno/kyverno/blob/main/api/kyverno/v1/match_resources_types.go
import { sourceOfGlob } from '../name-patterns.ts';
import { both, conditionOn, outsideOf, selectedIn, type NamespaceReach } from '../reach.ts';
import type { Reader } from '../reader.ts';

/** Undefined if the rule has another trigger, or a part that no set of namespaces says. */
export function reachesOfRule(rule: Reader): readonly NamespaceReach[] | undefined {
  const matched = alternativesIn(rule.at('match'));
  const excluded = rule.at('exclude').isPresent ? alternativesIn(rule.at('exclude')) : [];
  if (matched === undefined || excluded === undefined) return undefined;
  const reaches = matched.flatMap((reach) => outsideOf(reach, excluded) ?? []);
  return reaches.length < matched.length ? undefined : reaches;
}

/** `any` and `all` are lists of filters. The older form is one filter. */
function alternativesIn(match: Reader): readonly NamespaceReach[] | undefined {
  const [any, all] = [match.at('any').items(), match.at('all').items()];
  const filters = [...any, ...all, ...(match.at('resources').isPresent ? [match] : [])];
  const reaches = filters.flatMap((each) => reachIn(each.at('resources')) ?? []);
  if (filters.length === 0 || reaches.length < filters.length) return undefined;
  return any.length > 0 ? reaches : [reaches.reduce(both)];
}

function reachIn(resources: Reader): NamespaceReach | undefined {
  const kinds = resources.at('kinds').texts() ?? [];
  const operations = resources.at('operations').texts() ?? ['CREATE'];
  const isOther = kinds.some((kind) => kind !== 'Namespace' && kind !== 'v1/Namespace');
  const selected = selectedIn({}, resources.at('selector'));
  const named = namedReach(resources);
  return kinds.length === 0 || isOther || !operations.includes('CREATE')
    ? undefined
    : selected && both(selected, named);
}

/** `*` stands for any characters, as in our globs, and `?` for one. */
function namedReach(resources: Reader): NamespaceReach {
  const names = [resources.at('name').text() ?? [], resources.at('names').texts() ?? []].flat();
  if (names.length === 0) return {};
  return names.some((each) => each.includes('?')) ? conditionOn(names.map(sourceOfGlob)) : { names };
}
