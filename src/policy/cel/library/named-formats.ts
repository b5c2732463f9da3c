// Later.
import type { FunctionDefinition } from "./define.ts";
export const namedFormatFunctions: readonly FunctionDefinition[] = [];
