// Words how two versions of an object that a provider wants differ. It never sees the data of a Secret.
import { isDeepStrictEqual } from 'node:util';
import type { RoleBindingContent } from '../../api/namespace-policy/namespace-policy.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import type { CompiledShare, CopySpec } from '../compile/compile-share.ts';

/** A warning has room for few differences. */
const maxShown = 2;
/** The API server cuts warnings at 256 characters, and the names of namespaces follow. */
const maxTextLength = 40;
/**
 * The roleRef of a RoleBinding and the type of a Secret cannot be updated.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#clusterrolebinding-example
 */
const again = 'deleted and created again';

export function roleBindingDifferences(old: RoleBindingContent, now: RoleBindingContent): string {
  const [before, after] = [old.subjects.map(subjectText), now.subjects.map(subjectText)];
  return [
    ...(old.roleRef.name === now.roleRef.name
      ? []
      : [`${change('ClusterRole', old.roleRef.name, now.roleRef.name)}; ${again}`]),
    ...some(
      after.filter((each) => !before.includes(each)),
      'adds',
    ),
    ...some(
      before.filter((each) => !after.includes(each)),
      'removes',
    ),
    ...(expiryText(old) === expiryText(now) ? [] : [change('expires', expiryText(old), expiryText(now))]),
  ].join('; ');
}

function subjectText({ kind, name, namespace }: RoleBindingContent['subjects'][number]): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

function expiryText({ expiresAfter, expiresAt }: RoleBindingContent): string {
  return expiresAfter === undefined ? (expiresAt ?? 'never') : `after ${expiresAfter}`;
}

/** Empty if both shares make the same copy. */
export function shareDifferences(old: CompiledShare, now: CompiledShare): string {
  const [before, after] = [old.copy, now.copy];
  const sources = [old.source, now.source].map(({ namespace, name }) => `${namespace}/${name}`);
  const [oldSource = '', newSource = ''] = sources;
  const hasOtherData = oldSource !== newSource || !isDeepStrictEqual(before.keys, after.keys);
  // https://kubernetes.io/docs/concepts/configuration/secret/#secret-immutable
  const isReplaced = before.type !== after.type || (before.isImmutable && hasOtherData);
  return [
    ...(oldSource === newSource ? [] : [change('source', oldSource, newSource)]),
    ...(before.type === after.type ? [] : [change('type', typeText(before), typeText(after))]),
    ...(isDeepStrictEqual(before.keys, after.keys)
      ? []
      : [change('keys', keysText(before), keysText(after))]),
    ...(before.isImmutable === after.isImmutable
      ? []
      : [change('immutable', String(before.isImmutable), String(after.isImmutable))]),
    ...some(differingLabels(before.labels, after.labels), 'labels'),
    ...(isReplaced ? [replacement(before, after)] : []),
  ].join('; ');
}

/** The webhook does not see the source, so it cannot know whether the type of the source is another one. */
function replacement(before: CopySpec, after: CopySpec): string {
  const isUnsure = before.type !== after.type && (before.type === '' || after.type === '');
  return isUnsure ? `${again} if the type differs` : again;
}

function typeText({ type }: CopySpec): string {
  return type === '' ? 'of the source' : type;
}

/** Names of keys, which `kubectl describe` shows as well. */
function keysText({ keys }: CopySpec): string {
  if (keys === undefined) return 'all';
  return keys.map(({ from, to }) => (from === to ? to : `${from} as ${to}`)).join(', ');
}

function differingLabels(old: CopySpec['labels'], now: CopySpec['labels']): readonly string[] {
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...keys].filter((key) => ownMember(old, key) !== ownMember(now, key));
}

/** Lists the paths that differ, with their values where these are short and no configuration data. */
export function fieldDifferences(old: unknown, now: unknown): string {
  const all = differingFields(old, now, []);
  const shown = all.slice(0, maxShown).map(({ path, before, after }) => {
    const name = clipped(renderPath(path), maxTextLength);
    const isShown = isScalar(before) && isScalar(after) && !/data$/i.test(String(path[0]));
    if (!isShown) return name;
    // A number and a text of the same digits must not look the same.
    return String(before) === String(after)
      ? change(name, JSON.stringify(before), JSON.stringify(after))
      : change(name, String(before), String(after));
  });
  const more = all.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join(', ');
}

interface Difference {
  readonly path: Path;
  readonly before: unknown;
  readonly after: unknown;
}

/** A list counts as one field, because an item that is inserted moves all others. */
function differingFields(before: unknown, after: unknown, path: Path): readonly Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    differingFields(ownMember(before, name), ownMember(after, name), [...path, name]),
  );
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' && value !== undefined;
}

function change(what: string, before: string, after: string): string {
  return `${what} ${clipped(before, maxTextLength)} -> ${clipped(after, maxTextLength)}`;
}

/** `adds Group ops, User ann and 3 more`. Nothing for no items. */
function some(items: readonly string[], what: string): readonly string[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, maxShown).map((item) => clipped(item, maxTextLength));
  const more = items.length - shown.length;
  return [`${what} ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`];
}
