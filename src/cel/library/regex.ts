// The types of matches, find and findAll; they are run by compile/regex-call.ts, which compiles patterns ahead.
import { BOOL, INT, listOf, STRING } from '../types/type.ts';
import { NO_OVERLOAD } from '../values/failure.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

export const regexFunctions: readonly FunctionDefinition[] = [
  defineFunction('matches', [STRING, STRING], BOOL, () => NO_OVERLOAD),
  defineMethod('matches', [STRING, STRING], BOOL, () => NO_OVERLOAD),
  defineMethod('find', [STRING, STRING], STRING, () => NO_OVERLOAD),
  defineMethod('findAll', [STRING, STRING], listOf(STRING), () => NO_OVERLOAD),
  defineMethod('findAll', [STRING, STRING, INT], listOf(STRING), () => NO_OVERLOAD),
];
