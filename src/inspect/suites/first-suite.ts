// Writes a first suite for existing policies: the examples of their rules with the answers of today, and a template.
import { isJsonObject, withMergePatch, type JsonObject } from '../../base/json.ts';
import { nameOf, type KubeObject } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { stringifyYaml } from '../../base/yaml.ts';
import { matchOf } from '../../policy/authors/no-effect.ts';
import { exampleCertificate } from './example-certificate.ts';
import type { CompiledShare, SourceRef } from '../../policy/compile/compile-share.ts';
import { type ProviderDefinition, shareIn } from '../../policy/compile/load-provider.ts';
import { matchNamespace } from '../../policy/terms/match.ts';
import { kinds } from '../../api/kinds.ts';
import { missingKeys } from '../../api/secret-share/target.ts';
import {
  configMapType,
  isSameObjectType,
  roleBindingType,
  roleType,
  secretObjectType,
} from '../../base/object-type.ts';
import { kindOfProvider } from '../../policy/terms/provider-id.ts';
import type { RuleOutcome } from '../../policy/terms/review.ts';
import type { ExampleWrite, ReviewedResource, RuleExamples } from '../../rules/rule.ts';
import { rules, valueIn, type ListedRule } from '../../rules/rules.ts';
import { cliApiVersion, useVerb } from '../../schema/names.ts';
import { type FileProblem, readObjects } from '../../state/yaml-files.ts';
import { namespaceType } from '../input/loaded-state.ts';
import { exactPattern, outcomeOf, type Outcome } from './outcome.ts';
import { loadSuite, type FindInstall, type LoadedSuite, type SuiteLoading } from './load-suite.ts';
import { objectNameOf } from '../input/provided-objects.ts';
import { suiteKind, type Expectations, type Suite, type SuiteRequest, type SuiteTest } from './suite.ts';

export interface SuitePlace {
  /** The path of the suite to write. */
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
    }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

export async function firstSuite(place: SuitePlace, options: FirstSuiteOptions): Promise<FirstSuite> {
  const now = `${options.now.toISOString().slice(0, 19)}Z`;
  const head = { apiVersion: cliApiVersion, kind: suiteKind, policies: place.policies, now } as const;
  const load = async (given: readonly ExampleObject[]): Promise<SuiteLoading> =>
    await loadText(place.file, { ...head, given, tests: [placeholder] }, options.findInstall);
  const bare = await load([]);
  if (!bare.ok) return bare;
  const { providers } = bare.loaded;
  const examples = providers.flatMap((each) => examplesOf(each, providers));
  const { state } = bare.loaded;
  const sources = providers.flatMap((each) => shareIn(each)?.compiled ?? []).flatMap(sourcesOf);
  const missing = sources.filter(
    ({ apiVersion, kind, metadata }) =>
      state.find({ apiVersion, kind }, metadata.namespace, metadata.name) === undefined,
  );
  const needed = [...missing, ...examples.flatMap((each) => each.given)];
  const given = [...new Map(needed.map((each) => [objectNameOf(each), each])).values()];
  const full = await load(given);
  if (!full.ok) return full;
  const tests = await answered(examples, full.loaded);
  if (tests.length === 0)
    return { ok: false, problems: [{ line: 1, column: 1, file: place.file, message: noExample }] };
  const unmatched = providers.filter((each) => examples.every(({ provider }) => provider !== each));
  const suite = { ...head, ...(given.length > 0 && { given }), tests };
  const text = `${comment(unmatched)}${stringifyYaml(suite)}${template}`;
  return { ok: true, text, tests: tests.length };
}

const noExample = 'no policy or share was found, or no Namespace that one of them matches';

/** A suite needs a test to load. This one never runs. */
const placeholder: SuiteTest = { name: 'none', namespace: 'none', expect: { contents: [] } };

async function loadText(file: string, suite: Suite, findInstall: FindInstall): Promise<SuiteLoading> {
  const { objects, problems } = readObjects({ file, text: stringifyYaml(suite) });
  const [source] = objects;
  return source === undefined ? { ok: false, problems } : await loadSuite(source, findInstall);
}

type ExampleObject = KubeObject & { readonly apiVersion: string; readonly kind: string };

interface Example {
  readonly provider: ProviderDefinition;
  /** The rule that the example belongs to. Undefined for the first example of a provider, which is always kept. */
  readonly rule: string | undefined;
  /** Says what the request does: `creating Namespace example without label team`. */
  readonly title: string;
  readonly request: SuiteRequest;
  /** Objects that must exist before. */
  readonly given: readonly ExampleObject[];
}

/** Objects that few rules refuse. */
const usualObjects = {
  secrets: { ...secretObjectType, type: 'Opaque', stringData: { example: 'example' } },
  roles: { ...roleType, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  rolebindings: {
    ...roleBindingType,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'example' }],
  },
} as const;
const resources = ['secrets', 'roles', 'rolebindings'] as const;

