// Writes objects of older tools as contents of policies.
import type { createOnce } from '../contents/create-once.ts';
import { isOurKey } from '../schema/names.ts';
import { isReservedSubject } from '../base/kubernetes-names.ts';
import { ownAccounts } from '../contents/role-bindings.ts';
import { type KubeObject, type StringMap, annotationsOf, labelsOf, nameOf } from '../base/metadata.ts';
import { isJsonObject, ownMember } from '../base/json.ts';
import { renderPath } from '../base/problem.ts';
import type { ImportRun } from './import-run.ts';
import { apiGroupOf, type ToolObject, originOf, distinct, filled, Reader } from './reader.ts';
import { providePolicies, provideShares, secretKeys, without } from './provide.ts';
import { isIn, type NamespaceReach } from './reach.ts';
import { literal, noTemplates, type TemplateWriter } from './templates.ts';
import type { MovedSecret, SourceObject } from './importer.ts';

export interface BoundSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface Binding {
  readonly name: string;
  /** A ClusterRole. */
  readonly role: string;
  readonly subjects: readonly BoundSubject[];
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
}

/** Reads the subjects of RBAC. Subjects that Reeve refuses are reported as lost. */
export function boundSubjects(
  list: Reader,
  write: TemplateWriter['write'] = literal,
): readonly BoundSubject[] {
  return list.items().flatMap((item) => {
    const [kind, name, namespace] = item.textsAt('kind', 'name', 'namespace');
    // The API server fills in the only group that each kind can have.
    item.at('apiGroup').skip();
    if (kind === undefined || name === undefined) return incomplete(item);
    if (!isReservedSubject({ kind, name }) || (kind === 'Group' && write(name) === ownAccounts))
      return [{ kind, name, ...(kind === 'ServiceAccount' && filled({ namespace })) }];
    item.lose('Reeve binds no users and groups of system:, which Kubernetes reserves');
    return [];
  });
}

/** Reports a subject that lacks kind or name. A value that is no object is reported as unread. */
export function incomplete(subject: Reader): [] {
  if (subject.at('kind').isPresent || subject.at('name').isPresent) subject.lose('it has no kind or no name');
  return [];
}

/** A binding without subjects gives nothing. */
export function roleBindings(
  bindings: readonly Binding[],
  write: TemplateWriter['write'] = literal,
): readonly unknown[] {
  const bound = bindings.filter(({ subjects }) => subjects.length > 0);
  return distinct(
    bound.map(({ name, role, subjects, labels, annotations }) => ({
      name: write(name),
      ...filled({ labels: labels && write(labels), annotations: annotations && write(annotations) }),
      roleRef: { kind: 'ClusterRole', name: role },
      subjects: distinct(subjects).map(write),
    })),
  );
}

/** Returns true for a label or annotation that the tool copies. Default: all of them. */
export type Copies = (field: 'labels' | 'annotations', key: string) => boolean;

interface Contents {
  readonly reaches: readonly NamespaceReach[];
  readonly copies?: Copies;
  readonly common?: object;
  /** Set if the tool does not keep the objects. */
  readonly mode?: typeof createOnce;
}

interface ObjectWish extends Contents {
  readonly from: Reader;
  readonly object: KubeObject;
  readonly policy: string;
  readonly writer?: TemplateWriter;
  /** CEL for a list: the object stands once for each item. */
  readonly forEach?: string;
}

/** Returns false if no policy can have the object, which is lost then. */
export function provideObject(run: ImportRun, wish: ObjectWish): boolean {
  const { from, policy: name, reaches, writer = noTemplates, common } = wish;
  const { forEach, mode } = wish;
  const contents = withFields(contentsOf(wish, writer), filled({ forEach, mode }));
  const isSayable = contents !== undefined && !writer.hasUnknown();
  if (isSayable) providePolicies(run, { from, name, reaches, spec: { contents }, ...filled({ common }) });
  else if (contents !== undefined)
    from.lose('its templates read more than the name, labels and annotations of the Namespace');
  return isSayable;
}

type WrittenContents = Readonly<Record<string, readonly unknown[]>>;

function withFields(contents: WrittenContents | undefined, fields: object): WrittenContents | undefined {
  if (contents === undefined) return contents;
  const each = (entry: unknown): unknown => (isJsonObject(entry) ? { ...entry, ...fields } : entry);
  return Object.fromEntries(Object.entries(contents).map(([kind, list]) => [kind, list.map(each)]));
}

