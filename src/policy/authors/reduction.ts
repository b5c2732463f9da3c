// Finds writes that only remove: fewer namespaces, contents and subjects, or a suspension.
import { isDeepStrictEqual } from 'node:util';
import type {
  ContentsSpec,
  MatchSpec,
  RoleBindingContent,
} from '../../api/namespace-policy/namespace-policy.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { matchOf } from './no-effect.ts';
import type { ProviderWrite } from './provider-write.ts';

/** `suspends`: nothing is added, but what exists outlasts its expiry, and the deletion of its provider. */
type Reduction = 'none' | 'removes' | 'suspends';

export function reductionIn({ before, after }: ProviderWrite): Reduction {
  if (before === undefined || after === undefined) return 'none';
  const isLess =
    isDeepStrictEqual(fixedPart(before), fixedPart(after)) &&
    isNarrower(matchOf(before).match, matchOf(after).match) &&
    isSubset(placedContents(after), placedContents(before)) &&
    hasFewerContents(contentsOf(before), contentsOf(after));
  const [was, is] = [before.compiled.isSuspended, after.compiled.isSuspended];
  if (!isLess || (was && !is)) return 'none';
  return is && !was ? 'suspends' : 'removes';
}

/** The objects of a binding that one namespace gets, with that namespace. */
export function placedContents(definition: ProviderDefinition): readonly unknown[] {
  if (definition.kind === 'SecretShare' || definition.intents === undefined) return [];
  const { resources = [] } = definition.object.spec.contents ?? {};
  const { onlyIn } = definition.intents;
  return resources.map((resource, index) => [resource, onlyIn[index]]);
}

/** The fields that such a write leaves alone. */
function fixedPart({ kind, object }: ProviderDefinition): unknown {
  if (kind === 'SecretShare') {
    const { targets: _targets, suspend: _suspend, ...rest } = object.spec;
    return rest;
  }
  const { match: _match, contents: _contents, suspend: _suspend, ...rest } = object.spec;
  return rest;
}

/** A condition that is added could have an error, which keeps the objects where they are. So conditions must be equal. */
function isNarrower(before: MatchSpec, after: MatchSpec): boolean {
  const [old = {}, now = {}] = [before.namespaceSelector, after.namespaceSelector];
  const [oldLabels, labels] = [old, now].map(({ matchLabels = {} }) => Object.entries(matchLabels));
  return (
    isDeepStrictEqual(before.matchConditions ?? [], after.matchConditions ?? []) &&
    (before.names === undefined || (after.names !== undefined && isSubset(after.names, before.names))) &&
    isSubset(before.excludeNames, after.excludeNames) &&
    isSubset(oldLabels, labels) &&
    isSubset(old.matchExpressions, now.matchExpressions)
  );
}

function hasFewerContents(before: ContentsSpec, after: ContentsSpec): boolean {
  const bindings = after.roleBindings ?? [];
  return (
    isSubset(after.resources, before.resources) &&
    isSubset(after.serviceAccounts, before.serviceAccounts) &&
    bindings.every((binding) => (before.roleBindings ?? []).some((each) => isReducedTo(each, binding)))
  );
}

function isReducedTo(before: RoleBindingContent, after: RoleBindingContent): boolean {
  const [{ subjects: old, ...was }, { subjects: now, ...is }] = [before, after];
  return isDeepStrictEqual(was, is) && isSubset(now, old);
}

export function contentsOf({ kind, object }: ProviderDefinition): ContentsSpec {
  return kind === 'SecretShare' ? {} : (object.spec.contents ?? {});
}

export function isSubset(items: readonly unknown[] = [], of: readonly unknown[] = []): boolean {
  return items.every((item) => of.some((each) => isDeepStrictEqual(each, item)));
}
