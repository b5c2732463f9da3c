// Imports the work of a namespace RoleBinding operator: one RoleBinding for a group in each namespace, named after it.
// https://github.com/treacher/namespace-rolebinding-operator/blob/master/pkg/controller/controller.go
import { nameOf } from '../../base/metadata.ts';
import { boundSubjects, copiedMetadata, roleBindings, type Binding } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import { type ToolObject, distinct, Reader } from '../reader.ts';
import { limitToOthers } from '../provide.ts';
import { everywhere } from '../reach.ts';
import { literal, namespaceNameTemplate } from '../templates.ts';

const operator = 'namespace-rolebinding-operator';

export const rolebindingOperator: Importer = {
  groups: [],
  reads: { 'apps/v1': ['Deployment'], 'rbac.authorization.k8s.io/v1': ['RoleBinding'] },
  stop: `kubectl delete deployment ${operator} -n kube-system (in the namespace of its install)`,
  end: 'delete the ServiceAccount and the ClusterRole of the operator',
  read(run) {
    const deployments = run.others().filter(isOperator);
    if (run.options.fromBindings) guessFromBindings(run);
    else if (deployments.length > 0) provide(run, operator, defaultBinding, deployments);
    run.notes.add(
      'The operator creates a RoleBinding once, with the namespace. Reeve also restores it, and deletes it with the policy.',
    );
  },
};

const groupName = `ad-kubernetes-${namespaceNameTemplate}`;
const defaultBinding: Binding = {
  name: groupName,
  role: 'edit',
  subjects: [{ kind: 'Group', name: groupName }],
};

/** The operator has no kind of its own. */
function isOperator({ kind, object }: ToolObject): boolean {
  const containers = new Reader(object).at('spec', 'template', 'spec', 'containers').items();
  const images = containers.map((item) => item.at('image').text()?.split('/').at(-1)?.split(/[:@]/u)[0]);
  return kind === 'Deployment' && images.includes(operator);
}

function provide(run: ImportRun, name: string, binding: Binding, from: readonly ToolObject[]): void {
  const readers = from.map(({ reader }) => reader);
  for (const reader of readers.slice(0, 1)) limitToOthers(run, reader, [everywhere]);
  // The names are templates of ours.
  const contents = { roleBindings: roleBindings([binding], (value) => value) };
  run.provide('NamespacePolicy', name, { contents }, readers);
}

/** Forks use other names. Equal RoleBindings in two or more namespaces count as the work of an operator. */
function guessFromBindings(run: ImportRun): void {
  const bindings = run.others().map((each) => ({ each, form: formOf(each) }));
  for (const group of Map.groupBy(bindings, ({ form }) => JSON.stringify(form)).values()) {
    const form = group[0]?.form;
    const present = new Set(group.map(({ each }) => each.namespace));
    if (form === undefined || present.size < 2) continue;
    const name = form.name.replace(namespaceNameTemplate, '').replaceAll(/^[-.]+|[-.]+$/gu, '');
    const policy = name === '' ? operator : name;
    const from = group.map(({ each }) => each);
    provide(run, policy, { ...form, ...sharedMetadata(from) }, from);
    const others = run.namespaces.map(nameOf).filter((each) => !present.has(each));
    if (others.length > 0)
      run.notes.add(
        `${policy}: ${others.length} namespaces have no such RoleBinding today and get one, such as ${others[0] ?? ''}.`,
      );
  }
}

/** Returns the labels and annotations if all RoleBindings have the same ones. Otherwise they are lost. */
function sharedMetadata(bindings: readonly ToolObject[]): object {
  const all = bindings.map(({ reader, object }) => copiedMetadata({ from: reader, object }));
  const [first = {}, ...others] = distinct(all);
  if (others.length === 0) return first;
  for (const [index, { reader }] of bindings.entries())
    if (Object.keys(all[index] ?? {}).length > 0)
      reader.limit('labels and annotations that another RoleBinding of the operator does not have');
  return {};
}

/** Returns undefined if no part of the binding is named after its namespace. */
function formOf({ object, kind, name, namespace }: ToolObject): Binding | undefined {
  const reader = new Reader(object);
  const role = reader.at('roleRef', 'name').text();
  const subjects = boundSubjects(reader.at('subjects'));
  const isBound = kind === 'RoleBinding' && reader.at('roleRef', 'kind').text() === 'ClusterRole';
  if (!isBound || role === undefined || subjects.length === 0 || reader.lost().length > 0) return undefined;
  const form = {
    name: templated(name, namespace),
    role,
    subjects: subjects.map((each) => ({
      ...each,
      name: templated(each.name, namespace),
      ...(each.namespace && { namespace: templated(each.namespace, namespace) }),
    })),
  };
  return JSON.stringify(form).includes(namespaceNameTemplate) ? form : undefined;
}

/** Replaces the name of the namespace where it stands as a whole part. */
function templated(text: string, namespace: string): string {
  const at = text.indexOf(namespace);
  const [before, after] = [text.slice(0, Math.max(at, 0)), text.slice(at + namespace.length)];
  const isPart = namespace !== '' && at >= 0 && !/[a-z0-9]$/iu.test(before) && !/^[a-z0-9]/iu.test(after);
  if (!isPart) return String(literal(text));
  return `${String(literal(before))}${namespaceNameTemplate}${String(literal(after))}`;
}