function contentsOf(wish: ObjectWish, { write }: TemplateWriter): WrittenContents | undefined {
  const { from, object } = wish;
  const { apiVersion, kind, metadata: _metadata, status: _status, ...fields } = object;
  const metadata = {
    labels: copiedKeys(wish, 'labels'),
    annotations: copiedKeys(wish, 'annotations'),
  };
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof object.metadata.name !== 'string')
    from.lose('it has no apiVersion, kind or name');
  else if (kind === 'Secret')
    from.lose('Reeve prints no Secrets', 'create the Secret in a shared namespace, and share it');
  else if (apiGroupOf(object) === 'rbac.authorization.k8s.io')
    return boundRole(from, new Reader({ kind, ...fields, metadata }), nameOf(object), write);
  else {
    const kept = Object.entries(fields).filter(([key]) => writtenByOthers[kind]?.includes(key) !== true);
    const named = filled({ name: nameOf(object), ...metadata });
    const written = write({ metadata: named, ...Object.fromEntries(kept) });
    return { resources: [{ apiVersion, kind, ...(isJsonObject(written) ? written : {}) }] };
  }
  return undefined;
}

/** The fields of some kinds that controllers write. */
const writtenByOthers: Readonly<Record<string, readonly string[]>> = { ServiceAccount: ['secrets'] };

/** kubectl writes the whole object into an annotation, which says nothing new. */
const ofKubectl = 'kubectl.kubernetes.io/';

interface Copied extends Pick<Contents, 'copies'> {
  readonly from: Reader;
  readonly object: KubeObject;
}

function copiedKeys({ from, object, copies }: Copied, field: Parameters<Copies>[0]): StringMap {
  const all = Object.entries(field === 'labels' ? labelsOf(object) : annotationsOf(object));
  const copied = all.filter(([key]) => !key.startsWith(ofKubectl) && copies?.(field, key) !== false);
  const lost = copied.filter(([key]) => isOurKey(key)).map(([key]) => key);
  if (lost.length > 0) from.limit(`${field} that say who manages an object: ${lost.join(', ')}`);
  return Object.fromEntries(copied.filter(([key]) => !isOurKey(key)));
}

/** The labels and annotations that a share sets on its copies. */
export function copiedMetadata(wish: Copied): object {
  const [labels, annotations] = [copiedKeys(wish, 'labels'), copiedKeys(wish, 'annotations')];
  return filled({ labels, annotations: literal(annotations) });
}

function boundRole(
  from: Reader,
  object: Reader,
  name: string,
  write: TemplateWriter['write'],
): WrittenContents | undefined {
  const roleRef = object.at('roleRef');
  // RBAC has one group.
  roleRef.at('apiGroup').skip();
  const [kind, roleKind] = [object.at('kind').text(), roleRef.at('kind').text()];
  const role = roleRef.at('name').text();
  const subjects = boundSubjects(object.at('subjects'), write);
  const metadata = object.at('metadata');
  const labels = metadata.at('labels').textMap();
  const annotations = metadata.at('annotations').textMap();
  const [lost] = object.lost();
  const left = object.unread().map(renderPath);
  if (kind !== 'RoleBinding' || roleKind !== 'ClusterRole' || role === undefined)
    from.lose(
      'Reeve provides no Roles and binds ClusterRoles only',
      'make a ClusterRole with the same rules',
    );
  else if (lost !== undefined || subjects.length === 0)
    from.lose(lost?.why ?? 'a RoleBinding without subjects');
  else {
    if (left.length > 0) from.limit(`RoleBindings of a policy have no ${left.join(', ')}`);
    return { roleBindings: roleBindings([{ name, role, subjects, labels, annotations }], write) };
  }
  return undefined;
}

interface CopyWish extends Contents {
  readonly from: Reader;
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string };
  /** Default: the name of the source. */
  readonly name?: string;
  /** The name of the shares or policies. Default: the name of the copies. */
  readonly provider?: string;
  /** The only copy. The tool replaces its data, and keeps its type and role. */
  readonly copy?: ToolObject;
}

