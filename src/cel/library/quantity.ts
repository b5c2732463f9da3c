// Quantities such as 500m or 1Gi: https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-quantity-library
import { BOOL, DOUBLE, INT, STRING, typeOfKind } from '../types/type.ts';
import { evaluationError } from '../values/evaluation-error.ts';
import { parseQuantity, Quantity, sumOf } from '../values/quantity.ts';
import { Double } from '../values/value.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

const QUANTITY = typeOfKind<Quantity>('kubernetes.Quantity');
const NOT_A_QUANTITY = evaluationError('the text is not a quantity such as 500m or 1Gi');
const NOT_AN_INTEGER = evaluationError('the quantity is not a whole number that fits into an int');

export const quantityFunctions: readonly FunctionDefinition[] = [
  defineFunction('quantity', [STRING], QUANTITY, (text) => parseQuantity(text) ?? NOT_A_QUANTITY),
  defineFunction('isQuantity', [STRING], BOOL, (text) => parseQuantity(text) !== undefined),
  defineFunction('sign', [QUANTITY], INT, (quantity) => BigInt(quantity.compare(Quantity.ZERO))),
  defineMethod('isGreaterThan', [QUANTITY, QUANTITY], BOOL, (a, b) => a.compare(b) > 0),
  defineMethod('isLessThan', [QUANTITY, QUANTITY], BOOL, (a, b) => a.compare(b) < 0),
  defineMethod('compareTo', [QUANTITY, QUANTITY], INT, (a, b) => BigInt(a.compare(b))),
  defineMethod('asApproximateFloat', [QUANTITY], DOUBLE, (quantity) => new Double(quantity.toNumber())),
  defineMethod('asInteger', [QUANTITY], INT, (quantity) => quantity.toInteger() ?? NOT_AN_INTEGER),
  defineMethod('isInteger', [QUANTITY], BOOL, (quantity) => quantity.toInteger() !== undefined),
  defineMethod('add', [QUANTITY, QUANTITY], QUANTITY, (a, b) => sumOf(a, b)),
  defineMethod('add', [QUANTITY, INT], QUANTITY, (a, b) => sumOf(a, Quantity.ofInteger(b))),
  defineMethod('sub', [QUANTITY, QUANTITY], QUANTITY, (a, b) => sumOf(a, b.negated())),
  defineMethod('sub', [QUANTITY, INT], QUANTITY, (a, b) => sumOf(a, Quantity.ofInteger(b).negated())),
];