/** Returns nothing if the provider does not match the Namespace that its match and the rules suggest. */
export function examplesOf(
  provider: ProviderDefinition,
  all: readonly ProviderDefinition[],
  listed: readonly ListedRule[] = rules,
): readonly Example[] {
  const plain = plainNamespace(provider, all.indexOf(provider));
  const name = nameOf(plain);
  const usual = all
    .filter((each) => isMatched(each, plain))
    .flatMap((each) => exampleRules(each, name, listed));
  const namespace = withUsual(plain, 'namespaces', usual);
  if (!isMatched(provider, namespace)) return [];
  const used = new Set(all.map(({ compiled }) => kindOfProvider(compiled.id)));
  const may = [...used].map((kind) => `${useVerb} ${kinds[kind].plural}`);
  const sender = usual.flatMap((each) => each.usual?.sender ?? []).at(-1);
  const own = exampleRules(provider, name, listed);
  const ofNamespace = (write: ExampleWrite, rule?: string): Example => {
    const by = write.sender ?? sender;
    const title = `Namespace ${name} ${write.title ?? ''}`;
    const given = (write.others ?? []).map((patch, index) =>
      merged(merged(namespace, patch), { metadata: { name: `${name}-${index + 1}` } }),
    );
    return {
      ...writeOf(namespace, write, title, by === undefined ? {} : senderOf(by, may)),
      provider,
      rule,
      given,
    };
  };
  return [
    ofNamespace({ title: `that ${provider.compiled.id} matches` }),
    ...own.flatMap(({ id, judges, writes = [] }) =>
      judges === 'namespaces' ? writes.map((write) => ofNamespace(write, id)) : [],
    ),
    ...resources.flatMap((resource) => {
      const metadata = { name: 'example', namespace: name };
      const start = withUsual({ ...usualObjects[resource], metadata }, resource, own);
      const onKind = own.filter(({ judges }) => judges === resource);
      return onKind.flatMap(({ id, writes = [] }, index) =>
        [...(index === 0 ? [{}] : []), ...writes].map((write: ExampleWrite) => {
          const title = `a ${start.kind} ${write.title ?? ''} in Namespace ${name}`;
          return { ...writeOf(start, write, title, {}), provider, rule: id, given: [namespace] };
        }),
      );
    }),
  ];
}

/** Names are distinct where the match allows it, because a suite can have only one Namespace of each name. */
function plainNamespace(provider: ProviderDefinition, index: number): ExampleObject {
  const { match } = matchOf(provider);
  const { names: [glob = '*'] = [], namespaceSelector = {} } = { ...match.anyOf?.[0], ...match };
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector;
  const demanded = matchExpressions.flatMap(({ key, operator, values: [value = 'example'] = [] }) =>
    operator === 'In' || operator === 'Exists' ? [[key, value] as const] : [],
  );
  const name = glob.replaceAll('*', index === 0 ? 'example' : `example-${index + 1}`);
  const labels = { ...Object.fromEntries(demanded), ...matchLabels };
  return { ...namespaceType, metadata: { name, labels } };
}

function isMatched({ compiled }: ProviderDefinition, namespace: KubeObject): boolean {
  return matchNamespace(compiled.match, namespace).kind === 'yes';
}

const keyOfData = /\bdata(?:\.(?<name>\w+)|\[['"](?<quoted>[^'"]+)['"]\])/g;

/** Returns sources with all keys that copies of the share need. The first Secret of a SecretShare has them all. */
function sourcesOf({ type, sources, copy }: CompiledShare) {
  if (isSameObjectType(type, configMapType))
    return sources.map((source, index) => configMapSourceOf(source, copy, `example-${index + 1}`));
  const { keys: mapped, template, dockerConfig } = copy;
  const read = Object.values(template ?? {}).flatMap((text) =>
    [...text.matchAll(keyOfData)].map(({ groups }) => groups?.['name'] ?? groups?.['quoted'] ?? ''),
  );
  const docker = dockerConfig === undefined ? [] : [dockerConfig.usernameKey, dockerConfig.passwordKey];
  const named = [...(mapped ?? []).map(({ from }) => from), ...read, ...docker];
  const needed = named.length > 0 ? named : missingKeys(copy.type, [])?.split(/ and | or /);
  return sources.map((source, index) =>
    sourceOf(source, copy, index === 0 ? needed : [`example-${index + 1}`]),
  );
}

function sourceOf(
  source: CompiledShare['sources'][number],
  copy: CompiledShare['copy'],
  keys?: readonly string[],
) {
  return {
    ...secretObjectType,
    metadata: { name: source.name, namespace: source.namespace },
    type: copy.dockerConfig === undefined ? copy.type || 'Opaque' : 'Opaque',
    // The value is JSON, so that it also satisfies rules on pull secrets.
    stringData: Object.fromEntries((keys ?? ['example']).map((key) => [key, '{}'])),
  };
}

function configMapSourceOf(
  { type, name, namespace, keys }: SourceRef,
  copy: CompiledShare['copy'],
  key: string,
) {
  const names = keys?.map(({ from }) => from) ?? [key];
  const value = copy.bundleKey === undefined ? 'example' : exampleCertificate;
  const values = Object.fromEntries(names.map((each) => [each, value]));
  return {
    ...type,
    metadata: { name, namespace },
    ...(type.kind === 'Secret' ? { stringData: values } : { data: values }),
  };
}