/** Provides an object that the tool keeps equal to its source. */
export function provideCopy(run: ImportRun, wish: CopyWish): void {
  const { from, source } = wish;
  const object = run.find(source.kind, source.namespace, source.name);
  if (source.kind === 'Secret') provideShare(run, wish, object);
  else if (object === undefined)
    from.lose(`${source.kind}/${source.namespace}/${source.name} is not in the input`);
  else providePolicy(run, wish, object);
}

/** Provides a copy whose name may be a template of the tool. Only a share has templates of names. */
export function provideClone(
  run: ImportRun,
  wish: CopyWish & { readonly name: string },
  { write, hasUnknown }: TemplateWriter,
): void {
  const { from, source, name } = wish;
  const written = source.kind === 'Secret' ? String(write(name)) : name;
  if (hasUnknown() || JSON.stringify([source, written]).includes('{{'))
    from.lose('Reeve copies objects by name only');
  else provideCopy(run, { ...wish, name: written });
}

function provideShare(run: ImportRun, wish: CopyWish, object: KubeObject | undefined): void {
  const { from, source, reaches, name = source.name, provider = name, copy, copies } = wish;
  const common = { ...wish.common, ...filled({ mode: wish.mode }) };
  const stored = copy && run.source(copy.namespace, copy.name);
  const type = stored?.['type'];
  const sourceKeys = secretKeys(object);
  const own = sourceKeys && secretKeys(stored)?.filter((key) => !sourceKeys.includes(key));
  if (own !== undefined && own.length > 0)
    from.limit(`a share removes keys that only the copy has: ${own.join(', ')}`);
  const look = object && copiedMetadata({ from, object, ...filled({ copies }) });
  const target = { name, ...look, ...(type !== object?.['type'] && filled({ type })) };
  provideShares(run, { from, name: provider, source, target, reaches, common });
}

function providePolicy(run: ImportRun, wish: CopyWish, object: KubeObject): void {
  const { from, source, reaches, name = source.name, provider = name, copy } = wish;
  const { roleRef } = copy?.object ?? object;
  const renamed = { ...object, ...filled({ roleRef }), metadata: { ...object.metadata, name } };
  // An object of the same name in the namespace of the source would be a conflict.
  const outside = name === source.name ? reaches.map((reach) => without(reach, source.namespace)) : reaches;
  if (provideObject(run, { ...wish, object: renamed, policy: provider, reaches: outside }))
    from.limit(
      `the policy has ${source.kind}/${source.namespace}/${source.name} as it is today; later changes of it are not followed`,
      'make later changes in the policy',
    );
}

/** Copies the data of an object to the place that this object names, if the source permits the copy. */
export function providePulled(
  run: ImportRun,
  copy: ToolObject,
  reference: Reader,
  permits: (source: ToolObject) => readonly NamespaceReach[],
): void {
  const [namespace = '', name = ''] = (reference.text() ?? '').split('/');
  const isSource = (each: ToolObject): boolean =>
    each.kind === copy.kind && each.namespace === namespace && each.name === name;
  const source = run.annotated().find(isSource);
  const here = run.namespace(copy.namespace);
  if (source === undefined)
    reference.lose(
      `${copy.kind} ${namespace}/${name} is not in the input, or has no annotation that allows copies`,
    );
  else if (!permits(source).some((reach) => isIn(reach, here)))
    reference.lose(`${source.id} does not allow copies in ${copy.namespace}`);
  else
    provideCopy(run, {
      from: copy.reader,
      source,
      name: copy.name,
      reaches: [{ names: [copy.namespace] }],
      copy,
      copies: () => false,
    });
}

// Writes the Secrets that move to a shared namespace, from the data of the input.

/** Leaves out a Secret whose data is not in the input. */
export function movedSecrets(
  moved: readonly MovedSecret[],
  input: readonly SourceObject[],
): readonly KubeObject[] {
  return moved.flatMap(({ namespace, name, type, from }) => {
    const found = input.find(
      ({ object }) => JSON.stringify(originOf(object)) === JSON.stringify(from),
    )?.object;
    // MultiSecrets have their data in the spec, other kinds at the top.
    const [data, stringData] = ['data', 'stringData'].map(
      (field) => ownMember(found, field) ?? ownMember(ownMember(found, 'spec'), field),
    );
    if ((data ?? stringData) === undefined) return [];
    const metadata = { namespace, name };
    return [{ apiVersion: 'v1', kind: 'Secret', metadata, type, ...filled({ data, stringData }) }];
  });
}
