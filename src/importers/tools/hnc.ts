// Imports objects that the Hierarchical Namespace Controller propagates from a namespace to those below it.
// https://github.com/kubernetes-sigs/hierarchical-namespaces/blob/master/internal/selectors/selectors.go
import { parseSelectorText, type LabelRequirement } from '../../schema/selector.ts';
import { type KubeObject, annotationsOf, labelsOf, nameOf } from '../../base/metadata.ts';
import { guessedPlural } from '../../base/text.ts';
import { provideCopy, type Copies } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import { apiGroupOf, type ToolObject } from '../reader.ts';
import { selectedBy } from '../reach.ts';

const depthSuffix = '.tree.hnc.x-k8s.io/depth';
const rbacGroup = 'rbac.authorization.k8s.io';
const inherited = 'hnc.x-k8s.io/inherited-from';

export const hnc: Importer = {
  groups: ['hnc.x-k8s.io'],
  reads: {
    v1: ['Secret', 'ConfigMap', 'ResourceQuota', 'LimitRange', 'ServiceAccount'],
    [`${rbacGroup}/v1`]: ['Role', 'RoleBinding'],
    'networking.k8s.io/v1': ['NetworkPolicy'],
  },
  annotations: 'propagate.hnc.x-k8s.io/',
  fields: {
    HierarchyConfiguration: [
      ['spec labels', 'Reeve has no labels for a tree', 'set them as namespaces.defaults.labels of a policy'],
      [
        'spec annotations',
        'Reeve has no annotations for a tree',
        'set them as namespaces.defaults.annotations',
      ],
      ['spec allowCascadingDeletion', 'Reeve deletes no namespaces'],
    ],
    SubnamespaceAnchor: [
      [
        '',
        'Reeve creates no namespaces',
        'create the Namespace, with its labels, annotations and tree labels',
      ],
    ],
    HierarchicalResourceQuota: [
      ['', 'Reeve has no quota over several namespaces', 'give each namespace a ResourceQuota in contents'],
    ],
  },
  danger:
    'never delete a SubnamespaceAnchor while the controller runs: the controller would delete its namespace',
  stop: 'kubectl scale deployment hnc-controller-manager -n hnc-system --replicas=0, and delete ValidatingWebhookConfiguration hnc-validating-webhook-configuration, which refuses changes of copies',
  end: `keep the labels *${depthSuffix} on Namespaces: the selectors use them, and without HNC a person sets them on new namespaces`,
  read(run) {
    const [parents, modes] = [parentsOf(run), modesOf(run)];
    const [copies, originals] = [run.others().filter(isCopy), run.others().filter((each) => !isCopy(each))];
    const sources = originals.filter(({ namespace }) => parents.has(namespace));
    for (const each of sources) readSource(run, each, modes);
    for (const { reader } of copies) reader.skip();
    if (sources.length > 0)
      run.notes.add(
        'Who may set a tree label on a Namespace decides what the namespace gets: Reeve asks for the right "use" on the policy or share.',
      );
  },
};

function isCopy({ object }: ToolObject): boolean {
  return Object.hasOwn(labelsOf(object), inherited);
}

/** Returns the namespaces that have namespaces below them. */
function parentsOf(run: ImportRun): ReadonlySet<string> {
  const configured = run
    .ofKind('HierarchyConfiguration')
    .map(({ reader }) => reader.at('spec', 'parent').text());
  const anchored = run.ofKind('SubnamespaceAnchor').map(({ namespace }) => namespace);
  const labeled = run.namespaces.flatMap((namespace) =>
    Object.keys(labelsOf(namespace))
      .filter((key) => key.endsWith(depthSuffix) && key !== `${nameOf(namespace)}${depthSuffix}`)
      .map((key) => key.slice(0, -depthSuffix.length)),
  );
  return new Set([...configured.flatMap((parent) => parent ?? []), ...anchored, ...labeled]);
}

