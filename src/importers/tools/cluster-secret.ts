// Imports ClusterSecrets of zakkg3's operator.
// https://github.com/zakkg3/ClusterSecret/blob/master/src/kubernetes_utils.py
import { copiedMetadata, type Copies } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import type { ToolObject, Reader } from '../reader.ts';
import { reachesOfNames } from '../listed-reach.ts';
import { namePattern } from '../name-patterns.ts';
import { provideShares, secretKeys, type ShareWish } from '../provide.ts';
import { everywhere, outsideOf, type NamespaceReach } from '../reach.ts';

export const clusterSecret: Importer = {
  groups: ['clustersecret.io'],
  reads: { v1: ['Secret'] },
  danger: 'never delete a ClusterSecret while its operator runs: the operator would delete all copies',
  stop: 'kubectl scale deployment -n clustersecret --all --replicas=0 (in the namespace of its install)',
  end: 'uninstall the operator',
  read(run) {
    for (const each of run.ofKind('ClusterSecret')) {
      readClusterSecret(run, each);
      run.deleteReplaced(each);
    }
  },
};

/** The operator leaves out these keys: https://github.com/zakkg3/ClusterSecret/blob/master/src/consts.py */
const copies: Copies = (field, key) =>
  !key.startsWith(field === 'labels' ? 'app.kubernetes.io' : 'kopf.zalando.org');

function readClusterSecret(run: ImportRun, each: ToolObject): void {
  const { reader, name } = each;
  const reaches = reachesOf(run, reader);
  const type = reader.at('type').text() ?? 'Opaque';
  const read = sourceOf(run, each, type);
  if (reaches === undefined || read === undefined) return;
  const target = { name, ...read.target, ...copiedMetadata({ from: reader, object: each.object, copies }) };
  provideShares(run, { from: reader, name, source: read.source, reaches, target });
}

/**
 * Reads both lists. Their expressions match the start of a name, as Python's re.match does.
 * Returns undefined if a share would reach a namespace that must be avoided.
 */
function reachesOf(run: ImportRun, reader: Reader): readonly NamespaceReach[] | undefined {
  const [wanted, avoided] = [reader.at('matchNamespace'), reader.at('avoidNamespaces')];
  const expressions = wanted.texts();
  const unread = (avoided.texts() ?? [])
    .map((text) => namePattern(text, 'start'))
    .find((each) => each.kind === 'invalid');
  if (unread !== undefined) {
    reader.lose(
      `Reeve cannot read avoidNamespaces, so a share would reach namespaces to avoid: ${unread.why}`,
    );
    return undefined;
  }
  const outside = reachesOfNames(run, avoided, avoided.texts() ?? [], 'start');
  const reaches = expressions ? reachesOfNames(run, wanted, expressions, 'start') : [everywhere];
  if (expressions && reaches.some(({ names = [] }) => names.some((glob) => glob.endsWith('*'))))
    run.notes.add(
      'ClusterSecret compares its expressions with the start of a name only: a, a-* and a.* all match every name that begins with them, so the globs end in *.',
    );
  return reaches.flatMap((reach) => outsideOf(reach, outside) ?? []);
}

/** The operator, too, refuses valueFrom beside other keys. */
function sourceOf(
  run: ImportRun,
  { reader, name: ownName }: ToolObject,
  type: string,
): { readonly source: ShareWish['source']; readonly target: object } | undefined {
  const data = reader.at('data');
  const remote = data.at('valueFrom', 'secretKeyRef');
  const keys = data.entries().map(([key]) => key);
  if (!data.isPresent) {
    reader.limit('the operator refuses it, too: it has no data');
    return undefined;
  }
  if (!keys.includes('valueFrom')) {
    data.skip();
    return { source: { namespace: '', name: ownName, inline: { keys, type } }, target: {} };
  }
  const [namespace, name] = remote.textsAt('namespace', 'name');
  if (keys.length > 1 || namespace === undefined || name === undefined) {
    data.lose('the operator refuses this data, too: it is neither a whole valueFrom nor plain keys');
    return undefined;
  }
  return { source: { namespace, name }, target: { type, ...mappingOf(run, remote) } };
}

/** A share copies nothing while one of its keys is missing. The operator copies the others. */
function mappingOf(run: ImportRun, remote: Reader): object {
  const [namespace = '', name = ''] = remote.textsAt('namespace', 'name');
  const wanted = remote.at('keys').texts();
  if (wanted === undefined) return {};
  const stored = secretKeys(run.source(namespace, name)) ?? wanted;
  const missing = wanted.filter((key) => !stored.includes(key));
  if (missing.length > 0)
    remote
      .at('keys')
      .limit(
        `a share copies nothing while a key is missing in Secret ${namespace}/${name}, so it leaves out: ${missing.join(', ')}`,
      );
  return { keys: wanted.filter((key) => stored.includes(key)).map((key) => ({ from: key, to: key })) };
}
