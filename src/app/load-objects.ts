// Creates on a cluster what files say, in the order of the files.
import { isJsonObject } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject } from '../base/metadata.ts';
import { renderFileProblem } from '../state/file-problem.ts';
import { isForTools, ownProblems } from '../state/definitions.ts';
import { readYamlFiles } from '../state/yaml-files.ts';
import { readObjects, type LocatedObject } from '../state/yaml-objects.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { StartError } from '../base/start-error.ts';

/** The objects that are there now, without those of kinds to leave out. Rejects with a StartError that says all that is wrong with the files. */
export async function loadObjects(
  path: string,
  { writer }: Pick<ClusterConnection, 'writer'>,
  leftOut: readonly string[] = [],
): Promise<readonly KubeObject[]> {
  const { files, problems: unreadable } = await readYamlFiles(path);
  const read = files.map(readObjects);
  const all = read.flatMap(({ objects }) => objects);
  const located = all.filter(({ value }) => !isForTools(value));
  const problems = [...unreadable, ...read.flatMap((file) => file.problems), ...located.flatMap(ownProblems)];
  if (problems.length > 0) throw new StartError(problems.map(renderFileProblem).join('\n'));
  const created: KubeObject[] = [];
  for (const each of located) {
    const object = objectOf(each);
    if (leftOut.includes(object.kind ?? '')) continue;
    created.push(await creation(each, writer.create(object)));
  }
  return created;
}

function objectOf({ value, file, line }: LocatedObject): KubeObject {
  if (isJsonObject(value) && isJsonObject(value['metadata'])) {
    return { ...value, metadata: value['metadata'] };
  }
  throw new StartError(`${file}:${line}: this is no object of Kubernetes`);
}

async function creation({ file, line }: LocatedObject, creating: Promise<KubeObject>): Promise<KubeObject> {
  try {
    return await creating;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new StartError(`${file}:${line}: ${error.message}`);
  }
}
