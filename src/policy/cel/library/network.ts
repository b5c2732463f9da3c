// Later.
import type { FunctionDefinition } from "./define.ts";
export const networkFunctions: readonly FunctionDefinition[] = [];
