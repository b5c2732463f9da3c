// Compiles `a.b`, `a.?b` and has(a.b).
import { nearest } from '../../base/nearest.ts';
import type { Select } from '../syntax/ast.ts';
import { CompileProblem } from '../syntax/problem.ts';
import { typeOfObjectField } from '../types/object-type.ts';
import { BOOL, DYN, optionalType, typeText, type Type } from '../types/type.ts';
import {
  evaluationError,
  EvaluationError,
  missingMetadata,
  NO_METADATA,
  noSuchKey,
} from '../values/evaluation-error.ts';
import { findKey, hasKey, isMap } from '../values/map.ts';
import { type Value, NONE, Optional } from '../values/value.ts';
import type { ExpressionCompilation, Compiled } from './compilation.ts';
import { compileGlobal, compileTypeName, dottedName } from './name.ts';

const maxMisspelled = 3;
const maxFieldsListed = 12;
const NO_FIELDS = evaluationError('only maps have fields');

export function compileSelect(compilation: ExpressionCompilation, node: Select): Compiled {
  const name = dottedName(node);
  const typeName = name === undefined ? undefined : compileTypeName(name);
  if (typeName !== undefined) return typeName;
  const operand = compileOperand(compilation, node);
  const operandType = compilation.unifier.resolve(operand.type);
  const isOptional = operandType.kind === 'optional_type';
  const heldType = isOptional ? (operandType.params[0] ?? DYN) : operandType;
  const fieldType = typeOfField(compilation, heldType, node);
  const { step } = operand;
  const { field } = node;
  if (heldType.metadata !== undefined) compilation.looksUp(heldType.metadata, field);
  switch (node.mode) {
    case 'test':
      return { type: BOOL, step: (frame) => testField(step(frame), field) };
    case 'optional':
      return { type: optionalType(fieldType), step: (frame) => optionalField(step(frame), field) };
    default: {
      const absent = absentField(operandType, fieldType, field);
      const type = isOptional ? optionalType(fieldType) : fieldType;
      const none = operandType.metadata && NO_METADATA[operandType.metadata];
      return {
        type,
        step(frame) {
          const value = step(frame);
          return value === none ? absent : plainField(value, field, absent);
        },
      };
    }
  }
}

function absentField(operand: Type, type: Type, field: string): EvaluationError {
  if (operand.metadata !== undefined) return missingMetadata(operand.metadata, field);
  return type.metadata === undefined ? noSuchKey(field) : NO_METADATA[type.metadata];
}

/** Compiles the operand. Only here may a field of a restricted `request` be read. */
function compileOperand(compilation: ExpressionCompilation, node: Select): Compiled {
  const { operand } = node;
  const { requestFields } = compilation.scope;
  const isRequest = operand.kind === 'identifier' && operand.name === 'request';
  if (!isRequest || requestFields === undefined || compilation.local('request') !== undefined) {
    return compilation.compile(operand);
  }
  if (!requestFields.includes(node.field)) {
    throw new CompileProblem(`of request only ${requestFields.join(', ')} can be read here`, node.offset);
  }
  return compileGlobal(compilation, operand) ?? compilation.compile(operand);
}

function typeOfField(compilation: ExpressionCompilation, type: Type, node: Select): Type {
  switch (type.kind) {
    case 'map':
      return type.params[1] ?? DYN;
    case 'param':
      compilation.unifier.assign(DYN, type);
      return DYN;
    case 'dyn':
      return DYN;
    default:
      return typeOfObjectField(type, node.field) ?? refuseField(type, node);
  }
}

function refuseField(type: Type, { field, offset }: Select): never {
  const fields = Object.keys(type.fields ?? {});
  const meant = nearest(field.slice(0, 60), fields, maxMisspelled);
  const hint = meant === undefined ? fieldsHint(fields) : `; did you mean ${meant}?`;
  throw new CompileProblem(
    `a value of type ${typeText(type)} has no field ${field.slice(0, 60)}${hint}`,
    offset,
  );
}

function fieldsHint(fields: readonly string[]): string {
  return fields.length === 0 ? '' : `; it has ${fields.slice(0, maxFieldsListed).join(', ')}`;
}

function plainField(operand: Value, field: string, absent: EvaluationError): Value {
  if (operand instanceof EvaluationError) return operand;
  if (isMap(operand)) {
    const value = findKey(operand, field);
    return value === undefined ? absent : value;
  }
  if (operand instanceof Optional) return optionalField(operand, field);
  return operand === null ? absent : NO_FIELDS;
}

function optionalField(operand: Value, field: string): Value {
  if (operand instanceof Optional) return operand === NONE ? NONE : optionalField(operand.value, field);
  if (operand instanceof EvaluationError) return operand;
  if (Array.isArray(operand)) return NO_FIELDS;
  const value = isMap(operand) ? findKey(operand, field) : undefined;
  // A field of `variables` exists even when its evaluation ends with an error.
  if (value instanceof EvaluationError) return value;
  return value === undefined ? NONE : new Optional(value);
}

function testField(operand: Value, field: string): Value {
  if (operand instanceof EvaluationError) return operand;
  if (operand instanceof Optional) return operand !== NONE && testField(operand.value, field);
  if (Array.isArray(operand)) return NO_FIELDS;
  return isMap(operand) && hasKey(operand, field);
}
