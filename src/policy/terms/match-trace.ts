// Explains why a match does not hold for a namespace: the first term that fails, and the most similar value.
import { compileSelector, type LabelSelector } from '../../schema/selector.ts';
import type { MatchSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { type KubeObject, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import { nearestWord } from '../../base/nearest.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import { alternatives, clipped, quoted } from '../../base/text.ts';
import type { CompiledMatch, MatchTerms } from './match.ts';
import { compileGlob } from '../../cel/regex.ts';

/** The match as it is written, with its path: `spec.match`. */
interface WrittenTerms {
  readonly path: string;
  readonly match: MatchTerms;
}

interface FailingTerm {
  readonly path: string;
  readonly found: string;
  readonly accepted: string;
  /** The most similar value, name or label. */
  readonly near?: string;
}

/** Returns the first term that is false, in the order of the matcher. Undefined if the match holds or has an error. */
export function failingTerm(
  { path, match }: WrittenTerms,
  { conditions }: Pick<CompiledMatch, 'conditions'>,
  namespaceObject: KubeObject,
): FailingTerm | undefined {
  const start = path.split('.').map((step) => (/^[0-9]+$/.test(step) ? Number(step) : step));
  return (
    nameTerm(match, start, nameOf(namespaceObject)) ??
    labelTerm(match.namespaceSelector, [...start, 'namespaceSelector'], namespaceObject) ??
    alternativesTerm(match.anyOf, path, namespaceObject) ??
    conditionTerm(conditions, [...start, 'matchConditions'], namespaceObject)
  );
}

/** Shows the alternative with a similar value, or else the first one. */
function alternativesTerm(
  anyOf: readonly MatchSpec[] = [],
  path: string,
  namespaceObject: KubeObject,
): FailingTerm | undefined {
  const failing = anyOf.map((match, index) =>
    failingTerm({ path: `${path}.anyOf.${index}`, match }, { conditions: [] }, namespaceObject),
  );
  if (failing.includes(undefined)) return undefined;
  return failing.find((each) => each?.near !== undefined) ?? failing[0];
}

function nameTerm(
  { names, excludeNames = [] }: MatchSpec,
  start: Path,
  name: string,
): FailingTerm | undefined {
  const found = quoted(name);
  if (names !== undefined && !names.some((each) => compileGlob(each).matches(name)))
    return {
      // A tenant's binding has no list of names, because its own namespace is its match.
      path: start[0] === 'metadata' ? renderPath(start) : renderPath([...start, 'names']),
      found,
      accepted: alternatives(names.map(quoted)),
      ...nearTo(name, names),
    };
  const index = excludeNames.findIndex((each) => compileGlob(each).matches(name));
  const excluded = excludeNames[index];
  if (excluded === undefined) return undefined;
  const accepted = `a name that ${quoted(excluded)} does not match`;
  return { path: renderPath([...start, 'excludeNames', index]), found, accepted };
}

/** Each requirement alone, as the matcher compiles it. */
function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector) {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => ({
      at: ['matchLabels', key] as Path,
      key,
      values: [value] as readonly string[],
      accepted: quoted(value),
      selector: { matchLabels: Object.fromEntries([[key, value]]) },
    })),
    ...matchExpressions.map((each, index) => ({
      at: ['matchExpressions', index] as Path,
      key: each.key,
      values: each.operator === 'In' ? (each.values ?? []) : [],
      accepted: acceptedBy(each),
      selector: { matchExpressions: [each] },
    })),
  ];
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

function acceptedBy({ operator, values = [] }: Requirement): string {
  switch (operator) {
    case 'In':
      return alternatives(values.map(quoted));
    case 'NotIn':
      return `any value but ${alternatives(values.map(quoted))}, or no such label`;
    case 'Exists':
      return 'any value';
    case 'DoesNotExist':
      return 'no such label';
    default:
      return operator satisfies never;
  }
}

function labelTerm(
  selector: LabelSelector = {},
  start: Path,
  namespaceObject: KubeObject,
): FailingTerm | undefined {
  const labels = labelsOf(namespaceObject);
  const failing = requirementsOf(selector).find((each) => !compileSelector(each.selector).matches(labels));
  if (failing === undefined) return undefined;
  const { at, key, values, accepted } = failing;
  const value = valueOf(labels, key);
  const path = renderPath([...start, ...at]);
  const label = `label ${clipped(key, 100)}`;
  if (value !== undefined)
    return {
      path,
      found: `${label}=${quoted(value)}`,
      accepted,
      ...nearTo(value, values),
    };
  const near = nearestWord(key, Object.keys(labels));
  const shown = near === undefined ? undefined : `label ${near}=${quoted(valueOf(labels, near) ?? '')}`;
  return { path, found: `no ${label}`, accepted, ...(shown === undefined ? {} : { near: shown }) };
}

/** One false condition means no, even if another one has an error. Kubernetes does the same. */
function conditionTerm(
  conditions: CompiledMatch['conditions'],
  start: Path,
  namespaceObject: KubeObject,
): FailingTerm | undefined {
  const index = conditions.findIndex(({ expression }) => {
    const result = expression.evaluate({ namespaceObject });
    return result.ok && result.value !== true;
  });
  const condition = conditions[index];
  if (condition === undefined) return undefined;
  const accepted = `a namespace for which ${clipped(condition.expression.source, maxSource)} is true`;
  return { path: renderPath([...start, index]), found: `${condition.name} is false`, accepted };
}

const maxSource = 300;

/** A shorter prefix is similar to any name. */
const minPrefix = 3;

/** Finds a similar word, and for a glob a name with a similar beginning. A list of one word needs no hint. */
function nearTo(word: string, known: readonly string[]): Pick<FailingTerm, 'near'> {
  const near = known.find((each) => {
    const { exact, prefix } = compileGlob(each);
    if (exact) return nearestWord(word, [each]) !== undefined;
    return prefix.length >= minPrefix && nearestWord(word.slice(0, prefix.length), [prefix]) !== undefined;
  });
  return near === undefined || known.length === 1 ? {} : { near: quoted(near) };
}
