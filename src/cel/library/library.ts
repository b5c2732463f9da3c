// Lists all functions and methods that expressions may call, by name.
import { conversionFunctions, timeFunctions } from './conversions.ts';
import type { FunctionDefinition } from './define.ts';
import { listFunctions, setFunctions } from './collections.ts';
import { networkFunctions, quantityFunctions, urlFunctions } from './kubernetes-types.ts';
import { namedFormatFunctions } from './named-formats.ts';
import { optionalFunctions } from './optionals.ts';
import { semverFunctions } from './semver.ts';
import { formatFunctions } from './string-format.ts';
import { stringFunctions, regexFunctions, sizeFunctions } from './strings.ts';

const functions: ReadonlyMap<string, readonly FunctionDefinition[]> = Map.groupBy(
  [
    ...conversionFunctions,
    ...formatFunctions,
    ...listFunctions,
    ...namedFormatFunctions,
    ...networkFunctions,
    ...optionalFunctions,
    ...quantityFunctions,
    ...regexFunctions,
    ...semverFunctions,
    ...setFunctions,
    ...sizeFunctions,
    ...stringFunctions,
    ...timeFunctions,
    ...urlFunctions,
  ],
  ({ name }) => name,
);

export function functionsNamed(name: string): readonly FunctionDefinition[] {
  return functions.get(name) ?? [];
}
