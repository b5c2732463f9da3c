// Compiles `a.b`, `a.?b` and has(a.b).
import { nearest } from '../../base/nearest.ts';
import { type Select, CompileError, type Index, type Identifier, type Node } from '../syntax/ast.ts';
import * as types from '../types/type.ts';
import {
  typeOfObjectField,
  BOOL,
  DYN,
  optionalType,
  typeText,
  type Type,
  INT,
  listType,
  mapType,
  typeParameter,
  NAMESPACE,
  objectType,
  REQUEST,
} from '../types/type.ts';
import {
  evaluationError,
  EvaluationError,
  missingMetadata,
  NO_METADATA,
  noSuchKey,
  type Value,
  NONE,
  Optional,
  findKey,
  hasKey,
  isMap,
  adapt,
  Double,
  Uint,
  TypeValue,
} from '../values/value.ts';
import { type ExpressionCompilation, type Compiled, resolveOverloads, type Variable } from './compilation.ts';
import type { MetadataField } from '../../base/metadata.ts';

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
  const containerType = isOptional ? (operandType.params[0] ?? DYN) : operandType;
  const fieldType = typeOfField(compilation, containerType, node);
  const { step } = operand;
  const { field } = node;
  if (containerType.metadata !== undefined) compilation.looksUp(containerType.metadata, field);
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
    throw new CompileError(`of request only ${requestFields.join(', ')} can be read here`, node.offset);
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
  throw new CompileError(
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

// Compiles `a[b]` and `a[?b]` for lists, maps, and optionals of them.

const A = typeParameter('A');
const B = typeParameter('B');
const PLAIN = [
  { params: [listType(A), INT], result: A },
  { params: [mapType(A, B), A], result: B },
  { params: [optionalType(listType(A)), INT], result: optionalType(A) },
  { params: [optionalType(mapType(A, B)), A], result: optionalType(B) },
];
const OPTIONAL = PLAIN.map(({ params, result }, index) => ({
  params,
  result: index < 2 ? optionalType(result) : result,
}));

const OUT_OF_RANGE = evaluationError('the list has no such index');
const NO_SUCH_KEY = evaluationError('no such key');
const NOT_AN_INDEX = evaluationError('a list is indexed by whole numbers');
const NOT_A_KEY = evaluationError('a value of this type cannot be a key');
const NOT_INDEXABLE = evaluationError('only lists and maps have elements');

/** Kubernetes refuses keys of these types, and lists. */
const NEVER_KEYS: readonly string[] = ['null_type', 'bytes'];

export function compileIndex(compilation: ExpressionCompilation, node: Index): Compiled {
  if (node.key.kind === 'list' || (node.key.kind === 'literal' && NEVER_KEYS.includes(node.key.type.kind))) {
    throw new CompileError('this cannot be a key', node.key.offset);
  }
  const operand = compilation.compile(node.operand);
  const key = compilation.compile(node.key);
  const type = typeOfElement(compilation, node, [operand.type, key.type]);
  const { metadata } = heldType(compilation.unifier.resolve(operand.type));
  const absent = metadata === undefined ? absentElement(node) : absentMetadata(metadata, node);
  const none = metadata && NO_METADATA[metadata];
  if (metadata !== undefined) compilation.looksUp(metadata, literalKey(node));
  const [left, right] = [operand.step, key.step];
  if (node.isOptional) return { type, step: (frame) => optionalElement(left(frame), right(frame)) };
  return {
    type,
    step(frame) {
      const container = left(frame);
      const found = right(frame);
      const value = elementOf(container, found);
      return value === undefined || value === none ? absent(container, found) : value;
    },
  };
}

function heldType(type: Type): Type {
  return type.kind === 'optional_type' ? (type.params[0] ?? type) : type;
}

function typeOfElement(compilation: ExpressionCompilation, node: Index, given: readonly Type[]): Type {
  const resolution = resolveOverloads(compilation.unifier, node.isOptional ? OPTIONAL : PLAIN, given);
  if (resolution !== undefined) return resolution.type;
  const [operand = A, key = A] = given.map((type) => compilation.unifier.resolve(type));
  throw new CompileError(`a ${typeText(operand)} cannot be indexed by a ${typeText(key)}`, node.offset);
}

/** A key that stands in the expression itself, so that a message may name it. */
function literalKey({ key }: Index): string | undefined {
  return key.kind === 'literal' && typeof key.value === 'string' ? key.value : undefined;
}

type Absence = (container: Value, key: Value) => Value;

function absentElement(node: Index): Absence {
  const literal = literalKey(node);
  if (literal === undefined) return (container) => (Array.isArray(container) ? OUT_OF_RANGE : NO_SUCH_KEY);
  const error = noSuchKey(literal);
  return () => error;
}

/** Kubernetes reports a missing map before it looks at the key. Here the error of a computed key comes first. */
function absentMetadata(metadata: MetadataField, node: Index): Absence {
  const literal = literalKey(node);
  if (literal === undefined)
    return (_container, key) => (typeof key === 'string' ? missingMetadata(metadata, key) : keyError(key));
  const error = missingMetadata(metadata, literal);
  return () => error;
}

function keyError(key: Value): EvaluationError {
  return key instanceof EvaluationError ? key : NO_SUCH_KEY;
}

/** Returns the element, an error, or undefined when there is no such element. */
function elementOf(container: Value, key: Value): Value {
  if (container instanceof EvaluationError) return container;
  if (key instanceof EvaluationError) return key;
  if (isMap(container)) return mayBeIndex(key) ? findKey(container, key) : NOT_A_KEY;
  if (Array.isArray(container)) return listElement(container, key);
  if (container instanceof Optional) return optionalElement(container, key);
  return container === null ? undefined : NOT_INDEXABLE;
}

/** `map[?null]` is an error, as in Kubernetes, while `map[?'missing']` is none. */
function mayBeIndex(key: Value): boolean {
  return typeof key !== 'object' || key instanceof Uint || key instanceof Double;
}

function listElement(list: readonly unknown[], key: Value): Value {
  const index = wholeNumber(key);
  if (index === undefined) return NOT_AN_INDEX;
  return index >= 0 && index < list.length ? adapt(list[index]) : undefined;
}

function wholeNumber(key: Value): number | undefined {
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof Uint) return Number(key.value);
  return key instanceof Double && Number.isInteger(key.value) ? key.value : undefined;
}

