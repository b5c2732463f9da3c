// All functions and methods that expressions may call, by name.
import { conversionFunctions } from './conversions.ts';
import type { FunctionDefinition } from './define.ts';
import { listFunctions } from './lists.ts';
import { networkFunctions } from './network.ts';
import { namedFormatFunctions } from './named-formats.ts';
import { optionalFunctions } from './optionals.ts';
import { quantityFunctions } from './quantity.ts';
import { regexFunctions } from './regex.ts';
import { semverFunctions } from './semver.ts';
import { setFunctions } from './sets.ts';
import { sizeFunctions } from './size.ts';
import { formatFunctions } from './string-format.ts';
import { stringFunctions } from './strings.ts';
import { timeFunctions } from './time.ts';
import { urlFunctions } from './url.ts';

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
