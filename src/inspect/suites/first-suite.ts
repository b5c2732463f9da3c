// Writes a first suite for policies that exist: requests that each rule allows and refuses, with the answers of today.
import { cliApiVersion } from '../../schema/names.ts';
import { isDeepStrictEqual } from 'node:util';
import { nameOf, type KubeObject } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { stringifyYaml } from '../../base/yaml.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { secretObjectType } from '../../policy/terms/provider-id.ts';
import type { RuleOutcome } from '../../policy/terms/review.ts';
import type { FileProblem } from '../../state/located.ts';
import { readObjects } from '../../state/yaml-objects.ts';
import type { CoverageGap } from '../output-schemas/test-results.ts';
import { Coverage } from './coverage.ts';
import { exactPattern } from './expectations.ts';
import { matchedNamespaces, quotaFillers, type ExampleNamespace } from './example-namespaces.ts';
import { sourceOf, type Example } from './example-objects.ts';
import { creating, examplesOf, type Sender } from './examples.ts';
import { loadSuite, type FindInstall, type LoadedSuite, type SuiteLoading } from './load-suite.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { objectNameOf } from './provided-objects.ts';
import { operationOf } from './requests.ts';
import { suiteKind, type Expectations, type Suite, type SuiteTest } from './suite.ts';

export interface SuitePlace {
  /** Where the suite is to stand. */
  readonly file: string;
  /** The files with the policies, relative to the suite. */
  readonly policies: readonly string[];
}

interface FirstSuiteOptions {
  readonly findInstall: FindInstall;
  readonly now: Date;
}

type FirstSuite =
  | {
      readonly ok: true;
      readonly text: string;
      readonly tests: number;
      readonly gaps: readonly CoverageGap[];
    }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

export async function firstSuite(place: SuitePlace, options: FirstSuiteOptions): Promise<FirstSuite> {
  const now = `${options.now.toISOString().slice(0, 19)}Z`;
  const head = { apiVersion: cliApiVersion, kind: suiteKind, policies: place.policies, now } as const;
  const load = async (rest: Pick<Suite, 'given' | 'tests'>): Promise<SuiteLoading> =>
    await loadText(place.file, { ...head, ...rest }, options.findInstall);
  const bare = await load({ tests: [placeholder] });
  if (!bare.ok) return bare;
  const { providers } = bare.loaded;
  const chosen = await chosenNamespaces(bare.loaded);
  const given = givenFor(chosen, bare.loaded);
  const examples = chosen.flatMap((each) =>
    examplesOf(each.provider, each.namespace, providers, each.sender),
  );
  const full = await load({ given, tests: [placeholder] });
  if (!full.ok) return full;
  const { tests, gaps } = await covering(examples, full.loaded);
  if (tests.length === 0)
    return { ok: false, problems: [{ ...start, file: place.file, message: noExample }] };
  const unmatched = providers.filter((each) => chosen.every(({ provider }) => provider !== each));
  const suite = { ...head, ...(given.length > 0 && { given }), tests };
  const text = `${comment(gaps, unmatched)}${stringifyYaml(suite)}`;
  return { ok: true, text, tests: tests.length, gaps };
}

const start = { line: 1, column: 1 };
const noExample = 'no policy or share was found, or no Namespace that one of them matches';

/** A suite without tests cannot be loaded. This one is never run. */
const placeholder: SuiteTest = { name: 'none', namespace: 'none', expect: { contents: [] } };

async function loadText(file: string, suite: Suite, findInstall: FindInstall): Promise<SuiteLoading> {
  const { objects, problems } = readObjects({ file, text: stringifyYaml(suite) });
  const [source] = objects;
  return source === undefined ? { ok: false, problems } : await loadSuite(source, findInstall);
}

interface Chosen {
  readonly provider: ProviderDefinition;
  readonly namespace: ExampleNamespace;
  readonly sender: Sender;
  /** The Namespace after the defaults of policies. */
  readonly stored: KubeObject;
}

const senders = ['administrator', 'person'] as const;

/** Returns for each provider the first Namespace whose creation violates the fewest rules. */
async function chosenNamespaces(loaded: LoadedSuite): Promise<readonly Chosen[]> {
  const { providers } = loaded;
  const chosen: Chosen[] = [];
  for (const provider of providers) {
    let best: Chosen | undefined;
    let fewest = Infinity;
    const candidates = matchedNamespaces(provider, providers).flatMap((namespace) =>
      senders.map((sender) => ({ provider, namespace, sender })),
    );
    for (const each of candidates) {
      const request = creating(each.namespace, providers, each.sender);
      const { outcome } = await judged({ title: '', request }, loaded);
      // A suite can have one Namespace of a name.
      const isTaken = chosen.some(({ namespace }) => isOther(namespace, each.namespace));
      const broken = (outcome?.rules.length ?? 0) + (isTaken ? 0.5 : 0);
      if (broken >= fewest) continue;
      fewest = broken;
      best = { ...each, stored: outcome?.object ?? each.namespace };
    }
    if (best !== undefined) chosen.push(best);
  }
  return chosen;
}

function isOther(a: KubeObject, b: KubeObject): boolean {
  return nameOf(a) === nameOf(b) && !isDeepStrictEqual(a, b);
}