/** The mode of each resource, by group and resource. Roles and RoleBindings always propagate. */
function modesOf(run: ImportRun): ReadonlyMap<string, string> {
  const modes = new Map(
    ['roles', 'rolebindings'].map((resource) => [`${rbacGroup}/${resource}`, 'Propagate']),
  );
  const items = run
    .ofKind('HNCConfiguration')
    .flatMap(({ reader }) => reader.at('spec', 'resources').items());
  const listed = Object.entries(hnc.reads).flatMap(([apiVersion, kinds]) =>
    kinds.map((kind) => resourceOf({ kind, object: { apiVersion } })),
  );
  const read = new Set([...listed, ...run.others().map(resourceOf)]);
  for (const item of items) {
    const mode = item.at('mode').text() ?? 'Propagate';
    const resource = groupResource(item.at('group').text() ?? '', item.at('resource').text() ?? '', read);
    // The first entry counts. HNC itself propagates Roles and RoleBindings.
    if (!modes.has(resource)) modes.set(resource, mode);
    if (mode === 'Remove') item.lose('Reeve deletes no objects of others');
    else if (mode !== 'Ignore' && !read.has(resource))
      item.lose('the import reads no such objects from a cluster', 'give them with -f');
  }
  return modes;
}

/** Without a group, HNC uses the resource of this name in any group. */
function groupResource(group: string, resource: string, known: ReadonlySet<string>): string {
  const [named, suffix] = [`${group}/${resource}`, `/${resource}`];
  if (group !== '' || known.has(named)) return named;
  return [...known].find((each) => each.endsWith(suffix)) ?? named;
}

const copies: Copies = (_field, key) => !key.includes('hnc.x-k8s.io/');

function readSource(run: ImportRun, source: ToolObject, modes: ReadonlyMap<string, string>): void {
  const { namespace, name, reader: from } = source;
  const requirements = requirementsOf(source, modes.get(resourceOf(source)));
  if (requirements === undefined) {
    // HNC does not propagate the object, so these annotations have no effect.
    for (const key of ['select', 'treeSelect', 'none', 'all']) source.annotation(key).skip();
    return;
  }
  const below: LabelRequirement = { key: `${namespace}${depthSuffix}`, operator: 'Exists' };
  const reaches = [{ ...selectedBy([below, ...requirements]), excludeNames: [namespace] }];
  provideCopy(run, { from, source, reaches, provider: `${namespace}-${name}`, copies });
}

function resourceOf({ kind, object }: { kind: string; object: Pick<KubeObject, 'apiVersion'> }): string {
  return `${apiGroupOf(object)}/${guessedPlural(kind)}`;
}

/** Returns undefined if HNC does not propagate the object. All given selectors must match. */
function requirementsOf(
  source: ToolObject,
  mode: string | undefined,
): readonly LabelRequirement[] | undefined {
  const [select, none] = [source.annotation('select'), source.annotation('none')];
  const [text, tree] = [select.text() ?? '', source.annotation('treeSelect').text() ?? ''];
  const isAllowed = text !== '' || tree !== '' || source.annotation('all').flag() === true;
  const isChosen = mode === 'Propagate' || (mode === 'AllowPropagate' && isAllowed);
  // HNC does not propagate an object whose annotation it cannot read.
  const isNone = none.isPresent && none.flag() !== false;
  if (isNone || !isChosen || isExcluded(source)) return undefined;
  const requirements = parseSelectorText(text);
  if (typeof requirements !== 'string') return [...requirements, ...treeRequirements(tree)];
  select.lose('a selector that Reeve cannot read');
  return undefined;
}

/** `child` or `!child2, !child3` */
function treeRequirements(text: string): readonly LabelRequirement[] {
  const parts = text.split(',').map((each) => each.trim());
  const trees = parts.filter((part) => part !== '');
  return trees.map((part) => ({
    key: `${part.replace(/^!/u, '')}${depthSuffix}`,
    operator: part.startsWith('!') ? 'DoesNotExist' : 'Exists',
  }));
}

/** Returns true for objects that HNC never propagates. */
function isExcluded({ kind, name, object }: ToolObject): boolean {
  if (kind === 'Secret') return object['type'] === 'helm.sh/release.v1';
  if (kind === 'ConfigMap') return name === 'istio-ca-root-cert' || name === 'kube-root-ca.crt';
  return Object.hasOwn(annotationsOf(object), 'openshift.io/description');
}
