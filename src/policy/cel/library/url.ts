// Later.
import type { FunctionDefinition } from "./define.ts";
export const urlFunctions: readonly FunctionDefinition[] = [];
