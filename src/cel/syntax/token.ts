// Defines a token of CEL: its kind, its text, its place, and the value of a literal.
import type { Value } from '../values/value.ts';

export type Token =
  | {
      readonly kind: 'end' | 'identifier' | 'symbol';
      readonly text: string;
      readonly start: number;
      readonly end: number;
    }
  | {
      readonly kind: 'int' | 'uint' | 'double' | 'string' | 'bytes';
      readonly text: string;
      readonly value: Value;
      readonly start: number;
      readonly end: number;
    };