/** Requests for objects need their Namespace, a quota needs Namespaces that fill it, and a share needs its source. */
function givenFor(chosen: readonly Chosen[], { state }: LoadedSuite): NonNullable<Suite['given']> {
  const given = chosen.flatMap(({ provider, namespace, stored }) => {
    if (provider.kind === 'SecretShare') {
      const { source } = provider.compiled;
      const isThere = state.find(secretObjectType, source.namespace, source.name) !== undefined;
      return isThere ? [] : [sourceOf(provider)];
    }
    const { secrets, roles, rolebindings } = provider.compiled.rules;
    const hasObjects = [secrets, roles, rolebindings].some((rules) => rules.length > 0);
    const fillers = quotaFillers(provider, namespace)?.namespaces ?? [];
    return [...(hasObjects ? [{ ...namespace, ...stored }] : []), ...fillers];
  });
  return [
    ...new Map(
      given.map((each) => [JSON.stringify([each.kind, each.metadata.namespace, each.metadata.name]), each]),
    ).values(),
  ];
}

interface Judged {
  readonly example: Example;
  readonly outcome: Outcome | undefined;
  readonly traced: readonly RuleOutcome[];
}

async function judged(example: Example, loaded: LoadedSuite): Promise<Judged> {
  const traced: RuleOutcome[] = [];
  const test = { name: '', request: example.request, expect: {} };
  const now = new Date(loaded.suite.now ?? 0);
  const result = await outcomeOf(test, loaded, now, (each) => traced.push(each));
  return { example, outcome: result.ok ? result.outcome : undefined, traced };
}

/** Keeps what no earlier example shows of the rules. Those that violate few rules come first, because they show most clearly. */
async function covering(
  examples: readonly Example[],
  loaded: LoadedSuite,
): Promise<{ readonly tests: readonly SuiteTest[]; readonly gaps: readonly CoverageGap[] }> {
  const distinct = [...Map.groupBy(examples, ({ request }) => JSON.stringify(request)).values()].flatMap(
    (same) => same.slice(0, 1),
  );
  const all: Judged[] = [];
  for (const example of distinct) all.push(await judged(example, loaded));
  const coverage = new Coverage();
  coverage.addAll(loaded.providers);
  const kept = new Map<Example, SuiteTest>();
  const titles = new Set<string>();
  for (const { example, outcome, traced } of all.toSorted((a, b) => brokenBy(a) - brokenBy(b))) {
    const before = coverage.gaps();
    for (const each of traced) coverage.trace(operationOf(example.request))(each);
    const left = new Set(coverage.gaps().map((each) => JSON.stringify(each)));
    const closed = before.filter((each) => !left.has(JSON.stringify(each)));
    if (outcome === undefined || (closed.length === 0 && example.isFirst !== true)) continue;
    const expect = expectationsOf(example, outcome, closed);
    const title = titleOf(example, expect);
    const name = titles.has(title) ? `${title}, ${titles.size + 1}` : title;
    kept.set(example, { name, request: example.request, expect });
    titles.add(name);
  }
  return { tests: distinct.flatMap((each) => kept.get(each) ?? []), gaps: coverage.gaps() };
}

function brokenBy({ outcome }: Judged): number {
  return outcome?.rules.length ?? 0;
}

function expectationsOf(
  { request }: Example,
  { verdict, rules, message, object, provided }: Outcome,
  closed: readonly CoverageGap[],
): Expectations {
  const shown = rules.find(({ policy, rule }) =>
    closed.some((gap) => gap.policy === policy && gap.rule === rule),
  );
  const broken = shown ?? rules[0];
  const contents = provided?.objects.map(objectNameOf) ?? [];
  return {
    ...(verdict !== undefined && { verdict }),
    ...(broken !== undefined && { rule: broken.rule }),
    ...(message !== '' && { message: exactPattern(message) }),
    ...(verdict !== 'refused' && changedMetadata(request.create, object)),
    ...(contents.length > 0 && { contents }),
  };
}

/** Returns nothing if policies set no label or annotation. */
function changedMetadata(
  sent: KubeObject | undefined,
  written: KubeObject | undefined,
): Pick<Expectations, 'object'> {
  if (sent === undefined || written === undefined) return {};
  const { labels, annotations } = written.metadata;
  const isSame = isDeepStrictEqual([sent.metadata.labels, sent.metadata.annotations], [labels, annotations]);
  return isSame ? {} : { object: { metadata: { labels, annotations } } };
}

const endings = { allowed: 'is allowed', warned: 'gives a warning', refused: 'is refused' } as const;

function titleOf({ title }: Example, { verdict = 'allowed', rule }: Expectations): string {
  return clipped(`${title} ${endings[verdict]}${rule === undefined ? '' : ` (${rule})`}`, maxTitle);
}

const maxTitle = 450;

function comment(gaps: readonly CoverageGap[], unmatched: readonly ProviderDefinition[]): string {
  const lines = [
    'Written by reeve test --init: what Reeve answers today.',
    ...(gaps.length + unmatched.length === 0 ? [] : ['No example was found for:']),
    ...unmatched.map(({ compiled }) => `  ${clipped(compiled.id)}: no Namespace that it matches`),
    ...gaps.map(({ policy, rule, gap }) => `  policy ${clipped(policy)}, ${clipped(rule)}: ${gap}`),
  ];
  return lines.map((line) => `# ${line}\n`).join('');
}
