// Runs suites, one test after the other, and collects the results.
import { cliApiVersion } from '../../schema/names.ts';
import { clipped } from '../../base/text.ts';
import { renderPath } from '../../base/problem.ts';
import type { FileProblem, LocatedObject } from '../../state/yaml-files.ts';
import type {
  SuiteResult,
  TestFailure,
  TestResult,
  TestResults,
  CoverageGap,
} from '../output-schemas/test-results.ts';
import { mismatchesOf, outcomeOf } from './outcome.ts';
import { loadSuite, problemAt, type FindInstall, type LoadedSuite } from './load-suite.ts';
import { operationOf } from './requests.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import { type ProviderDefinition, policyIn } from '../../policy/compile/load-provider.ts';
import type { RuleOutcome, Trace } from '../../policy/terms/review.ts';
import { everyOperation, type Operation, type RuleTraits } from '../../rules/rule.ts';

export interface RunOptions {
  readonly findInstall: FindInstall;
  /** The time for suites without a time of their own. */
  readonly now: Date;
  /** Selects the tests to run by name. */
  readonly isWanted: (name: string) => boolean;
}

export async function runSuites(
  sources: readonly LocatedObject[],
  options: RunOptions,
): Promise<TestResults> {
  const coverage = new Coverage();
  const suites: SuiteResult[] = [];
  for (const source of sources) suites.push(await runSuite(source, coverage, options));
  const tests = suites.flatMap((suite) => suite.tests);
  const passed = tests.filter((test) => test.passed).length;
  return {
    apiVersion: cliApiVersion,
    kind: 'TestResults',
    passed,
    failed: tests.length - passed,
    suites,
    coverage: coverage.gaps(),
  };
}

async function runSuite(
  source: LocatedObject,
  coverage: Coverage,
  options: RunOptions,
): Promise<SuiteResult> {
  const { file } = source;
  const loading = await loadSuite(source, options.findInstall);
  if (!loading.ok) return { file, problems: loading.problems.map(shownProblem), tests: [] };
  const { loaded } = loading;
  coverage.addAll(loaded.providers);
  const tests: TestResult[] = [];
  for (const [index, { name }] of loaded.suite.tests.entries())
    if (options.isWanted(name)) tests.push(await runTest(index, loaded, coverage, options.now));
  return { file, problems: [], tests };
}

function shownProblem({ file, line, column, about, message }: FileProblem): SuiteResult['problems'][number] {
  return { file, line, column, message: about === undefined ? message : `${clipped(about)}: ${message}` };
}

async function runTest(
  index: number,
  loaded: LoadedSuite,
  coverage: Coverage,
  now: Date,
): Promise<TestResult> {
  const { suite, source } = loaded;
  const test = suite.tests[index];
  if (test === undefined) throw new RangeError('there is no such test');
  const { line, column } = problemAt(source, ['tests', index], '');
  const time = suite.now === undefined ? now : new Date(suite.now);
  const result = await outcomeOf(test, loaded, time, coverage.trace(operationOf(test.request)));
  const mismatches = result.ok ? mismatchesOf(test.expect, result.outcome) : [result];
  const failures = mismatches.map(({ path, expected, found }): TestFailure => {
    const place = problemAt(source, ['tests', index, ...path], '');
    return { path: renderPath(path), expected, found, line: place.line, column: place.column };
  });
  return { name: test.name, line, column, passed: failures.length === 0, failures };
}

// Collects how the tests reach each rule: refused, allowed, or never evaluated.

interface Reached {
  readonly traits: RuleTraits;
  isRefused: boolean;
  isAllowed: boolean;
}

export class Coverage {
  readonly #policies = new Map<string, Map<string, Reached>>();

  addAll(providers: readonly ProviderDefinition[]): void {
    for (const policy of providers.flatMap((each) => policyIn(each)?.compiled ?? [])) this.add(policy);
  }

  /** Adds the rules of a policy, each as not yet reached. */
  add(policy: CompiledPolicy): void {
    const rules = this.#policies.get(policy.name) ?? new Map<string, Reached>();
    this.#policies.set(policy.name, rules);
    for (const { id, traits } of Object.values(policy.rules).flat())
      if (!rules.has(id)) rules.set(id, { traits, isRefused: false, isAllowed: false });
  }

  /** `operation` is undefined for an audit. */
  trace(operation: Operation | undefined): Trace {
    return ({ policy, rule, kind, fresh, old }: RuleOutcome) => {
      const reached = this.#policies.get(policy)?.get(rule);
      if (reached === undefined || kind !== 'judged') return;
      if (fresh.length > 0) reached.isRefused = true;
      else if (old.length === 0 && isShown(reached.traits, operation)) reached.isAllowed = true;
    };
  }

  /** Sorted by policy, in the order of its rules. */
  gaps(): readonly CoverageGap[] {
    const policies = [...this.#policies].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return policies.flatMap(([policy, rules]) =>
      [...rules].flatMap(([rule, reached]) => {
        const gap = gapOf(reached);
        return gap === undefined ? [] : [{ policy, rule, gap }];
      }),
    );
  }
}

/** Returns false for an operation that never violates the rule, because its result proves nothing. */
function isShown({ operations }: RuleTraits, operation: Operation | undefined): boolean {
  return operation === undefined ? operations === everyOperation : operations.includes(operation);
}

function gapOf({ traits, isRefused, isAllowed }: Reached): CoverageGap['gap'] | undefined {
  // Reeve fulfills some rules by itself, so a refusal is rare.
  if (isAllowed && (isRefused || traits.isFulfilled === true)) return undefined;
  if (isRefused) return 'never allowed';
  return isAllowed ? 'never refused' : 'never evaluated';
}
