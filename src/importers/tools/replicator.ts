// Imports the annotations of mittwald's kubernetes-replicator: objects that are pushed into namespaces or pulled from one.
// https://github.com/mittwald/kubernetes-replicator/blob/master/replicate/common/consts.go
import { provideCopy, providePulled, type Copies } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import type { ToolObject } from '../reader.ts';
import { reachesOfNames, reachesOfSelector } from '../listed-reach.ts';
import { everywhere, type NamespaceReach } from '../reach.ts';

export const replicator: Importer = {
  groups: [],
  reads: {
    v1: ['Secret', 'ConfigMap', 'ServiceAccount'],
    'rbac.authorization.k8s.io/v1': ['Role', 'RoleBinding'],
  },
  annotations: 'replicator.v1.mittwald.de/',
  marks: ['replicated-at', 'replicated-from-version', 'replicated-keys'],
  stop: 'kubectl scale deployment kubernetes-replicator -n kube-system --replicas=0 (in the namespace of its install)',
  end: 'uninstall kubernetes-replicator, and remove its annotations from the sources',
  read(run) {
    for (const each of run.annotated()) readObject(run, each);
    if (run.size > 0)
      run.notes.add(
        'The import does not see the arguments of the replicator: with --exclude-namespaces, add these names to excludeNames, because Reeve would copy there; with --allow-all, sources need no permission, and copies without one are listed as lost.',
      );
  },
};

function readObject(run: ImportRun, each: ToolObject): void {
  const owners = each.annotation('keep-owner-references');
  if (owners.flag() === true) owners.lose('Reeve sets no owners on copies');
  permittedBy(run, each);
  const [names, selector] = [each.annotation('replicate-to'), each.annotation('replicate-to-matching')];
  const [origin, stripped] = [each.annotation('replicate-from'), each.annotation('strip-labels')];
  if (origin.isPresent) {
    // https://github.com/mittwald/kubernetes-replicator#pull-based-replication
    providePulled(run, each, origin, (source) => permittedBy(run, source));
    for (const push of [names, selector, stripped])
      push.lose('the replicator ignores this annotation beside replicate-from');
    return;
  }
  const reaches = [
    ...reachesOfNames(run, names, names.words() ?? [], 'strict'),
    // The replicator takes an empty selector, which matches every namespace.
    ...(selector.text()?.trim() === '' ? [everywhere] : reachesOfSelector(selector)),
  ];
  // The annotation strips labels, whatever its value is. Annotations are never copied.
  const copies: Copies = (part) => part === 'labels' && !stripped.isPresent;
  stripped.skip();
  if (reaches.length > 0) provideCopy(run, { from: each.reader, source: each, reaches, copies });
}

function permittedBy(run: ImportRun, source: ToolObject): readonly NamespaceReach[] {
  const names = source.annotation('replication-allowed-namespaces');
  const expressions = names.words() ?? [];
  const isAllowed = source.annotation('replication-allowed').flag() === true;
  return isAllowed ? reachesOfNames(run, names, expressions, 'strict') : [];
}
