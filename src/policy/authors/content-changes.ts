// Finds the objects that the newer version of a provider adds or changes, and words the difference.
import { isDeepStrictEqual } from 'node:util';
import type { NamespacePolicy, RoleBindingContent } from '../../api/namespace-policy/namespace-policy.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import type { CompiledContent, RenderedContent } from '../compile/compile-contents.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import { isProvided, mayMakeSecret, type Install } from '../compile/install.ts';
import { groupKind, roleBindingType, serviceAccountType, type ObjectType } from '../terms/object-key.ts';
import type { Circumstances } from '../terms/budget.ts';
import { fieldDifferences, roleBindingDifferences, shareDifferences } from './differences.ts';
import { fateOf, providedBy, type ProviderWrite } from './provider-write.ts';

/** An object that the newer version of a provider adds, or wants in another form. */
export interface ContentChange {
  /** `changes RoleBinding access` */
  readonly text: string;
  /** `ClusterRole view -> edit; deleted and created again`. Empty if there is nothing to add. */
  readonly detail: string;
  /** True if the namespace has no older form of the object. */
  readonly isNew: boolean;
  /** True if the change affects this namespace, which both versions match. */
  affects(namespaceObject: KubeObject, circumstances: Circumstances): boolean;
}

/** Returns nothing while the newer version is suspended, and where one of the versions is missing. */
export function contentChanges(write: ProviderWrite, install: Install): readonly ContentChange[] {
  const { before, after } = write;
  if (fateOf(write) === 'kept' || before === undefined) return [];
  if (before.kind === 'SecretShare' && after?.kind === 'SecretShare')
    return shareChanges(before.compiled, after.compiled, install);
  if (before.kind === 'NamespacePolicy' && after?.kind === 'NamespacePolicy') {
    if (isDeepStrictEqual(providedBy(before), providedBy(after))) return [];
    return policyChanges(contentsOf(before), contentsOf(after), install);
  }
  return [];
}

function shareChanges(
  before: CompiledShare,
  after: CompiledShare,
  install: Install,
): readonly ContentChange[] {
  const { name } = after.copy;
  if (!mayMakeSecret(name, install)) return [];
  const isNew = before.copy.name !== name;
  const detail = isNew ? '' : shareDifferences(before, after);
  if (!isNew && detail === '') return [];
  return [{ text: `${isNew ? 'adds' : 'changes'} Secret ${name}`, detail, isNew, affects: () => true }];
}

/** One content of a policy, as it is written and compiled. */
interface Content {
  readonly type: ObjectType;
  /** Can be a template. */
  readonly name: string;
  readonly binding?: RoleBindingContent;
  readonly source: object;
  readonly compiled: CompiledContent;
}

/** The compiled contents have the order of the spec: roleBindings, resources, serviceAccounts. */
function contentsOf({
  object: { spec },
  compiled,
}: {
  readonly object: NamespacePolicy;
  readonly compiled: CompiledPolicy;
}): readonly Content[] {
  const { roleBindings = [], resources = [], serviceAccounts = [] } = spec.contents ?? {};
  const sources = [
    ...roleBindings.map((binding) => ({
      type: roleBindingType,
      name: binding.name,
      binding,
      source: binding,
    })),
    ...resources.map((source) => ({ type: source, name: source.metadata.name, source })),
    ...serviceAccounts.map((source) => ({ type: serviceAccountType, name: source.name, source })),
  ];
  return compiled.contents.flatMap((content, index) => {
    const source = sources[index];
    return source === undefined ? [] : [{ ...source, compiled: content }];
  });
}

function policyChanges(
  before: readonly Content[],
  after: readonly Content[],
  install: Install,
): readonly ContentChange[] {
  const keyOf = ({ type, name, compiled }: Content): string =>
    `${groupKind(type)} ${name} ${compiled.isFields}`;
  const older = new Map(before.map((content) => [keyOf(content), content]));
  return after.flatMap((content) => {
    const old = older.get(keyOf(content));
    const isLimited = content.binding === undefined && !content.compiled.isFields;
    if (isLimited && !isProvided(content.type, install)) return [];
    if (isDeepStrictEqual(old?.source, content.source)) return [];
    const addition = contentChange(old, content, true);
    return old === undefined ? [addition] : [addition, contentChange(old, content, false)];
  });
}

/** With `isNew`, for namespaces where the older version provided no such object, because it had expired or was skipped. */
function contentChange(old: Content | undefined, now: Content, isNew: boolean): ContentChange {
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

function fieldsText({ compiled }: Content, isNew: boolean): string {
  if (!compiled.isFields) return '';
  return isNew ? 'fields to ' : 'fields of ';
}

function detailOf(old: Content | undefined, now: Content): string {
  if (now.binding === undefined) return old === undefined ? '' : fieldDifferences(old.source, now.source);
  return old?.binding === undefined
    ? `ClusterRole ${now.binding.roleRef.name}`
    : roleBindingDifferences(old.binding, now.binding);
}

/** True if two namespaces can get different objects. */
function rendersDifferently(content: Content | undefined): boolean {
  const { expiresAfter, expiresAt } = content?.binding ?? {};
  return content?.compiled.isTemplated === true || expiresAfter !== undefined || expiresAt !== undefined;
}

/** A namespace that gets no object from the newer version can only lose one, which another notice counts. */
// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function isOther(
  old: Content | undefined,
  now: Content,
  isNew: boolean,
  namespaceObject: KubeObject,
  { now: time, budget }: Circumstances,
): boolean {
  const isExpired = ({ expiresAt = Infinity }: RenderedContent): boolean => expiresAt <= time.getTime();
  const rendered = now.compiled.render(namespaceObject, budget);
  if (rendered.kind !== 'present' || isExpired(rendered.value)) return false;
  const before = old?.compiled.render(namespaceObject, budget);
  // After an error the older object stays as it was.
  const existed = before?.kind === 'error' || (before?.kind === 'present' && !isExpired(before.value));
  return isNew ? !existed : existed && !isDeepStrictEqual(before, rendered);
}
