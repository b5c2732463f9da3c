// Later.
import type { FunctionDefinition } from "./define.ts";
export const semverFunctions: readonly FunctionDefinition[] = [];
