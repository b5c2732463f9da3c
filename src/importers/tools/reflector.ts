// Imports the annotations of emberstack's reflector on Secrets and ConfigMaps, and its mirrors.
// https://github.com/emberstack/kubernetes-reflector/blob/main/src/ES.Kubernetes.Reflector/Mirroring/Core/Annotations.cs
import { provideCopy, providePulled } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import type { ToolObject } from '../reader.ts';
import { reachesInBoth, reachesOfNames, reachesOfSelector } from '../listed-reach.ts';
import { everywhere, type NamespaceReach } from '../reach.ts';

export const reflector: Importer = {
  groups: [],
  reads: { v1: ['Secret', 'ConfigMap'] },
  annotations: 'reflector.v1.k8s.emberstack.com/',
  marks: ['reflected-version', 'reflected-at'],
  stop: 'kubectl scale deployment reflector -n kube-system --replicas=0 (in the namespace of its install)',
  end: 'uninstall reflector, and remove its annotations from the sources',
  read(run) {
    const objects = run.annotated().filter(({ kind }) => kind === 'Secret' || kind === 'ConfigMap');
    for (const each of objects) {
      if (each.annotation('reflects').isPresent) readMirror(run, each);
      else readSource(run, each);
    }
    if (objects.length > 0)
      run.notes.add(
        'cert-manager sets these annotations through secretTemplate of a Certificate and the annotation cert-manager.io/secret-template of an Ingress: remove them there.',
      );
  },
};

function readSource(run: ImportRun, source: ToolObject): void {
  const permitted = permittedBy(run, source);
  const isAuto = source.annotation('reflection-auto-enabled').flag() === true;
  if (permitted.length > 0 && isAuto) {
    const reaches = reachesInBoth(permitted, reachesOf(run, source, 'reflection-auto-namespaces'));
    // reflector copies no labels: https://github.com/emberstack/kubernetes-reflector#3-done
    provideCopy(run, { from: source.reader, source, reaches, copies: () => false });
  }
  // Without automatic mirrors, these fields only permit mirrors. Mirrors are read one by one.
  for (const key of ['reflection-auto-namespaces', 'reflection-auto-namespaces-selector'])
    source.annotation(key).skip();
}

/** Creates a copy only where the source permits one: https://github.com/emberstack/kubernetes-reflector#usage */
function readMirror(run: ImportRun, mirror: ToolObject): void {
  const reference = mirror.annotation('reflects');
  const isAutomatic = mirror.annotation('auto-reflects').flag() === true;
  const isOf = ({ kind, namespace, name }: ToolObject): boolean =>
    kind === mirror.kind && `${namespace}/${name}` === reference.text();
  // The share or policy of the source replaces an automatic mirror.
  if (!isAutomatic || !run.annotated().some(isOf))
    providePulled(run, mirror, reference, (source) => permittedBy(run, source));
}

function permittedBy(run: ImportRun, source: ToolObject): readonly NamespaceReach[] {
  const isAllowed = source.annotation('reflection-allowed').flag() === true;
  return isAllowed ? reachesOf(run, source, 'reflection-allowed-namespaces') : [];
}

/** Reads names or labels. Without either, the reach is every namespace. */
function reachesOf(run: ImportRun, source: ToolObject, key: string): readonly NamespaceReach[] {
  const [names, selector] = [source.annotation(key), source.annotation(`${key}-selector`)];
  const expressions = names.words() ?? [];
  const isOpen = expressions.length === 0 && (selector.text() ?? '').trim() === '';
  return isOpen
    ? [everywhere]
    : [...reachesOfNames(run, names, expressions, 'whole'), ...reachesOfSelector(selector)];
}
