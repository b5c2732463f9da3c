// Compares what a test expects with what Reeve answers.
import { isDeepStrictEqual } from 'node:util';
import { compileRegex } from '../../cel/regex.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Path } from '../../base/problem.ts';
import { amountOf } from '../checks/check-text.ts';
import type { Outcome } from './outcome.ts';
import { objectNameOf } from '../input/provided-objects.ts';
import type { Expectations } from './suite.ts';

/** An expectation that does not hold. */
export interface Mismatch {
  /** In the test: `expect`, `message`. */
  readonly path: Path;
  readonly expected: string;
  readonly found: string;
  /** True for a value of a Secret, which is neither shown nor written. */
  readonly isHidden?: boolean;
}

export function mismatchesOf(expect: Expectations, outcome: Outcome): readonly Mismatch[] {
  return [
    ...answerMismatches(expect, outcome),
    ...(expect.object === undefined ? [] : fieldMismatches(['object'], expect.object, outcome.object)),
    ...contentMismatches(expect, outcome),
    ...violationMismatches(expect, outcome),
  ].map((each) => ({ ...each, path: ['expect', ...each.path] }));
}

function answerMismatches(expect: Expectations, outcome: Outcome): readonly Mismatch[] {
  const { verdict, rule, message, warnings } = expect;
  const rules = [...new Set(outcome.rules.map((each) => each.rule))];
  const said = outcome.message === '' ? '' : `: ${outcome.message}`;
  const found: (Mismatch | false)[] = [
    verdict !== undefined &&
      verdict !== outcome.verdict && {
        path: ['verdict'],
        expected: verdict,
        found: `${outcome.verdict ?? ''}${said}`,
      },
    rule !== undefined &&
      !rules.includes(rule) && {
        path: ['rule'],
        expected: `the rule ${rule} is violated`,
        found: rules.length === 0 ? 'no rule is violated' : `violated: ${rules.join(', ')}`,
      },
    message !== undefined && messageMismatch(message, outcome),
    warnings !== undefined &&
      warnings !== outcome.warnings.length && {
        path: ['warnings'],
        expected: amountOf(warnings, 'warning'),
        found: [amountOf(outcome.warnings.length, 'warning'), ...outcome.warnings].join('\n'),
      },
  ];
  return found.filter((each) => each !== false);
}

function messageMismatch(pattern: string, outcome: Outcome): Mismatch | false {
  const path = ['message'];
  const compiled = compileRegex(pattern);
  if (!compiled.ok) return { path, expected: 'a pattern in RE2 syntax', found: compiled.problem };
  if (compiled.regex.search(outcome.message)) return false;
  const found = outcome.message === '' ? 'no refusal and no warning' : outcome.message;
  return { path, expected: `a message that matches: ${pattern}`, found };
}

/** Returns the pattern that only this text matches. */
export function exactPattern(text: string): string {
  return `^\\Q${text.replaceAll('\\E', String.raw`\E\\E\Q`)}\\E$`;
}

/** Fields of Secrets that are compared and never shown. An annotation can hold the payload, too. */
const secretFields: readonly unknown[] = ['data', 'stringData', 'annotations'];

/** Compares the fields that are expected, each with its place. */
function fieldMismatches(
  path: Path,
  expected: unknown,
  found: unknown,
  isSecret = ownMember(found, 'kind') === 'Secret',
): readonly Mismatch[] {
  if (isJsonObject(expected) && isJsonObject(found))
    return Object.entries(expected).flatMap(([key, value]) =>
      fieldMismatches([...path, key], value, ownMember(found, key), isSecret),
    );
  if (isDeepStrictEqual(expected, found) || (expected === null && found === undefined)) return [];
  const isHidden = isSecret && (isJsonObject(found) || path.some((step) => secretFields.includes(step)));
  return [{ path, expected: shownValue(expected, false), found: shownValue(found, isHidden), isHidden }];
}

function shownValue(value: unknown, isHidden: boolean): string {
  if (value === undefined) return 'nothing';
  return isHidden ? 'another value, which is not shown' : JSON.stringify(value);
}

function contentMismatches(expect: Expectations, { provided, message }: Outcome): readonly Mismatch[] {
  const { contents, includes = [], absent = [], provided: wanted = [] } = expect;
  if (provided === undefined) {
    const asked = (['contents', 'includes', 'absent', 'provided'] as const).find(
      (key) => expect[key] !== undefined,
    );
    const found = `none${message === '' ? '' : `: ${message}`}`;
    return asked === undefined ? [] : [{ path: [asked], expected: 'a namespace after the request', found }];
  }
  const names = new Set(provided.objects.map(objectNameOf));
  const reasonOf = (name: string): string =>
    provided.blocked.find((each) => each.name === name)?.reason ?? 'no provider that matches wants it';
  const missing = (path: Path, name: string): Mismatch => ({
    path,
    expected: `${name} is provided`,
    found: `it is not provided: ${reasonOf(name)}`,
  });
  return [
    ...(contents ?? []).flatMap((name, index) =>
      names.has(name) ? [] : [missing(['contents', index], name)],
    ),
    ...(contents === undefined
      ? []
      : [...names].filter((name) => !contents.includes(name)).map((name) => tooMany(['contents'], name))),
    ...includes.flatMap((name, index) => (names.has(name) ? [] : [missing(['includes', index], name)])),
    ...absent.flatMap((name, index) => (names.has(name) ? [tooMany(['absent', index], name)] : [])),
    ...wanted.flatMap((object, index) => {
      const path = ['provided', index];
      const found = provided.objects.find((each) => isSameName(each, object));
      return found === undefined
        ? [missing(path, objectNameOf(object))]
        : fieldMismatches(path, object, found);
    }),
  ];
}

function tooMany(path: Path, name: string): Mismatch {
  return { path, expected: `${name} is not provided`, found: 'it is provided' };
}

export function isSameName(a: KubeObject, b: KubeObject): boolean {
  return a.apiVersion === b.apiVersion && objectNameOf(a) === objectNameOf(b);
}

function violationMismatches({ violations }: Expectations, outcome: Outcome): readonly Mismatch[] {
  if (violations === undefined || outcome.violations === undefined) return [];
  const found = Map.groupBy(outcome.violations, ({ rule }) => rule);
  return [
    ...violations.flatMap((rule, index) =>
      found.has(rule)
        ? []
        : [{ path: ['violations', index], expected: `${rule} is violated`, found: 'it holds' }],
    ),
    ...[...found]
      .filter(([rule]) => !violations.includes(rule))
      .map(([rule, all]) => ({
        path: ['violations'],
        expected: `${rule} holds`,
        found: all.map((each) => `${each.path}: found ${each.found}; accepted: ${each.accepted}`).join('\n'),
      })),
  ];
}
