// The types of matches, find and findAll; they are run by compile/regex-call.ts, which compiles patterns ahead.
import { BOOL, INT, listType, STRING } from '../types/type.ts';
import { NO_OVERLOAD } from '../values/evaluation-error.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

export const regexFunctions: readonly FunctionDefinition[] = [
  defineFunction('matches', [STRING, STRING], BOOL, () => NO_OVERLOAD),
  defineMethod('matches', [STRING, STRING], BOOL, () => NO_OVERLOAD),
  defineMethod('find', [STRING, STRING], STRING, () => NO_OVERLOAD),
  defineMethod('findAll', [STRING, STRING], listType(STRING), () => NO_OVERLOAD),
  defineMethod('findAll', [STRING, STRING, INT], listType(STRING), () => NO_OVERLOAD),
];
