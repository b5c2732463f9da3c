// Lists the rights an author needs for a policy or share, so that it does nothing its author could not do.
import { clipped } from '../../base/text.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import { neededRights } from './needed-rights.ts';
import type { CompiledMatch } from '../terms/match.ts';
import { namespaceOfProvider, shownProvider, useOf, type ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { OwnRight, Right } from '../terms/verdict.ts';
import type { ProviderCircumstances, ProviderWrite } from './provider-write.ts';
import { reductionIn } from './reduction.ts';
import { steeredNamespace } from './steered-namespace.ts';

/**
 * Returns each RBAC right that the author must have. A write that only removes needs none, like a deletion. Objects of a
 * suspended provider outlast its deletion, so a suspension needs the rights to hand them out, not those to write them.
 */
export function authorRights(
  write: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): readonly Right[] {
  const { id } = write;
  const versions = { ...write, ...write.allServed };
  const { after } = versions;
  const reduction = reductionIn(versions);
  if (after === undefined || reduction === 'removes') return [];
  const provided = neededRights(after, circumstances.install).flatMap(
    ({ verbs, for: purpose, isAllowed: _isAllowed, ...right }) =>
      reduction === 'none' || purpose === 'role' || purpose === 'source'
        ? verbs.map((verb): Right => ({ ...right, verb, rule: 'authors' }))
        : [],
  );
  if (after.kind === 'SecretShare' || reduction !== 'none') return provided;
  const steered = steeredNamespace(after, snapshot, circumstances);
  if (steered !== undefined) return [...provided, ...steered];
  const { labels = {}, annotations = {} } = after.object.spec.namespaces?.defaults ?? {};
  const defaults = { labels: Object.keys(labels), annotations: Object.keys(annotations) };
  const sourceOf = after.intents?.sourceOf ?? ((path: Path) => path);
  return [...provided, ...steeredByDefaults(id, defaults, snapshot, sourceOf)];
}

/** The roles that this write newly binds. Reeve cannot bind every role that its author can. */
export function rolesToBind({ id, before }: ProviderWrite, rights: readonly Right[]): readonly OwnRight[] {
  const known = before?.kind === 'NamespacePolicy' ? before.compiled.roleNames : [];
  return rights.flatMap((right) => {
    const { verb, name = '' } = right;
    if (verb !== 'bind' || known.includes(name)) return [];
    const notice =
      `${id} binds ClusterRole ${clipped(name)}, which this installation does not let Reeve bind, ` +
      'so Reeve does not create these RoleBindings until an administrator adds the role to the install';
    return [{ ...right, notice }];
  });
}

interface DefaultedKeys {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

/**
 * A default chooses for other users which providers a new namespace comes under. So its author needs the right to use
 * every provider that reads the key. Conditions and templates count as reading all keys.
 */
function steeredByDefaults(
  id: ProviderId,
  keys: DefaultedKeys,
  snapshot: ClusterSnapshot,
  sourceOf: (path: Path) => Path,
): readonly Right[] {
  if (keys.labels.length + keys.annotations.length === 0) return [];
  const readers = readersIn(snapshot);
  const others = new Set([...readers.map((each) => each.id), ...snapshot.providers.keys()]);
  others.delete(id);
  // A tenant's binding reads the name of its own namespace alone, also one whose stored version does not load.
  for (const other of others) if (namespaceOfProvider(other) !== undefined) others.delete(other);
  const byId = new Map(readers.map((each) => [each.id, each]));
  return [...others].flatMap((other) => {
    const reader = byId.get(other);
    const key = keys.labels.find((each) => reader?.match.selector?.keys.has(each) === true);
    if (key === undefined && reader?.readsOtherFields === false) return [];
    const at = sourceOf(['spec', 'namespaces', 'defaults', ...(key === undefined ? [] : ['labels', key])]);
    const provider = shownProvider(other);
    const effect = `set a default that ${provider} ${reader === undefined ? 'may read' : 'reads'}`;
    const contact = reader?.contact === undefined ? {} : { contact: reader.contact };
    return [{ ...useOf(other), effect, rule: 'authors', path: renderPath(at), ...contact } as const];
  });
}

/** A policy or share in the version that is in force. A provider whose stored version does not load is not among them. */
interface Reader {
  readonly id: ProviderId;
  readonly match: CompiledMatch;
  readonly contact: string | undefined;
  /** True if it reads more of a Namespace than its name and the labels of its selector. */
  readonly readsOtherFields: boolean;
}

function readersIn({ policies, shares }: ClusterSnapshot): readonly Reader[] {
  return [
    ...policies.policies.map(({ id, match, contact, readsNamespace }) => ({
      id,
      match,
      contact,
      readsOtherFields: match.conditions.length > 0 || readsNamespace,
    })),
    ...shares.shares.map(({ id, match, contact }) => ({
      id,
      match,
      contact,
      readsOtherFields: match.conditions.length > 0,
    })),
  ];
}
