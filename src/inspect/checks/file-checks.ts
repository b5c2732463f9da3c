// Finds what is wrong with policies, shares, intents and bindings in files, and what of them has no effect.
import { ownMember } from '../../base/json.ts';
import type { Path, Problem } from '../../base/problem.ts';
import { dearTextIn } from '../../policy/decide/audit.ts';
import {
  misspelledRoles,
  partsWithoutEffect,
  uncountedNamespaces,
  unreachedIntents,
  type PartWithoutEffect,
  type Reach,
} from '../../policy/authors/no-effect.ts';
import { notKeptText } from '../../policy/authors/intent-effects.ts';
import { managedBy, quotaMembers } from '../../policy/authors/provider-write.ts';
import {
  kindsNotAllowed,
  nameNotAllowed,
  sourceProblems,
  quotaIn,
  policyIn,
  shareIn,
  sourceField,
} from '../../policy/compile/load-provider.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { differingDefaults } from '../../policy/decide/differing-defaults.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { exceededBy, overQuotaText } from '../../rules/namespace-quota.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { matchNamespace } from '../../policy/terms/match.ts';
import { alternatives, quoted } from '../../base/text.ts';
import { isSameObjectType } from '../../base/object-type.ts';
import { kindOfProvider, namespaceOfProvider } from '../../policy/terms/provider-id.ts';
import { aboutOf, type LocatedDefinition } from '../../state/definitions.ts';
import type { FileProblem } from '../../state/yaml-files.ts';
import type { Install } from '../../policy/terms/install.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import type { CheckFinding } from '../output-schemas/check-results.ts';
import { doubleProviders, refusedContents, knownRoles, unknownRoles } from './refused-contents.ts';

interface CheckInput {
  /** The definitions of the files. */
  readonly providers: readonly LocatedDefinition[];
  /** Definitions with problems, without the parts that are wrong. */
  readonly partial: readonly LocatedDefinition[];
  /** Problems that were found when the files were read. */
  readonly problems: readonly FileProblem[];
  /** The state with the files applied. */
  readonly state: ClusterState;
  readonly snapshot: ClusterSnapshot;
  readonly now: Date;
}

export function checkDefinitions(input: CheckInput): readonly CheckFinding[] {
  const { providers, problems, snapshot, now } = input;
  return [
    ...problems.map((problem) => finding('problem', 'spec', problem)),
    ...providers.flatMap((provider) => [
      ...notAllowed(provider, input.state.install),
      ...intentFindings(provider, snapshot),
      ...roleFindings(provider, input),
      ...withoutEffect(provider, snapshot, now),
      ...costFindings(provider, snapshot, now),
      ...quotaFindings(provider, snapshot),
      ...defaultFindings(provider, input),
      ...missingSource(provider, input.state),
    ]),
    ...input.partial.flatMap((provider) => [
      ...notAllowed(provider, input.state.install),
      ...roleFindings(provider, input),
      // The missing parts might match namespaces, so none is reported as matching none.
      ...partsWithoutEffect(provider.definition, { matched: 1, errors: 1 }, snapshot, now).map((part) =>
        located('warning', 'effect', provider, part),
      ),
    ]),
    ...doubleProviders(providers, snapshot, now).map(({ provider, path, message }) =>
      located('problem', 'double', provider, { path, message }),
    ),
    ...refusedContents(providers, input, now).map(({ provider, path, message }) =>
      located('warning', 'refused', provider, { path, message }),
    ),
  ];
}

