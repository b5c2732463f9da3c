// Imports objects that the Hierarchical Namespace Controller propagates from a namespace to those below it.
// https://github.com/kubernetes-sigs/hierarchical-namespaces/blob/master/internal/selectors/selectors.go
import type { LabelRequirement } from '../../api/intents/joined-selector.ts';
import { parseSelectorText } from '../../api/selector-text.ts';
import { annotationsOf, labelsOf, nameOf } from '../../base/metadata.ts';
import { provideCopy } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import { apiGroupOf, type ToolObject } from '../tool-object.ts';
import { selectedBy } from '../reach.ts';
import type { Reader } from '../reader.ts';

const prefix = 'propagate.hnc.x-k8s.io/';
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
  annotations: prefix,
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
      ['spec labels', 'Reeve creates no namespaces', 'label the Namespace itself'],
      ['spec annotations', 'Reeve creates no namespaces', 'annotate the Namespace itself'],
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
      run.note(
        'Who may set a tree label on a Namespace decides what the namespace gets: Reeve asks for the right "use" on the policy or share.',
      );
  },
};

function isMark(key: string): boolean {
  return key.includes('hnc.x-k8s.io/');
}

function isCopy({ object }: ToolObject): boolean {
  return Object.hasOwn(labelsOf(object), inherited);
}

/** Namespaces with others below them. */
function parentsOf(run: ImportRun): ReadonlySet<string> {
  const configured = run
    .ofKind('HierarchyConfiguration')
    .map(({ reader }) => reader.at('spec', 'parent').text());
  const labeled = run.namespaces.flatMap((namespace) =>
    Object.keys(labelsOf(namespace))
      .filter((key) => key.endsWith(depthSuffix) && key !== `${nameOf(namespace)}${depthSuffix}`)
      .map((key) => key.slice(0, -depthSuffix.length)),
  );
  return new Set([...configured.flatMap((parent) => parent ?? []), ...labeled]);
}

/** By group and resource. Roles and RoleBindings always propagate. */
function modesOf(run: ImportRun): ReadonlyMap<string, string> {
  const modes = new Map(
    ['roles', 'rolebindings'].map((resource) => [`${rbacGroup}/${resource}`, 'Propagate']),
  );
  const items = run
    .ofKind('HNCConfiguration')
    .flatMap(({ reader }) => reader.at('spec', 'resources').items());
  for (const item of items) {
    const mode = item.at('mode').text() ?? 'Propagate';
    modes.set(`${item.at('group').text() ?? ''}/${item.at('resource').text() ?? ''}`, mode);
    if (mode === 'Remove') item.lose('Reeve deletes no objects of others');
  }
  return modes;
}

function readSource(run: ImportRun, source: ToolObject, modes: ReadonlyMap<string, string>): void {
  const { namespace, name, object, reader: from } = source;
  const requirements = requirementsOf(
    source,
    modes.get(`${apiGroupOf(object)}/${resourceName(source.kind)}`),
  );
  if (requirements === undefined) {
    // HNC does not propagate the object, so its other annotations have no effect.
    from.at('metadata').skip();
    return;
  }
  const below: LabelRequirement = { key: `${namespace}${depthSuffix}`, operator: 'Exists' };
  const reaches = [{ ...selectedBy([below, ...requirements]), excludeNames: [namespace] }];
  provideCopy(run, { from, source, reaches, provider: `${namespace}-${name}`, isMark });
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#standard-api-terminology: resources are plural, small words */
function resourceName(kind: string): string {
  const word = kind.toLowerCase();
  if (word.endsWith('y')) return `${word.slice(0, -1)}ies`;
  return word.endsWith('s') ? `${word}es` : `${word}s`;
}

/** Undefined if HNC does not propagate the object. All given selectors must match. */
function requirementsOf(
  source: ToolObject,
  mode: string | undefined,
): readonly LabelRequirement[] | undefined {
  const field = (key: string): Reader => source.reader.at('metadata', 'annotations', `${prefix}${key}`);
  const [text, tree] = [field('select').text() ?? '', field('treeSelect').text() ?? ''];
  const [none, all] = [field('none').flag() === true, field('all').flag() === true];
  const isChosen = mode === 'Propagate' || (mode === 'AllowPropagate' && (text !== '' || tree !== '' || all));
  if (none || !isChosen || isExcluded(source)) return undefined;
  const requirements = parseSelectorText(text);
  if (typeof requirements !== 'string') return [...requirements, ...treeRequirements(tree)];
  field('select').lose('a selector that Reeve cannot read');
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

/** Objects that HNC never propagates. */
function isExcluded({ kind, name, object }: ToolObject): boolean {
  if (kind === 'Secret') return object['type'] === 'helm.sh/release.v1';
  if (kind === 'ConfigMap') return name === 'istio-ca-root-cert' || name === 'kube-root-ca.crt';
  return Object.hasOwn(annotationsOf(object), 'openshift.io/description');
}
