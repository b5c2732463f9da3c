// Turns a policy as it is written into one that can decide, or says everything that is wrong with it.
import type { NamespacePolicy, NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { Problem } from '../../base/problem.ts';
import { mapped, type Compilation } from '../terms/compilation.ts';
import { compileMatch } from './compile-match.ts';
import {
  compileNamespaceRules,
  compileRoleBindingRules,
  compileRoleRules,
  compileSecretRules,
} from './compile-rules.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import { compileContents } from './compile-contents.ts';
import { isTemplated } from './content-template.ts';
import { contradictions } from './contradictions.ts';
import { compileException } from '../terms/exceptions.ts';
import { compileDefaults } from '../rules/default-keys.ts';
import { compileRequirements } from '../rules/required-keys.ts';
import { helmReleaseType } from '../rules/secret-types.ts';

export type PolicyCompilation =
  | { readonly ok: true; readonly compiled: CompiledPolicy }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function compilePolicy(policy: NamespacePolicy): PolicyCompilation {
  const { spec } = policy;
  const problems: Problem[] = [];
  // Collects instead of stopping: an author learns of all problems at once.
  const take = <T>(part: Compilation<T>, otherwise: T): T => {
    if (part.ok) return part.value;
    problems.push(...part.problems);
    return otherwise;
  };
  // What compiles counts even where something beside it does not: it may contradict the rest.
  const takeEach = <T>(parts: readonly Compilation<T>[]): readonly T[] =>
    parts.flatMap((part) =>
      take<readonly T[]>(
        mapped(part, (value) => [value]),
        [],
      ),
    );
  const requirements = takeEach(compileRequirements(spec.namespaces?.required ?? {}));
  const namespaceDefaults = takeEach(compileDefaults(spec.namespaces?.defaults, 'namespaces'));
  const secretDefaults = takeEach(compileDefaults(spec.secrets?.defaults, 'secrets'));
  const defaults = [...namespaceDefaults, ...secretDefaults];
  const match = take(compileMatch(spec.match), nothingMatches);
  const result: CompiledPolicy = {
    name: policy.metadata.name,
    actions: spec.validationActions,
    match,
    namespaceRules: take(compileNamespaceRules(spec, requirements, namespaceDefaults), []),
    secretRules: compileSecretRules(spec.secrets, secretDefaults),
    roleRules: compileRoleRules(spec.rbac),
    roleBindingRules: compileRoleBindingRules(spec.rbac),
    judgesHelmReleases: namesHelmReleases(spec),
    requirements,
    namespaceDefaults,
    secretDefaults,
    requesters: spec.namespaces?.requesters,
    contents: take(compileContents(spec.contents), []),
    readsNamespace:
      isTemplated(spec.contents) || defaults.some(({ template }) => template.reads.has('namespaceObject')),
    isSuspended: spec.suspend,
    exceptions: (spec.exceptions ?? []).map(compileException),
  };
  problems.push(...contradictions(spec, match, requirements, namespaceDefaults));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, compiled: result };
}

const nothingMatches = { selector: undefined, names: [], excludeNames: [], conditions: [] };

function namesHelmReleases({ secrets }: NamespacePolicySpec): boolean {
  return [...(secrets?.forbiddenTypes ?? []), ...(secrets?.allowedTypes ?? [])].includes(helmReleaseType);
}