/** Without an install in the state, its flags are only assumed, so a kind that they exclude is only a warning. */
function notAllowed(provider: LocatedDefinition, install: Install): readonly CheckFinding[] {
  const { definition, source } = provider;
  const severity = install.isAssumed ? 'warning' : 'problem';
  const whose = install.isAssumed ? 'an install with default flags' : 'the install';
  const spec = { spec: ownMember(source.value, 'spec') };
  const name = nameNotAllowed(definition, install);
  return [
    ...sourceProblems(kindOfProvider(provider.id), spec, install).map((problem) =>
      finding(severity, 'install', source.locate(problem), provider),
    ),
    ...kindsNotAllowed(definition, install).map((type) => {
      const kinds = alternatives(
        (install.resourceKinds ?? []).map(({ apiVersion, kind }) => `${apiVersion}/${kind}`),
        6,
      );
      const message = `${type.apiVersion}/${type.kind} is not allowed by ${whose} (--resource-kind); accepted: ${kinds}`;
      return located(severity, 'install', provider, { path: resourcePathOf(provider, type), message });
    }),
    ...(name === undefined
      ? []
      : [
          located(severity, 'install', provider, {
            path: ['spec', 'target', 'name'],
            message: `copies named ${quoted(name)} are not allowed by ${whose} (--secret-name)`,
          }),
        ]),
  ];
}

/** Returns the field that brings the object. The objects of a binding come from its intents. */
function resourcePathOf(
  { definition }: LocatedDefinition,
  type: { readonly apiVersion: string; readonly kind: string },
): Path {
  if (definition.intents !== undefined) return ['spec', 'intents'];
  if (shareIn(definition) !== undefined) return ['kind'];
  const contents = policyIn(definition)?.compiled.contents ?? [];
  const content = contents.find((each) => isSameObjectType(each.type, type));
  return [...(content?.path ?? ['spec', 'contents']), 'kind'];
}

function intentFindings(provider: LocatedDefinition, snapshot: ClusterSnapshot): readonly CheckFinding[] {
  const { definition } = provider;
  const facts = definition.intents;
  if (facts === undefined) return [];
  const at = (intent: string): Path => ['spec', 'intents', facts.named.indexOf(intent)];
  const unreached = hasNamespaces(snapshot) ? unreachedIntents(definition, snapshot) : [];
  return [
    ...facts.missing.map((intent) =>
      located('warning', 'intents', provider, {
        path: at(intent),
        message: `SecurityIntent ${intent} does not exist; the binding waits for it`,
      }),
    ),
    ...facts.unsupported.map((each) => {
      // With another install, one of these adapters would keep it.
      const severity = each.adapters.length === 0 ? 'problem' : 'warning';
      return located(severity, 'intents', provider, { path: at(each.intent), message: notKeptText(each) });
    }),
    ...unreached.map((each) =>
      located('warning', 'intents', provider, { path: at(each.intent), message: notKeptText(each) }),
    ),
  ];
}

/** Reports roles that do not exist. Without ClusterRoles in the state, only roles that other policies bind are known. */
function roleFindings(provider: LocatedDefinition, { state, snapshot }: CheckInput): readonly CheckFinding[] {
  const { id, definition } = provider;
  const known = knownRoles(state);
  const roles =
    known === undefined
      ? misspelledRoles(id, undefined, definition, snapshot)
      : unknownRoles(definition, known);
  return roles.map(({ name, message }) =>
    located('warning', 'roles', provider, {
      path: rolePath(provider, name),
      message: withoutId(message, provider),
    }),
  );
}

function rolePath({ definition }: LocatedDefinition, role: string): Path {
  const contents = policyIn(definition)?.compiled.contents ?? [];
  const [path = ['spec', 'contents']] = contents.flatMap(({ contentKind, value, path: at }) => {
    const bound = contentKind.boundRole?.(value);
    return bound?.name === role ? [[...at, ...bound.field]] : [];
  });
  return path;
}

/** Warns of a missing source Secret, because files seldom hold it. A Secret that could not be read may exist. */
function missingSource(provider: LocatedDefinition, state: ClusterState): readonly CheckFinding[] {
  const share = shareIn(provider.definition);
  if (share === undefined || !state.isCluster) return [];
  const isUnread = (id: string): boolean => state.unread.some(({ kind }) => kind === id);
  return share.compiled.sources.flatMap(({ type, namespace, name }, index) => {
    const id = `${type.kind} ${namespace}/${name}`;
    if (isUnread(id) || state.find(type, namespace, name) !== undefined) return [];
    const message = `${id} does not exist; the share copies nothing until it does`;
    return [located('warning', 'source', provider, { path: sourceField(share, index), message })];
  });
}

