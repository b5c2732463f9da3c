// Reads lists of namespaces in annotations and fields: names, regular expressions, selectors as text.
import { parseSelectorText } from '../schema/selector.ts';
import { nameOf } from '../base/metadata.ts';
import type { ImportRun } from './import-run.ts';
import { distinct, type Reader } from './reader.ts';
import { namePattern, type Anchoring } from './name-patterns.ts';
import { namesToday } from './provide.ts';
import { both, conditionOn, selectedBy, type NamespaceReach } from './reach.ts';

/** Namespaces whose names match one of the expressions. */
export function reachesOfNames(
  run: ImportRun,
  reader: Reader,
  expressions: readonly string[],
  anchoring: Anchoring,
): readonly NamespaceReach[] {
  const [names, sources] = [new Set<string>(), new Set<string>()];
  for (const pattern of expressions.map((text) => namePattern(text, anchoring))) {
    if (pattern.kind === 'invalid') reader.lose(`an expression that Reeve cannot read: ${pattern.why}`);
    else if (pattern.kind === 'globs') for (const glob of pattern.globs) names.add(glob);
    else if (pattern.source !== undefined) sources.add(pattern.source);
    else {
      reader.lose('an expression that only names of today could replace, so new namespaces are not covered');
      for (const name of namesToday(run, (each) => pattern.matches(nameOf(each)))) names.add(name);
    }
  }
  return [
    ...(names.size === 0 ? [] : [{ names: [...names] }]),
    ...(sources.size === 0 ? [] : [conditionOn([...sources])]),
  ];
}

/** Namespaces whose labels match. Returns no reach for an invalid selector, because the tools then match nothing. */
export function reachesOfSelector(reader: Reader): readonly NamespaceReach[] {
  const text = reader.text() ?? '';
  if (text.trim() === '') return [];
  const requirements = parseSelectorText(text);
  if (typeof requirements !== 'string') return [selectedBy(requirements)];
  reader.lose('a selector that Reeve cannot read');
  return [];
}

/** Joins the reaches in which one of the first and one of the second hold. */
export function reachesInBoth(
  first: readonly NamespaceReach[],
  second: readonly NamespaceReach[],
): readonly NamespaceReach[] {
  return distinct(first.flatMap((one) => second.map((other) => both(one, other))));
}
