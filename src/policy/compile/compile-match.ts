// Compiles the terms by which a policy matches namespaces.
import type {
  MatchCondition as MatchConditionSpec,
  MatchSpec,
} from '../../api/namespace-policy/namespace-policy.ts';
import { compileExpression } from '../../cel/expression.ts';
import { allOf, compiled, mapped, refused, type Compilation } from '../terms/compilation.ts';
import { compileGlob } from '../terms/glob.ts';
import type { CompiledMatch, MatchCondition } from '../terms/match.ts';
import { compileSelector } from '../../api/selector.ts';

export function compileMatch(match: MatchSpec = {}): Compilation<CompiledMatch> {
  return mapped(allOf((match.matchConditions ?? []).map(compileCondition)), (conditions) => ({
    selector: match.namespaceSelector === undefined ? undefined : compileSelector(match.namespaceSelector),
    names: match.names?.map(compileGlob),
    excludeNames: (match.excludeNames ?? []).map(compileGlob),
    conditions,
  }));
}

function compileCondition(condition: MatchConditionSpec, index: number): Compilation<MatchCondition> {
  const result = compileExpression(condition.expression, { variables: ['namespaceObject'] }, 'bool');
  if (result.ok) return compiled({ name: condition.name, expression: result.expression });
  return refused([
    {
      path: ['spec', 'match', 'matchConditions', index, 'expression'],
      found: result.problem.message,
      accepted: 'CEL over namespaceObject that gives a bool',
      offset: result.problem.offset,
    },
  ]);
}
