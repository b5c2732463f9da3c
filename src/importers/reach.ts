// Describes the namespaces that an older tool selects, and joins such descriptions.
import { labelSelector, type LabelRequirement, type LabelSelector } from '../schema/selector.ts';
import { joinedSelector } from '../api/intents/joined-selector.ts';
import type { MatchSpec } from '../api/namespace-policy/namespace-policy.ts';
import { validate } from '../schema/validate.ts';
import type { KubeObject } from '../base/metadata.ts';
import { compileMatch, matchNamespace } from '../policy/terms/match.ts';
import { compileGlob } from '../cel/regex.ts';
import { distinct, filled, type Reader } from './reader.ts';
import { sourceOfGlob } from './name-patterns.ts';

/** A policy matches these namespaces as they are written. A share has no conditions. */
export type NamespaceReach = MatchSpec;

export const everywhere: NamespaceReach = { names: ['*'] };
const nowhere: NamespaceReach = { names: [] };

export function isIn(reach: NamespaceReach, namespace: KubeObject): boolean {
  const compiled = compileMatch(reach);
  return compiled.ok && matchNamespace(compiled.value, namespace).kind === 'yes';
}

/** Matches the names in which one of these RE2 expressions is found. */
export function conditionOn(sources: readonly string[]): NamespaceReach {
  const tests = sources.map((source) => `namespaceObject.metadata.name.matches(${JSON.stringify(source)})`);
  return { matchConditions: [{ name: 'name', expression: tests.join(' || ') }] };
}

/** Reads a selector. A part that cannot be read makes the whole selector lost, because the rest would match more. */
export function selectorIn(reader: Reader): LabelSelector | undefined {
  const read = validate(labelSelector, reader.whole());
  if (read.ok) return filled(read.value);
  reader.lose('a selector that Reeve cannot read');
  return undefined;
}

/** Returns the part of the reach that a selector of the input selects. Undefined if the selector cannot be read. */
export function selectedIn(reach: NamespaceReach, selector: Reader): NamespaceReach | undefined {
  const namespaceSelector = selector.isPresent ? selectorIn(selector) : {};
  return namespaceSelector && both(reach, filled({ namespaceSelector }));
}

function labelRequirements(selector: LabelSelector = {}): readonly LabelRequirement[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.entries(matchLabels);
  return [
    ...labels.map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })),
    ...matchExpressions,
  ];
}

export function selectedBy(requirements: readonly LabelRequirement[]): NamespaceReach {
  const joined = joinedSelector(requirements, []);
  return joined.ok ? { namespaceSelector: joined.selector ?? {} } : nowhere;
}

/** Returns the namespaces that both reaches contain. */
export function both(a: NamespaceReach, b: NamespaceReach): NamespaceReach {
  const { names, conditions = [] } = commonNames(a.names, b.names);
  const selected =
    a.namespaceSelector && b.namespaceSelector
      ? selectedBy([...labelRequirements(a.namespaceSelector), ...labelRequirements(b.namespaceSelector)])
      : filled({ namespaceSelector: a.namespaceSelector ?? b.namespaceSelector });
  const excludeNames = distinct([...(a.excludeNames ?? []), ...(b.excludeNames ?? [])]);
  const all = distinct(
    [a, b, ...conditions].flatMap(({ matchConditions = [] }) =>
      matchConditions.map((each) => each.expression),
    ),
  );
  const matchConditions = all.map((expression, index) => ({ name: `condition-${index + 1}`, expression }));
  return { ...(names && { names }), ...selected, ...filled({ excludeNames, matchConditions }) };
}

interface CommonNames {
  readonly names?: readonly string[];
  readonly conditions?: readonly NamespaceReach[];
}

function commonNames(a?: readonly string[], b?: readonly string[]): CommonNames {
  const names = a ?? b;
  if (a === undefined || b === undefined) return names === undefined ? {} : { names };
  const pairs = a.flatMap((one) => b.map((other) => commonGlob(one, other)));
  if (pairs.includes(undefined)) return { names: a, conditions: [conditionOn(b.map(sourceOfGlob))] };
  return { names: distinct(pairs.flatMap((glob) => glob ?? [])) };
}

/** Null if no name matches both; undefined if no glob says which names do. */
function commonGlob(one: string, other: string): string | null | undefined {
  if (one === other || other === '*') return one;
  if (one === '*') return other;
  const [a, b] = [compileGlob(one), compileGlob(other)];
  if (a.exact) return b.matches(one) ? one : null;
  if (b.exact) return a.matches(other) ? other : null;
  const [longer, shorter] = a.prefix.length > b.prefix.length ? [a, b] : [b, a];
  if (!longer.prefix.startsWith(shorter.prefix)) return null;
  // All names that begin with the longer text begin with the shorter one.
  return shorter.source === `${shorter.prefix}*` ? longer.source : undefined;
}

const opposite = { In: 'NotIn', NotIn: 'In', Exists: 'DoesNotExist', DoesNotExist: 'Exists' } as const;

/** Returns the namespaces outside of the reach. Undefined if names, requirements and conditions limit the reach together. */
export function complementOf(reach: NamespaceReach): NamespaceReach | undefined {
  const { names, namespaceSelector, matchConditions = [], excludeNames } = reach;
  const requirements = labelRequirements(namespaceSelector);
  const [only, condition] = [requirements[0], matchConditions[0]];
  if ((names ? 1 : 0) + requirements.length + matchConditions.length !== 1 || excludeNames) return undefined;
  if (names !== undefined) return { excludeNames: names };
  if (condition !== undefined)
    return { matchConditions: [{ ...condition, expression: `!(${condition.expression})` }] };
  return only && selectedBy([{ ...only, operator: opposite[only.operator] }]);
}

/** Returns the part of the reach outside of the others. Undefined if one of them has no complement. */
export function outsideOf(
  reach: NamespaceReach,
  others: readonly NamespaceReach[],
): NamespaceReach | undefined {
  return others
    .map(complementOf)
    .reduce<NamespaceReach | undefined>((all, each) => all && each && both(all, each), reach);
}

/** The form of a policy: no match stands for every namespace. */
export function matchOfReach(reach: NamespaceReach): { readonly match?: NamespaceReach } {
  const { names, ...others } = reach;
  const match = names?.length === 1 && names[0] === '*' ? others : reach;
  return Object.keys(match).length === 0 ? {} : { match };
}