function withoutEffect(
  provider: LocatedDefinition,
  snapshot: ClusterSnapshot,
  now: Date,
): readonly CheckFinding[] {
  const parts = partsWithoutEffect(provider.definition, reachOf(provider, snapshot), snapshot, now);
  return [...parts, ...uncountedNamespaces(provider.definition, snapshot)].map((part) =>
    located('warning', 'effect', provider, part),
  );
}

/** Counts the namespaces that the provider matches. Where no namespace is known, it counts one, so that nothing is reported. */
function reachOf({ id, definition }: LocatedDefinition, snapshot: ClusterSnapshot): Reach {
  const managed = managedBy(id, snapshot);
  if (!hasNamespaces(snapshot)) return { matched: 1, errors: 0 };
  if (namespaceOfProvider(id) !== undefined && managed.length === 0) return { matched: 0, errors: 0 };
  const results = managed.map((namespace) => matchNamespace(definition.compiled.match, namespace).kind);
  return {
    matched: results.filter((kind) => kind === 'yes').length,
    errors: results.filter((kind) => kind === 'error').length,
  };
}

function costFindings(
  provider: LocatedDefinition,
  snapshot: ClusterSnapshot,
  now: Date,
): readonly CheckFinding[] {
  const message = dearTextIn(provider.definition, managedBy(provider.id, snapshot), now);
  return message === undefined ? [] : [located('warning', 'cost', provider, { path: ['spec'], message })];
}

function quotaFindings(provider: LocatedDefinition, snapshot: ClusterSnapshot): readonly CheckFinding[] {
  const { definition } = provider;
  const quota = quotaIn(definition);
  if (quota === undefined) return [];
  const over = exceededBy(quota, quotaMembers(quota, definition.compiled, snapshot));
  if (over.length === 0) return [];
  const path = ['spec', 'namespaces', 'quota', 'max'];
  return [located('warning', 'quota', provider, { path, message: overQuotaText(quota, over) })];
}

/** Reports a difference between two policies of the files once, at the policy that does not set the key. */
function defaultFindings(
  provider: LocatedDefinition,
  { providers, snapshot }: CheckInput,
): readonly CheckFinding[] {
  const { id, definition } = provider;
  const policy = policyIn(definition)?.compiled;
  if (policy === undefined) return [];
  const inFiles = new Set(providers.map((each) => each.id));
  return differingDefaults(policy, snapshot, unlimitedBudget)
    .filter(({ winner, others }) => winner !== id || others.some((other) => !inFiles.has(other)))
    .map(({ path, message }) =>
      located('warning', 'defaults', provider, {
        path: definition.intents === undefined ? path : ['spec', 'intents'],
        message,
      }),
    );
}

function hasNamespaces(snapshot: ClusterSnapshot): boolean {
  return [...snapshot.namespaces()].some((namespace) => isManaged(namespace, snapshot));
}

function located(
  severity: CheckFinding['severity'],
  check: string,
  provider: LocatedDefinition,
  { path, message }: PartWithoutEffect,
): CheckFinding {
  const problem: Problem = { path, found: '', accepted: '', message };
  return { ...finding(severity, check, provider.source.locate(problem), provider), message };
}

function finding(
  severity: CheckFinding['severity'],
  check: string,
  { file, line, column, about, message }: FileProblem,
  provider?: LocatedDefinition,
): CheckFinding {
  const named = about ?? (provider === undefined ? undefined : aboutOf(provider.source));
  return { severity, check, file, line, column, ...(named === undefined ? {} : { about: named }), message };
}

/** The finding names the provider already. */
function withoutId(message: string, { id }: LocatedDefinition): string {
  return message.startsWith(`${id} `) ? message.slice(id.length + 1) : message;
}

/** Compares by file, line and column. */
export function inPlace(a: CheckFinding, b: CheckFinding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column || (a.message < b.message ? -1 : 1);
}
