// Finds the objects that the newer version of a provider adds or changes, and words the difference.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, StringMap } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import {
  isDueAt,
  type CompiledContent,
  type Difference,
  type Rendered,
  type RenderedContent,
} from '../../contents/content.ts';
import { createOnce } from '../../contents/create-once.ts';
import { recordedKeys } from '../terms/creation-record.ts';
import { policyIn, shareIn } from '../compile/load-provider.ts';
import { payloadForm, type CompiledShare, type CopySpec } from '../compile/compile-share.ts';
import { isContentAllowed, mayCreate, type Install } from '../terms/install.ts';
import { groupKind, objectKey } from '../../base/object-type.ts';
import type { Circumstances } from '../terms/budget.ts';
import {
  contentExceptionsOf,
  fateOf,
  hasSame,
  providedBy,
  variablesOf,
  type ProviderWrite,
} from './provider-write.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import { renderPath, type Path } from '../../base/problem.ts';

/** An object that the newer version of a provider adds, or wants in another form. */
export interface ContentChange {
  /** Example: `changes RoleBinding access`. */
  readonly text: string;
  /** Example: `ClusterRole view -> edit; deleted and created again`. Can be empty. */
  readonly detail: string;
  /** True if the namespace has no older form of the object. */
  readonly isNew: boolean;
  /** True if the change affects this namespace, which both versions match. */
  affects(namespaceObject: KubeObject, circumstances: Circumstances): boolean;
}

/** Returns nothing while the newer version is suspended, and if one of the versions is missing. */
export function contentChanges(write: ProviderWrite, install: Install): readonly ContentChange[] {
  if (fateOf(write) === 'kept' || hasSame(write, providedBy)) return [];
  const versions = [write.before, write.after];
  const [old, now] = versions.map((version) => policyIn(version)?.compiled.contents);
  const mayDiffer = !hasSame(write, variablesOf) || !hasSame(write, contentExceptionsOf);
  if (old !== undefined && now !== undefined) return policyChanges(old, now, { install, mayDiffer });
  const [before, after] = versions.map((version) => shareIn(version)?.compiled);
  return before === undefined || after === undefined ? [] : shareChanges(before, after, install);
}

function shareChanges(
  before: CompiledShare,
  after: CompiledShare,
  install: Install,
): readonly ContentChange[] {
  const {
    type,
    copy: { name },
  } = after;
  const detail = shareDifferences(before, after);
  const changeOf = (isNew: boolean): ContentChange => ({
    text: `${isNew ? 'adds' : 'changes'} ${type.kind} ${clipped(name, 60)}`,
    detail: isNew ? '' : detail,
    isNew,
    affects: (namespaceObject, { budget }) => {
      const now = after.copyIn(namespaceObject, budget);
      if (now.kind !== 'present' || !mayCreate({ type, name: now.value.name }, install)) return false;
      const key = objectKey(type, now.value.name);
      if (after.isCreatedOnce && recordedKeys(namespaceObject).has(key)) return false;
      const old = before.copyIn(namespaceObject, budget);
      // After an error, the older copy stays as it was.
      const existed = old.kind === 'error' || (old.kind === 'present' && old.value.name === now.value.name);
      const differs = hasOtherPayload(before, after) || before.isCreatedOnce !== after.isCreatedOnce;
      return isNew ? !existed : existed && (differs || !isDeepStrictEqual(old, now));
    },
  });
  // An object that is created once does not follow a change.
  return [
    changeOf(true),
    ...(detail === '' || (before.isCreatedOnce && after.isCreatedOnce) ? [] : [changeOf(false)]),
  ];
}

/** The metadata of the copies is compared namespace by namespace. */
function hasOtherPayload(before: CompiledShare, after: CompiledShare): boolean {
  return !isDeepStrictEqual(payloadForm(before), payloadForm(after));
}

function policyChanges(
  before: readonly CompiledContent[],
  after: readonly CompiledContent[],
  { install, mayDiffer }: { readonly install: Install; readonly mayDiffer: boolean },
): readonly ContentChange[] {
  const older = new Map(before.map((content) => [keyOf(content), content]));
  return after.flatMap((content) => {
    const old = older.get(keyOf(content));
    const varies = [old, content].some((each) => each?.isTemplated);
    const isSame = isDeepStrictEqual(old?.value, content.value) && !(mayDiffer && varies);
    if (!isContentAllowed(content, install) || isSame) return [];
    const addition = contentChange(old, content, true);
    // An object that is created once does not follow a change.
    const isDone = [old, content].every((each) => each?.isCreatedOnce);
    return old === undefined || isDone ? [addition] : [addition, contentChange(old, content, false)];
  });
}

