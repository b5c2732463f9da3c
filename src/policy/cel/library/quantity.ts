// Later.
import type { FunctionDefinition } from "./define.ts";
export const quantityFunctions: readonly FunctionDefinition[] = [];
