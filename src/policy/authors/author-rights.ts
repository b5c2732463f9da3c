// Nobody exceeds himself: the rights that it takes to have a policy or share do what its spec says.
import { renderPath } from '../../base/problem.ts';
import { neededRights } from './needed-rights.ts';
import type { CompiledMatch } from '../terms/match.ts';
import { providerId, useOf, type ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { Right } from '../terms/verdict.ts';
import type { ProviderWrite } from './provider-write.ts';
import type { Install } from '../compile/install.ts';

/** Each right of RBAC that the author must have; none for a deletion. */
export function authorRights(
  { id, after }: ProviderWrite,
  snapshot: ClusterSnapshot,
  install: Install,
): readonly Right[] {
  if (after === undefined) return [];
  const provided = neededRights(after, install).flatMap(
    ({ verbs, for: _for, isAllowed: _isAllowed, ...right }) =>
      verbs.map((verb): Right => ({ ...right, verb, rule: 'authors' })),
  );
  if (after.kind === 'SecretShare') return provided;
  const { labels = {}, annotations = {} } = after.object.spec.namespaces?.defaults ?? {};
  const defaults = { labels: Object.keys(labels), annotations: Object.keys(annotations) };
  return [...provided, ...steeredByDefaults(id, defaults, snapshot)];
}

interface DefaultedKeys {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

/**
 * A default decides for whoever makes a namespace what it comes under. Whether it does so in a condition or a template
 * is not asked: that these can tell one namespace from another is enough.
 */
function steeredByDefaults(id: ProviderId, keys: DefaultedKeys, snapshot: ClusterSnapshot): readonly Right[] {
  if (keys.labels.length + keys.annotations.length === 0) return [];
  const readers = readersIn(snapshot);
  const others = new Set([...readers.map((each) => each.id), ...snapshot.owners.keys()]);
  others.delete(id);
  const byId = new Map(readers.map((each) => [each.id, each]));
  return [...others].flatMap((other) => {
    const reader = byId.get(other);
    const key = keys.labels.find((each) => reader?.match.selector?.keys.has(each) === true);
    if (key === undefined && reader?.looksCloser === false) return [];
    const at = ['spec', 'namespaces', 'defaults', ...(key === undefined ? [] : ['labels', key])];
    const effect = `set what ${other} ${reader === undefined ? 'may read' : 'reads'} of namespaces`;
    return [{ ...useOf(other), effect, rule: 'authors', path: renderPath(at) } as const];
  });
}

/** A policy or share, in the version that is in force; one that is not there has none. */
interface Reader {
  readonly id: ProviderId;
  readonly match: CompiledMatch;
  /** Whether it reads more of a Namespace than its name and the labels of its selector. */
  readonly looksCloser: boolean;
}

function readersIn({ policies, shares }: ClusterSnapshot): readonly Reader[] {
  return [
    ...policies.policies.map(({ name, match, readsNamespace }) => ({
      id: providerId('NamespacePolicy', name),
      match,
      looksCloser: match.conditions.length > 0 || readsNamespace,
    })),
    ...shares.shares.map(({ name, match }) => ({
      id: providerId('SecretShare', name),
      match,
      looksCloser: match.conditions.length > 0,
    })),
  ];
}
