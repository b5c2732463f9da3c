// Compiles `variables.<name>`, where a policy says what its variables stand for.
import { nearest } from '../../base/nearest.ts';
import { CompileError, type Index, type Select } from '../syntax/ast.ts';
import { BOOL, mapType, objectType, optionalType, STRING } from '../types/type.ts';
import { evaluationError, EvaluationError, Optional, type Value } from '../values/value.ts';
import type { Compiled, ExpressionScope, ExpressionCompilation } from './compilation.ts';
import { compileIndex, compileSelect } from './select.ts';

const maxMisspelled = 3;
const maxNamesListed = 12;
const clusterField = 'cluster';
const NO_CLUSTER = evaluationError('the variables of the cluster are not known here');

export function compileDefined(compilation: ExpressionCompilation, node: Select): Compiled {
  const { step, type } =
    node.field === clusterField ? clusterVariables(compilation.scope) : definedAs(compilation, node);
  switch (node.mode) {
    case 'test':
      return { type: BOOL, step: () => true };
    case 'optional':
      return { type: optionalType(type), step: (frame) => optionalOf(step(frame)) };
    default:
      return { type, step };
  }
}

function optionalOf(value: Value): Value {
  return value instanceof EvaluationError ? value : new Optional(value);
}

/** The facts about the cluster. With an unknown name, a policy does not load. */
function clusterVariables({ definitions }: ExpressionScope): Compiled {
  const cluster = definitions?.cluster;
  if (cluster === undefined) return { type: mapType(STRING, STRING), step: () => NO_CLUSTER };
  const fields = Object.fromEntries(Object.keys(cluster).map((name) => [name, STRING]));
  return { type: objectType('variables.cluster', fields), step: () => cluster };
}

function definedAs(compilation: ExpressionCompilation, { field, offset }: Select): Compiled {
  const compiled = attempt(compilation, field, offset);
  if (compiled !== undefined) return compiled;
  const names = [...compilation.definitionNames, clusterField];
  const shown = field.slice(0, 60);
  const meant = nearest(shown, names, maxMisspelled);
  const hint =
    meant === undefined ? `there are ${names.slice(0, maxNamesListed).join(', ')}` : `did you mean ${meant}?`;
  throw new CompileError(`no variable ${shown} is defined before; ${hint}`, offset);
}

/** The offset of an error is one in the text of the variable, so it means nothing here. */
function attempt(compilation: ExpressionCompilation, name: string, offset: number): Compiled | undefined {
  try {
    return compilation.defined(name);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    throw new CompileError(`variables.${name} cannot be read here: ${error.message}`, offset);
  }
}

/** The name of a cluster variable may have dots: `variables.cluster['region.example.com']`. */
export function compileDefinedIndex(compilation: ExpressionCompilation, node: Index): Compiled {
  const { key, operand, isOptional, offset } = node;
  const isNamed = operand.kind === 'select' && operand.field === clusterField && key.kind === 'literal';
  if (!isNamed || typeof key.value !== 'string') return compileIndex(compilation, node);
  const mode = isOptional ? 'optional' : 'plain';
  return compileSelect(compilation, { kind: 'select', operand, field: key.value, mode, offset });
}
