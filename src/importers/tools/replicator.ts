// Imports the annotations of mittwald's kubernetes-replicator: objects that are pushed into namespaces or pulled from one.
// https://github.com/mittwald/kubernetes-replicator/blob/master/replicate/common/consts.go
import { provideCopy, providePulled } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import type { ToolObject } from '../tool-object.ts';
import { reachesOfNames, reachesOfSelector } from '../listed-reach.ts';
import type { NamespaceReach } from '../reach.ts';
import type { Reader } from '../reader.ts';

const prefix = 'replicator.v1.mittwald.de/';

export const replicator: Importer = {
  groups: [],
  reads: {
    v1: ['Secret', 'ConfigMap', 'ServiceAccount'],
    'rbac.authorization.k8s.io/v1': ['Role', 'RoleBinding'],
  },
  annotations: prefix,
  // Reeve never copies labels, so that it strips them, too.
  marks: ['replicated-at', 'replicated-from-version', 'replicated-keys', 'strip-labels'],
  stop: 'kubectl scale deployment kubernetes-replicator -n kube-system --replicas=0 (in the namespace of its install)',
  end: 'uninstall kubernetes-replicator, and remove its annotations from the sources',
  read(run) {
    for (const each of run.annotated()) readObject(run, each);
  },
};

function field({ reader }: ToolObject, key: string): Reader {
  return reader.at('metadata', 'annotations', `${prefix}${key}`);
}

function readObject(run: ImportRun, each: ToolObject): void {
  const owners = field(each, 'keep-owner-references');
  if (owners.flag() === true) owners.lose('Reeve sets no owners on copies');
  permittedBy(run, each);
  const [names, selector] = [field(each, 'replicate-to'), field(each, 'replicate-to-matching')];
  const origin = field(each, 'replicate-from');
  if (origin.isPresent) {
    // https://github.com/mittwald/kubernetes-replicator#pull-based-replication
    providePulled(run, each, origin, (source) => permittedBy(run, source), isMark);
    for (const push of [names, selector])
      push.lose('the replicator ignores this annotation beside replicate-from');
    return;
  }
  const reaches = [
    ...reachesOfNames(run, names, names.words() ?? [], 'strict'),
    ...reachesOfSelector(selector),
  ];
  if (reaches.length > 0) provideCopy(run, { from: each.reader, source: each, reaches, isMark });
}

function permittedBy(run: ImportRun, source: ToolObject): readonly NamespaceReach[] {
  const names = field(source, 'replication-allowed-namespaces');
  const expressions = names.words() ?? [];
  const isAllowed = field(source, 'replication-allowed').flag() === true;
  return isAllowed ? reachesOfNames(run, names, expressions, 'strict') : [];
}

/** The annotations of the source that are the replicator's own. */
function isMark(key: string): boolean {
  return key.startsWith(prefix);
}