function keyOf({ contentKind, type, name }: CompiledContent): string {
  return `${contentKind.name} ${groupKind(type)} ${name}`;
}

/** `isNew` is for namespaces that had no such object from the older version, because it had expired or was skipped. */
function contentChange(
  old: CompiledContent | undefined,
  now: CompiledContent,
  isNew: boolean,
): ContentChange {
  const isSameEverywhere = !rendersDifferently(old) && !rendersDifferently(now);
  return {
    text: `${isNew ? 'adds' : 'changes'} ${fieldsText(now, isNew)}${now.type.kind} ${clipped(now.name, 60)}`,
    detail: detailOf(isNew ? undefined : old, now),
    isNew,
    affects: (namespaceObject, circumstances) =>
      isSameEverywhere
        ? isNew === (old === undefined)
        : isOther(old, now, isNew, namespaceObject, circumstances),
  };
}

function fieldsText({ contentKind }: CompiledContent, isNew: boolean): string {
  if (contentKind.ownership === 'object') return '';
  return isNew ? 'fields to ' : 'fields of ';
}

function detailOf(old: CompiledContent | undefined, now: CompiledContent): string {
  const { compare } = now.contentKind;
  if (compare === 'by-field') return old === undefined ? '' : fieldDifferences(old.value, now.value);
  if (old === undefined) return compare.summary(now.value);
  return compare.differences(old.value, now.value).flatMap(differenceText).join('; ');
}

/** True if two namespaces can get different objects. */
function rendersDifferently(content: CompiledContent | undefined): boolean {
  return (
    content !== undefined && (content.isTemplated || content.expiry !== undefined || content.isCreatedOnce)
  );
}

/** Ignores a namespace that gets no object from the newer version. It can only lose an object, which another notice counts. */
// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function isOther(
  old: CompiledContent | undefined,
  now: CompiledContent,
  isNew: boolean,
  namespaceObject: KubeObject,
  { now: time, budget }: Circumstances,
): boolean {
  const isThere = (each: Rendered<RenderedContent>): boolean => isDueAt(each, time);
  const record = now.isCreatedOnce ? recordedKeys(namespaceObject) : undefined;
  const isGiven = (each: Rendered<RenderedContent>): boolean =>
    each.kind === 'present' && record?.has(objectKey(now.type, each.value.name)) === true;
  const rendered = now.render(namespaceObject, budget);
  if (!rendered.some((each) => isThere(each) && !isGiven(each))) return false;
  const before = old?.render(namespaceObject, budget) ?? [];
  // After an error, the older object stays as it was.
  const existed = before.some((each) => each.kind === 'error' || isThere(each));
  const isOtherMode = old?.isCreatedOnce !== now.isCreatedOnce;
  return isNew ? !existed : existed && (isOtherMode || !isDeepStrictEqual(before, rendered));
}

// Words how two versions of an object that a provider wants differ. It never sees the data of a Secret.

/** The number of differences that fit into a warning. */
const maxShown = 2;
/** The API server cuts warnings at 256 characters, and the names of namespaces need room. */
const maxTextLength = 40;
/**
 * The roleRef of a RoleBinding and the type of a Secret cannot be updated.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#clusterrolebinding-example
 */
const again = 'deleted and created again';

function differenceText(each: Difference): readonly string[] {
  if ('items' in each) return some(each.items, each.verb);
  const text = change(each.what, each.before, each.after);
  return [each.isReplaced === true ? `${text}; ${again}` : text];
}

/** Returns an empty text if both shares make the same copy. */
function shareDifferences(old: CompiledShare, now: CompiledShare): string {
  const [before, after] = [old.copy, now.copy];
  const data = dataDifferences(old, now);
  // https://kubernetes.io/docs/concepts/configuration/secret/#secret-immutable
  const isReplaced = before.type !== after.type || (before.isImmutable && data.length > 0);
  return [
    ...wholeDifferences(old, now),
    ...(before.type === after.type ? [] : [change('type', typeText(before), typeText(after))]),
    ...data.filter((each) => each !== ''),
    ...(before.isImmutable === after.isImmutable
      ? []
      : [change('immutable', String(before.isImmutable), String(after.isImmutable))]),
    ...(before.name === after.name ? [] : [change('name', before.name, after.name)]),
    ...some(differingKeys(before.labels, after.labels), 'labels'),
    ...some(differingKeys(before.annotations, after.annotations), 'annotations'),
    ...(isReplaced ? [replacement(before, after)] : []),
  ].join('; ');
}

