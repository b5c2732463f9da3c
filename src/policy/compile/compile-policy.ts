// Compiles a policy for deciding, or returns all of its problems.
import type { NamespacePolicy, NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import { type Problem, compiled, refused, type CompileResult } from '../../base/problem.ts';
import { alternatives, clipped, quoted } from '../../base/text.ts';
import { rfc3339 } from '../../base/time.ts';
import { compileDefinitions, type Definitions, type ExpressionProblem } from '../../cel/expression.ts';
import { nearestWord } from '../../base/nearest.ts';
import { keySource } from '../../rules/default-keys.ts';
import { statedTwice } from '../../rules/enforced-keys.ts';
import { wavesWithoutRepair } from '../../rules/waves.ts';
import type { RequestersSpec } from '../../rules/requesters.ts';
import type { DefaultKey, Requirement, ReviewedResource } from '../../rules/rule.ts';
import { helmReleaseType } from '../../rules/secret-types.ts';
import {
  compileException,
  type CompiledException,
  compileMatch,
  type CompiledMatch,
  compileOverride,
  contentException,
  type Enforcement,
} from '../terms/match.ts';
import { providerId, shortName, type ProviderId } from '../terms/provider-id.ts';
import { compileContents, contentsRules } from '../../contents/contents.ts';
import type { CompiledContent } from '../../contents/content.ts';
import { compileRules, type CompiledRule } from '../../rules/rules.ts';
import { nameOf } from '../../base/metadata.ts';

export interface CompiledPolicy extends Enforcement {
  readonly id: ProviderId;
  /** The name in violations and metrics, which no two providers share: that of a policy, or the id of a binding. */
  readonly name: string;
  readonly contact: string | undefined;
  readonly match: CompiledMatch;
  readonly rules: Readonly<Record<ReviewedResource, readonly CompiledRule[]>>;
  /** True when the rules on Secrets name Helm's own type. They leave it alone otherwise. */
  readonly judgesHelmReleases: boolean;
  readonly requirements: readonly Requirement[];
  /** The defaults and the enforced keys of namespaces. */
  readonly namespaceDefaults: readonly DefaultKey[];
  readonly secretDefaults: readonly DefaultKey[];
  readonly requesters: RequestersSpec | undefined;
  readonly contents: readonly CompiledContent[];
  /** The ClusterRoles that the contents bind, each once. */
  readonly roleNames: readonly string[];
  /** True when a template of the contents or defaults reads the Namespace. */
  readonly readsNamespace: boolean;
  /** While true, the contents are neither created, changed nor deleted. */
  readonly isSuspended: boolean;
  readonly exceptions: readonly CompiledException[];
}

/** `id` is another for a binding, which has the form of a policy. `cluster`: see `Install.clusterVariables`. */
export function compilePolicy(
  { metadata, spec }: NamespacePolicy,
  cluster: Definitions['cluster'],
  id = providerId('NamespacePolicy', metadata.name),
): CompileResult<CompiledPolicy> {
  // All problems, so that an author can fix them in one edit. What compiles may still contradict other fields.
  const problems: Problem[] = [];
  const take = <T>(part: CompileResult<T>, otherwise: T): T => {
    if (part.ok) return part.value;
    problems.push(...part.problems);
    return otherwise;
  };
  const { definitions, problems: unclear } = compileDefinitions(spec.variables ?? [], cluster);
  problems.push(...variableProblems(unclear));
  const listed = compileRules(spec, definitions);
  const namespaceDefaults = listed.on.namespaces.flatMap((rule) => rule.defaults ?? []);
  const secretDefaults = listed.on.secrets.flatMap((rule) => rule.defaults ?? []);
  const defaults = [...namespaceDefaults, ...secretDefaults];
  problems.push(...listed.problems(true));
  const match = take(compileMatch(spec.match, definitions), nothingMatches);
  const exceptions = (spec.exceptions ?? []).map(compileException);
  const written = take(compileContents(spec.contents, definitions), []);
  const contents = written.map((content) => unlessExcepted(content, exceptions));
  const hasTemplates = written.some(({ isTemplated }) => isTemplated);
  problems.push(...listed.problems(false));
  const policy: CompiledPolicy = {
    id,
    name: shortName(id),
    contact: spec.contact,
    actions: spec.validationActions,
    overrides: (spec.validationActionOverrides ?? []).map(compileOverride),
    match,
    rules: {
      ...listed.on,
      namespaces: [...listed.on.namespaces, ...(hasTemplates ? contentsRules(contents) : [])],
    },
    judgesHelmReleases: namesHelmReleases(spec),
    requirements: listed.on.namespaces.flatMap((rule) => rule.requirements ?? []),
    namespaceDefaults,
    secretDefaults,
    requesters: spec.namespaces?.requesters,
    contents,
    roleNames: roleNamesIn(contents),
    readsNamespace: hasTemplates || defaults.some(({ template }) => template.reads.has('namespaceObject')),
    isSuspended: spec.suspend,
    exceptions,
  };
  problems.push(...contradictions(spec, policy));
  return problems.length > 0 ? refused(problems) : compiled(policy);
}

function roleNamesIn(contents: readonly CompiledContent[]): readonly string[] {
  return [
    ...new Set(contents.flatMap(({ contentKind, value }) => contentKind.boundRole?.(value).name ?? [])),
  ];
}

/** `problems` are those of variables, by their place in the list. */
function variableProblems(problems: ReadonlyMap<number, ExpressionProblem>): readonly Problem[] {
  return Array.from(problems, ([index, { message: found, offset }]) => {
    const path = ['spec', 'variables', index, 'expression'];
    return { path, found, accepted: 'CEL over namespaceObject and the variables before it', offset };
  });
}

const nothingMatches = { selector: undefined, names: [], excludeNames: [], conditions: [] };

function namesHelmReleases({ secrets }: NamespacePolicySpec): boolean {
  return [...(secrets?.forbiddenTypes ?? []), ...(secrets?.allowedTypes ?? [])].includes(helmReleaseType);
}

/** Finds defaults that no namespace could satisfy or that select their own policy, and what exceptions name and the policy lacks. */
function contradictions(
  spec: NamespacePolicySpec,
  { match, requirements, namespaceDefaults, contents }: CompiledPolicy,
): readonly Problem[] {
  return [
    ...namespaceDefaults.flatMap((key) => selfSelection(key, match)),
    ...namespaceDefaults.flatMap((key) =>
      requirements.flatMap((requirement) => contradiction(key, requirement)),
    ),
    ...namespaceDefaults.flatMap((key) => (key.isEnforced ? statedTwice(key, spec.namespaces ?? {}) : [])),
    ...(spec.namespaces?.enforced?.waves === undefined ? [] : wavesWithoutRepair(spec)),
    ...unknownExceptions(spec),
    ...unknownContents(spec, contents),
  ];
}

function selfSelection(key: DefaultKey, match: CompiledMatch): readonly Problem[] {
  if (key.field !== 'labels' || match.selector?.keys.has(key.key) !== true) return [];
  const what = key.isEnforced ? 'an enforced value' : 'a default';
  const found = `${what} for the label ${key.key}, which the policy's own namespaceSelector reads`;
  return [{ path: keySource(key), found, accepted: 'labels that do not decide whether the policy matches' }];
}

/** Skips templates: their value is known only with a namespace, and is checked before it is set. */
function contradiction(key: DefaultKey, requirement: Requirement): readonly Problem[] {
  if (key.field !== requirement.field || key.key !== requirement.key || !key.template.literal) return [];
  // Such a key is refused, whatever the rule requires of it.
  if (key.isEnforced) return [];
  const rendered = key.template.render({});
  if (!rendered.ok || requirement.accepts(rendered.value)) return [];
  const found = `"${clipped(rendered.value)}", which the policy's own namespaces.required refuses`;
  return [{ path: keySource(key), found, accepted: requirement.accepted }];
}

function unknownExceptions(spec: NamespacePolicySpec): readonly Problem[] {
  const known = new Set((spec.validations ?? []).map(({ name }) => `validations/${name}`));
  return (spec.exceptions ?? []).flatMap(({ rules }, index) =>
    (rules ?? []).flatMap((rule, position) => {
      if (!rule.startsWith('validations/') || known.has(rule)) return [];
      const path = ['spec', 'exceptions', index, 'rules', position];
      return [{ path, found: `"${clipped(rule)}"`, accepted: 'the name of a validation of this policy' }];
    }),
  );
}

function unknownContents(
  spec: NamespacePolicySpec,
  contents: readonly CompiledContent[],
): readonly Problem[] {
  const known = contents.map(contentName);
  return (spec.exceptions ?? []).flatMap((exception, index) =>
    (exception.contents ?? []).flatMap((content, position) => {
      if (known.includes(content)) return [];
      const path = ['spec', 'exceptions', index, 'contents', position];
      const meant = nearestWord(content, known);
      const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
      const accepted = known.length === 0 ? 'nothing: the policy has no contents' : alternatives(known);
      return [{ path, found: quoted(content), accepted: `${accepted}${hint}` }];
    }),
  );
}

function contentName({ type, name }: CompiledContent): string {
  return `${type.kind}/${name}`;
}

/** Such an object differs between namespaces, as a template does. */
function unlessExcepted(content: CompiledContent, exceptions: readonly CompiledException[]): CompiledContent {
  const name = contentName(content);
  if (!exceptions.some(({ contents }) => contents.has(name))) return content;
  return {
    ...content,
    isTemplated: true,
    render(namespaceObject, budget) {
      const covering = contentException(exceptions, name, nameOf(namespaceObject));
      const rendered = content.render(namespaceObject, budget);
      if (covering === undefined) return rendered;
      const { expiresAt, reason = 'an exception of the policy covers the namespace' } = covering;
      const end = expiresAt === undefined ? '' : `, until ${rfc3339(new Date(expiresAt))}`;
      const exception = { until: expiresAt ?? Infinity, message: `${clipped(reason)}${end}` };
      return rendered.map((each) => ({ ...each, exception }));
    },
  };
}
