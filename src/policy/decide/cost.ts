// Measures what a write of a namespace costs as far as it is about one policy, and says when that is too much.
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { auditNamespace } from './audit.ts';
import {
  CountingBudget,
  defaultEvaluationUnits,
  unlimitedBudget,
  type Circumstances,
} from '../terms/budget.ts';
import { unitsText } from '../../base/text.ts';

export interface NamespaceCost {
  readonly name: string;
  readonly units: number;
}

/** A policy that costs less leaves enough for nine others. */
const dearUnits = defaultEvaluationUnits / 10;

/** Counts match, rules and contents. Without expressions all of it costs next to nothing, which counts as nothing. */
export function costIn(
  { kind, compiled }: ProviderDefinition,
  namespaceObject: KubeObject,
  circumstances: Circumstances,
): NamespaceCost {
  const budget = new CountingBudget(circumstances.budget);
  if (kind === 'NamespacePolicy' && hasExpressions(compiled)) {
    const { isMatched } = auditNamespace(compiled, namespaceObject, { ...circumstances, budget });
    if (isMatched) for (const content of compiled.contents) content.render(namespaceObject, budget);
  }
  return { name: nameOf(namespaceObject), units: budget.units };
}

/** Returns the first by name where the costs are equal: a status must not change with the order of the namespaces. */
export function dearer(a: NamespaceCost | undefined, b: NamespaceCost): NamespaceCost {
  if (a === undefined || a.units < b.units) return b;
  return a.units === b.units && b.name < a.name ? b : a;
}

export function isDear(units: number): boolean {
  return units >= dearUnits;
}

/** Undefined for what is cheap everywhere. */
export function dearText(dearest: NamespaceCost | undefined): string | undefined {
  if (dearest === undefined || !isDear(dearest.units)) return undefined;
  return (
    `costs ${unitsText(dearest.units)} in namespace ${dearest.name}, of the ${unitsText(defaultEvaluationUnits)} ` +
    'that all policies together may cost for one request. Make its expressions cheaper'
  );
}

/** As `dearText`, for a policy that is stored or in a file. */
export function dearTextIn(
  definition: ProviderDefinition,
  namespaces: readonly KubeObject[],
  now: Date,
): string | undefined {
  const costs = namespaces.map((each) => costIn(definition, each, { now, budget: unlimitedBudget }));
  return dearText(costs.reduce<NamespaceCost | undefined>(dearer, undefined));
}

function hasExpressions({ match, contents, rules }: CompiledPolicy): boolean {
  return (
    match.conditions.length > 0 ||
    contents.some(({ isTemplated }) => isTemplated) ||
    rules.namespaces.some(({ traits }) => traits.hasExpressions === true)
  );
}