function optionalElement(container: Value, key: Value): Value {
  if (container === NONE) return key instanceof EvaluationError ? key : NONE;
  const held = container instanceof Optional ? container.value : container;
  const value = elementOf(held, key);
  // A value without elements has no such element.
  if (value === NOT_INDEXABLE) return NONE;
  if (value instanceof EvaluationError || held instanceof Optional) return value;
  return value === undefined ? NONE : new Optional(value);
}

// Compiles names: variables of macros, variables of the scope, and names of types.

const namedTypes: ReadonlyMap<string, types.Type> = new Map(
  [
    types.BOOL,
    types.BYTES,
    types.DOUBLE,
    types.DURATION,
    types.INT,
    types.listType(types.DYN),
    types.mapType(types.DYN, types.DYN),
    types.NULL,
    types.optionalType(types.DYN),
    types.STRING,
    types.TIMESTAMP,
    types.typeOfKind('net.CIDR'),
    types.typeOfKind('net.IP'),
    types.typeOfKind('type'),
    types.UINT,
  ].map((type) => [type.kind, type]),
);

export function compileIdentifier(compilation: ExpressionCompilation, node: Identifier): Compiled {
  const local = compilation.local(node.name);
  if (local !== undefined) {
    const { slot } = local;
    return { type: local.type, step: (frame) => frame.slots[slot] };
  }
  if (node.name === 'request' && compilation.scope.requestFields !== undefined) {
    throw new CompileError('of request only single fields can be read here', node.offset);
  }
  if (compilation.isDefinitions(node)) {
    throw new CompileError('of variables only single fields can be read', node.offset);
  }
  return compileGlobal(compilation, node) ?? compileTypeName(node.name) ?? refuseName(node);
}

/** Compiles a variable of the scope. */
function compileGlobal(compilation: ExpressionCompilation, node: Identifier): Compiled | undefined {
  const variable = compilation.global(node.name);
  if (variable === undefined) return undefined;
  compilation.reads.add(variable);
  return {
    type: typeOfVariable(compilation, variable),
    step: (frame) => adapt(frame.bindings[variable] ?? null),
  };
}

function typeOfVariable({ scope }: ExpressionCompilation, variable: Variable): types.Type {
  if (variable === 'namespaceObject') return NAMESPACE;
  if (variable === 'request') return REQUEST;
  if (variable === 'item') return types.STRING;
  if (variable === 'data') return types.mapType(types.STRING, types.STRING);
  return variable === 'variables' ? objectType('kubernetes.variables', scope.computed ?? {}) : types.DYN;
}

function compileTypeName(name: string): Compiled | undefined {
  const type = namedTypes.get(name);
  if (type === undefined) return undefined;
  const value = new TypeValue(name);
  return { type: types.typeType(type), step: () => value };
}

function refuseName(node: Identifier): never {
  throw new CompileError(`there is no variable ${node.name.slice(0, 60)} here`, node.offset);
}

/** Returns `a.b.c` for a node of names only. */
export function dottedName(node: Node): string | undefined {
  if (node.kind === 'identifier') return node.name;
  if (node.kind !== 'select' || node.mode !== 'plain') return undefined;
  const operand = dottedName(node.operand);
  return operand === undefined ? undefined : `${operand}.${node.field}`;
}
