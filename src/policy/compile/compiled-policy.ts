// A policy ready to decide: its match, its rules by what they judge, its defaults and what it provides.
import type { RequestersSpec, ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';
import type { CompiledContent } from './compile-contents.ts';
import type { CompiledException } from '../terms/exceptions.ts';
import type { CompiledMatch } from '../terms/match.ts';
import type { Rule } from '../rules/rule.ts';
import type { DefaultKey } from '../rules/default-keys.ts';
import type { Requirement } from '../rules/required-keys.ts';

export interface CompiledPolicy {
  readonly name: string;
  readonly actions: readonly ValidationAction[];
  readonly match: CompiledMatch;
  readonly namespaceRules: readonly Rule[];
  readonly secretRules: readonly Rule[];
  readonly roleRules: readonly Rule[];
  readonly roleBindingRules: readonly Rule[];
  /** Whether its rules on Secrets name Helm's own type, which they otherwise leave alone. */
  readonly judgesHelmReleases: boolean;
  readonly requirements: readonly Requirement[];
  readonly namespaceDefaults: readonly DefaultKey[];
  readonly secretDefaults: readonly DefaultKey[];
  readonly requesters: RequestersSpec | undefined;
  readonly contents: readonly CompiledContent[];
  /** Whether a template of its contents or defaults is rendered from the Namespace. */
  readonly readsNamespace: boolean;
  /** Its contents are neither made, changed nor deleted. */
  readonly isSuspended: boolean;
  readonly exceptions: readonly CompiledException[];
}
