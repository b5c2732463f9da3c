// Computes the wanted contents of a namespace of the soak from its simple policies and shares, independently of Reeve's code.
import type { Inventory, Stored, Texts } from './stored.ts';
import { nameTemplate } from './world.ts';

interface PolicySpec {
  readonly match: Match;
  readonly contents?: {
    readonly roleBindings?: readonly {
      readonly name: string;
      readonly roleRef: { readonly kind: string; readonly name: string };
      readonly subjects: readonly { readonly kind: string; readonly name: string }[];
    }[];
    readonly resources?: readonly {
      readonly kind: string;
      readonly metadata: { readonly name: string };
      readonly data: Texts;
    }[];
  };
}

interface ShareSpec {
  readonly source: { readonly name: string };
  readonly targets: Match;
  readonly target: {
    readonly name: string;
    readonly immutable?: boolean;
    readonly keys?: readonly { readonly from: string; readonly to: string }[];
    readonly labels?: Texts;
  };
}

interface Match {
  readonly namespaceSelector?: { readonly matchLabels?: Texts };
  readonly names?: readonly string[];
  readonly excludeNames?: readonly string[];
}

export interface Wish {
  readonly owner: string;
  readonly kind: string;
  readonly name: string;
  readonly labels: Texts;
  /** The object without its metadata. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The source of a copy. Copies of two sources are never the same, whatever their data. */
  readonly source?: string;
}

export interface Wishes {
  /** The wanted objects. The first provider that wants an object gets it. */
  readonly wishes: readonly Wish[];
  /** The matching policies, with or without contents. */
  readonly matching: readonly string[];
}

const managed = { 'app.kubernetes.io/managed-by': 'reeve' };

function named(owner: string): Texts {
  const [kind = '', name = ''] = owner.split('/');
  return { ...managed, [`reeve.dev/${kind.toLowerCase()}`]: name };
}

const rbac = 'rbac.authorization.k8s.io';

/** Policies come before shares. Each kind is sorted by name. */
export function wishesFor(namespace: Stored, inventory: Inventory): Wishes {
  const matching: string[] = [];
  const byName = (a: Stored, b: Stored): number => (a.metadata.name < b.metadata.name ? -1 : 1);
  const ofPolicies = inventory.policies.toSorted(byName).flatMap((policy) => {
    const spec = policy.spec as PolicySpec;
    if (!isMatched(spec.match, namespace)) return [];
    const owner = `NamespacePolicy/${policy.metadata.name}`;
    matching.push(owner);
    return policyWishes(owner, spec, namespace.metadata.name);
  });
  const ofShares = inventory.shares.toSorted(byName).flatMap((share) => {
    const spec = share.spec as ShareSpec;
    const source = inventory.sources.find(({ metadata }) => metadata.name === spec.source.name);
    if (!isMatched(spec.targets, namespace) || source === undefined) return [];
    return [shareWish(`SecretShare/${share.metadata.name}`, spec, source)];
  });
  return { matching, wishes: [...ofPolicies, ...ofShares] };
}

export function isMatched(
  { namespaceSelector, names, excludeNames }: Match,
  { metadata: { name, labels = {} } }: Stored,
): boolean {
  const wanted = Object.entries(namespaceSelector?.matchLabels ?? {});
  return (
    wanted.every(([key, value]) => labels[key] === value) &&
    (names === undefined || names.some((glob) => fits(glob, name))) &&
    !(excludeNames ?? []).some((glob) => fits(glob, name))
  );
}

/** Supports globs with at most one star. */
function fits(glob: string, name: string): boolean {
  const [start = '', end] = glob.split('*');
  if (end === undefined) return name === glob;
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

function policyWishes(owner: string, { contents = {} }: PolicySpec, namespace: string): readonly Wish[] {
  const render = (text: string): string => text.replaceAll(nameTemplate, namespace);
  const bindings = (contents.roleBindings ?? []).map(({ name, roleRef, subjects }) => ({
    owner,
    kind: 'RoleBinding',
    name: render(name),
    labels: named(owner),
    body: {
      roleRef: { apiGroup: rbac, ...roleRef },
      subjects: subjects.map((each) => ({ apiGroup: rbac, kind: each.kind, name: render(each.name) })),
    },
  }));
  const resources = (contents.resources ?? []).map(({ kind, metadata, data }) => ({
    owner,
    kind,
    name: render(metadata.name),
    labels: named(owner),
    body: { data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, render(value)])) },
  }));
  return [...bindings, ...resources];
}

function shareWish(owner: string, { source, target }: ShareSpec, { data = {}, type }: Stored): Wish {
  const { name, keys, immutable, labels = {} } = target;
  const copied = keys === undefined ? data : Object.fromEntries(keys.map(({ from, to }) => [to, data[from]]));
  const body = { type, data: copied, ...(immutable === true ? { immutable } : {}) };
  return { owner, kind: 'Secret', name, labels: { ...labels, ...named(owner) }, body, source: source.name };
}