function wholeDifferences(old: CompiledShare, now: CompiledShare): readonly string[] {
  const [before, after] = [old, now].map((each) => ({
    mode: each.isCreatedOnce ? createOnce : 'Keep',
    source: sourcesText(each),
  }));
  return (['mode', 'source'] as const).flatMap((what) => {
    const [was = '', is = ''] = [before?.[what], after?.[what]];
    return was === is ? [] : [change(what, was, is)];
  });
}

/** Only a source of another kind than the copies shows its kind. */
function sourcesText({ type: own, sources }: CompiledShare): string {
  return sources
    .map(
      ({ type: { kind }, namespace, name }) => `${kind === own.kind ? '' : `${kind} `}${namespace}/${name}`,
    )
    .join(', ');
}

/** Words what decides the data. Another source is an empty text, because it has a place of its own. */
function dataDifferences(old: CompiledShare, now: CompiledShare): readonly string[] {
  const [before, after] = [old.copy, now.copy];
  return [
    ...(sourcesText(old) === sourcesText(now) ? [] : ['']),
    ...(isDeepStrictEqual(before.keys, after.keys)
      ? []
      : [change('keys', keysText(before), keysText(after))]),
    ...(sourceKeys(old) === sourceKeys(now) ? [] : ['keys of the sources']),
    ...(before.bundleKey === after.bundleKey
      ? []
      : [change('bundle', before.bundleKey ?? 'none', after.bundleKey ?? 'none')]),
    ...some(differingKeys(before.template ?? {}, after.template ?? {}), 'template of'),
    ...(isDeepStrictEqual(before.dockerConfig, after.dockerConfig) ? [] : ['dockerConfig']),
  ];
}

/** A source without keys of its own leaves nothing to compare. */
function sourceKeys({ sources }: CompiledShare): string {
  return JSON.stringify(sources.flatMap(({ keys = [] }, index) => keys.map((key) => [index, key])));
}

/** The webhook does not see the source, so it does not know the type of the source. */
function replacement(before: CopySpec, after: CopySpec): string {
  const isUnsure = before.type !== after.type && (before.type === '' || after.type === '');
  return isUnsure ? `${again} if the type differs` : again;
}

function typeText({ type }: CopySpec): string {
  return type === '' ? 'of the source' : type;
}

/** Lists the names of keys, which `kubectl describe` shows as well. */
function keysText({ keys }: CopySpec): string {
  if (keys === undefined) return 'all';
  return keys.map(({ from, to }) => (from === to ? to : `${from} as ${to}`)).join(', ');
}

function differingKeys(old: StringMap, now: StringMap): readonly string[] {
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...keys].filter((key) => ownMember(old, key) !== ownMember(now, key));
}

/** Lists the paths that differ. Shows only values that are short and no configuration data. */
function fieldDifferences(old: unknown, now: unknown): string {
  const all = differingFields(old, now, []);
  const shown = all.slice(0, maxShown).map(({ path, before, after }) => {
    const name = clipped(renderPath(path), maxTextLength);
    const isShown = isScalar(before) && isScalar(after) && !/data$/i.test(String(path[0]));
    if (!isShown) return name;
    // A number and a text with the same digits must look different.
    return String(before) === String(after)
      ? change(name, JSON.stringify(before), JSON.stringify(after))
      : change(name, String(before), String(after));
  });
  const more = all.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join(', ');
}

interface FieldDifference {
  readonly path: Path;
  readonly before: unknown;
  readonly after: unknown;
}

/** A list counts as one field, because an inserted item moves all others. */
function differingFields(before: unknown, after: unknown, path: Path): readonly FieldDifference[] {
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

/** Example: `adds Group ops, User ann and 3 more`. Returns nothing for no items. */
function some(items: readonly string[], what: string): readonly string[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, maxShown).map((item) => clipped(item, maxTextLength));
  const more = items.length - shown.length;
  return [`${what} ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`];
}