function senderOf(
  { lacksUse, ...sender }: NonNullable<ExampleWrite['sender']>,
  may: readonly string[],
): Pick<SuiteRequest, 'as' | 'may' | 'groups'> {
  return lacksUse === true ? sender : { ...sender, may };
}

type ExampleRule = RuleExamples & Pick<ListedRule, 'id' | 'judges'>;

function exampleRules(
  { object: { spec } }: ProviderDefinition,
  namespace: string,
  listed: readonly ListedRule[],
): readonly ExampleRule[] {
  return listed.flatMap((rule) => {
    const value = valueIn(spec, rule);
    const { id, judges } = rule;
    return value === undefined ? [] : [{ id, judges, ...rule.examples(value, namespace) }];
  });
}

function withUsual(
  start: ExampleObject,
  resource: ReviewedResource,
  all: readonly ExampleRule[],
): ExampleObject {
  return all.reduce(
    (object, { judges, usual }) => (judges === resource ? merged(object, usual?.object ?? {}) : object),
    start,
  );
}

function merged(start: ExampleObject, patch: JsonObject): ExampleObject {
  const { metadata, ...fields } = withMergePatch(start, patch);
  const { apiVersion, kind } = start;
  return { apiVersion, kind, metadata: isJsonObject(metadata) ? metadata : {}, ...fields };
}

const verbs = { CREATE: 'creating', UPDATE: 'changing', DELETE: 'deleting' } as const;

function writeOf(
  start: ExampleObject,
  { operation = 'CREATE', object = {}, before = {} }: ExampleWrite,
  title: string,
  sender: Pick<SuiteRequest, 'as' | 'may' | 'groups'>,
): Pick<Example, 'title' | 'request'> {
  const target = `${start.kind.toLowerCase()}/${nameOf(start)}`;
  const after = merged(start, object);
  const requests = {
    CREATE: { create: after },
    // A field that the example already has keeps its value, because the policy may match by that field.
    UPDATE: { update: target, from: merged(merged(start, before), start), set: object },
    DELETE: { delete: target, from: after },
  };
  const words = `${verbs[operation]} ${title}`.replaceAll('  ', ' ').trim();
  return { title: words, request: { ...sender, ...requests[operation] } };
}

/** Leaves out an example if its rule does not judge the request, because the policy does not match the written object. */
async function answered(examples: readonly Example[], loaded: LoadedSuite): Promise<readonly SuiteTest[]> {
  const tests = new Map<string, SuiteTest>();
  for (const { provider, rule, title, request } of examples) {
    const traced: RuleOutcome[] = [];
    const test = { name: title, request, expect: {} };
    const result = await outcomeOf(test, loaded, new Date(loaded.suite.now ?? 0), (each) =>
      traced.push(each),
    );
    const isJudged = traced.some(
      (each) => each.kind === 'judged' && each.rule === rule && each.policy === provider.compiled.name,
    );
    if (!result.ok || (rule !== undefined && !isJudged)) continue;
    const expect = expectationsOf(result.outcome, rule);
    const shown = expect.rule === undefined ? '' : ` (${expect.rule})`;
    const named = clipped(`${title} ${endings[expect.verdict ?? 'allowed']}${shown}`, maxTitle);
    const name = tests.has(named) ? `${named}, ${tests.size + 1}` : named;
    tests.set(name, { name, request, expect });
  }
  return [...tests.values()];
}

const endings = { allowed: 'is allowed', warned: 'gives a warning', refused: 'is refused' } as const;
const maxTitle = 450;

function expectationsOf({ verdict, rules: broken, message, provided }: Outcome, rule?: string): Expectations {
  const [first] = broken.toSorted((a, b) => Number(b.rule === rule) - Number(a.rule === rule));
  const contents = provided?.objects.map(objectNameOf) ?? [];
  return {
    ...(verdict !== undefined && { verdict }),
    ...(first !== undefined && { rule: first.rule }),
    ...(message !== '' && { message: exactPattern(message) }),
    ...(contents.length > 0 && { contents }),
  };
}

function comment(unmatched: readonly ProviderDefinition[]): string {
  const lines = [
    'Written by reeve test --init: what Reeve answers today. reeve test names the rules that no test covers.',
    ...unmatched.map(
      ({ compiled: { id } }) => `No example was found for ${clipped(id)}: no Namespace that it matches.`,
    ),
  ];
  return lines.map((line) => `# ${line}\n`).join('');
}

/** After removal of the first characters, each line belongs to the list of tests. */
const template = `
# A test of your own. Name a request of your users, and reeve test --update fills in what Reeve answers:
#  - name: alice creates a Namespace for team blue
#    request:
#      as: alice
#      groups: [developers]
#      create:
#        apiVersion: v1
#        kind: Namespace
#        metadata: { name: team-blue, labels: { team: blue } }
#    expect: { verdict: allowed, contents: [] }
`;
