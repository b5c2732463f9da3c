// Lists all functions and methods that expressions may call, by name.
import { conversionFunctions, timeFunctions } from './conversions.ts';
import { costing, type FunctionDefinition } from './define.ts';
import { listFunctions, setFunctions, optionalFunctions } from './collections.ts';
import { networkFunctions, quantityFunctions, urlFunctions, semverFunctions } from './kubernetes-types.ts';
import { namedFormatFunctions } from './named-formats.ts';
import { formatFunctions } from './string-format.ts';
import { stringFunctions, regexFunctions, sizeFunctions } from './strings.ts';

/** Functions on addresses, quantities, times, URLs and versions take up to 3 us: 10 times as long as an access to a field. */
const parsingCost = 10;

const functions: ReadonlyMap<string, readonly FunctionDefinition[]> = Map.groupBy(
  [
    ...conversionFunctions,
    ...formatFunctions,
    ...listFunctions,
    ...namedFormatFunctions,
    ...costing(parsingCost, networkFunctions),
    ...optionalFunctions,
    ...costing(parsingCost, quantityFunctions),
    ...regexFunctions,
    ...costing(parsingCost, semverFunctions),
    ...setFunctions,
    ...sizeFunctions,
    ...stringFunctions,
    ...costing(parsingCost, timeFunctions),
    ...costing(parsingCost, urlFunctions),
  ],
  ({ name }) => name,
);

export function functionsNamed(name: string): readonly FunctionDefinition[] {
  return functions.get(name) ?? [];
}
