// Finds Reeve's answer to one test: to its request, or about its namespace.
import type { Answer } from '../../admission/answer.ts';
import type { BrokenRule } from '../../admission/ports.ts';
import { ownMember, type JsonObject, isJsonObject } from '../../base/json.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { clipped, counted } from '../../base/text.ts';
import { auditNamespace, auditObject, type AuditedResource } from '../../policy/decide/audit.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { roleBindingType, roleType, secretObjectType, type ObjectType } from '../../base/object-type.ts';
import type { Trace, Right, Violation } from '../../policy/terms/review.ts';
import { accessOf } from '../input/access.ts';
import { judgeWrite } from '../input/judged-write.ts';
import type { LoadedSuite } from './load-suite.ts';
import {
  hidesValues,
  providedObjects,
  type ProvidedObjects,
  objectNameOf,
} from '../input/provided-objects.ts';
import { requestOf, type Unanswerable } from './requests.ts';
import type { ExpectedVerdict, SuiteRequest, SuiteTest, Expectations } from './suite.ts';
import { isDeepStrictEqual } from 'node:util';
import { compileRegex } from '../../cel/regex.ts';
import type { Path } from '../../base/problem.ts';

export interface Outcome {
  readonly verdict: ExpectedVerdict | undefined;
  /** The whole text of the refusal or of the warnings. */
  readonly message: string;
  readonly warnings: readonly string[];
  readonly rules: readonly BrokenRule[];
  /** The object with the defaults of policies. */
  readonly object: KubeObject | undefined;
  /** Undefined if the namespace does not exist after the request. */
  readonly provided: ProvidedObjects | undefined;
  /** Undefined for a request. */
  readonly violations: readonly Violation[] | undefined;
}

type OutcomeResult =
  | { readonly ok: true; readonly outcome: Outcome }
  /** `path`: the place in the test. */
  | Unanswerable;

export async function outcomeOf(
  { request, namespace = '' }: SuiteTest,
  loaded: LoadedSuite,
  now: Date,
  trace: Trace,
): Promise<OutcomeResult> {
  if (request !== undefined) return await outcomeOfRequest(request, loaded, now, trace);
  const found = loaded.snapshot.namespace(namespace);
  if (found === undefined) {
    const expected = `Namespace ${clipped(namespace)}, in the files of objects or policies`;
    return { ok: false, path: ['namespace'], expected, found: 'nothing' };
  }
  const outcome = {
    verdict: undefined,
    message: '',
    warnings: [],
    rules: [],
    object: undefined,
    provided: providedObjects(found, loaded, now),
    violations: violationsIn(found, loaded, now, trace),
  };
  return { ok: true, outcome };
}

async function outcomeOfRequest(
  short: SuiteRequest,
  loaded: LoadedSuite,
  now: Date,
  trace: Trace,
): Promise<OutcomeResult> {
  const { state, snapshot } = loaded;
  const built = requestOf(short, state, loaded.reviews);
  if (!built.ok) return { ...built, path: ['request', ...built.path] };
  const stored = accessOf(state);
  const { answer, warnings, object } = await judgeWrite(built.request, {
    snapshot,
    install: state.install,
    access: {
      mayDo: (requester, right) =>
        Promise.resolve(
          short.may?.some((text) => permits(text, right)) === true ? 'yes' : stored.mayDo(requester, right),
        ),
    },
    now,
    trace,
  });
  const isNamespace = object !== undefined && answer.refusal === undefined && isOfNamespaces(built.request);
  const outcome = {
    verdict: verdictOf(answer),
    message: answer.refusal?.message ?? warnings.join('\n'),
    warnings,
    rules: answer.rules,
    object,
    provided: isNamespace ? providedObjects(object, loaded, now) : undefined,
    violations: undefined,
  };
  return { ok: true, outcome };
}

function isOfNamespaces(request: JsonObject): boolean {
  return ownMember(request['resource'], 'resource') === 'namespaces';
}

function verdictOf({ refusal, rules }: Answer): ExpectedVerdict {
  if (refusal !== undefined) return 'refused';
  return rules.some(({ action }) => action === 'Warn') ? 'warned' : 'allowed';
}

/** `use secretshares/regcred` permits the verb on that object. Without a name, the right covers all objects of the resource. */
function permits(text: string, { verb, group, resource, name }: Right): boolean {
  const [given, what = ''] = text.split(' ');
  const [type = '', object] = what.split('/');
  const isOfType = type === resource || type === `${resource}.${group}`;
  return given === verb && isOfType && (object === undefined || object === name);
}

const audited = [
  ['secrets', secretObjectType],
  ['roles', roleType],
  ['rolebindings', roleBindingType],
] as const satisfies readonly (readonly [AuditedResource, ObjectType])[];

/** Audits as the reconciler does. Objects in files need no watch, so Secrets are always judged. */
function violationsIn(
  namespace: KubeObject,
  { state, snapshot }: LoadedSuite,
  now: Date,
  trace: Trace,
): readonly Violation[] {
  if (!isManaged(namespace, snapshot)) return [];
  const circumstances = { now, budget: unlimitedBudget, trace };
  const inside = audited.flatMap(([resource, type]) =>
    state
      .objects(type)
      .filter((object) => object.metadata.namespace === nameOf(namespace))
      .map((object) => [resource, object] as const),
  );
  return snapshot.policies.policies.flatMap((policy) => [
    ...auditNamespace(policy, namespace, circumstances).violations,
    ...inside.flatMap(([resource, object]) =>
      auditObject(policy, resource, object, namespace, circumstances),
    ),
  ]);
}

// Compares the expectations of a test with Reeve's answer.

export interface Mismatch {
  /** The place in the test: `expect`, `message`. */
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
        expected: counted(warnings, 'warning'),
        found: [counted(outcome.warnings.length, 'warning'), ...outcome.warnings].join('\n'),
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

/** Compares only the expected fields, each with its place. */
function fieldMismatches(
  path: Path,
  expected: unknown,
  found: unknown,
  isSecret = hidesValues(found),
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
