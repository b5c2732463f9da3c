// Deletes the namespaces that the install made; others, and those of people's Secrets, stay unless that is asked for.
import { ownMember } from '../base/json.ts';
import type { ObjectRef } from '../base/kube-object.ts';
import { partOfLabel, partOfReeve } from '../api/names.ts';
import { remove, wordsOf, type Demolition, type Problems } from './removal.ts';

export interface NamespaceSettings {
  readonly namespace: string;
  readonly sharedNamespace: readonly string[];
  readonly deleteShared: boolean;
}

export async function removeNamespaces(
  { namespace, sharedNamespace, deleteShared }: NamespaceSettings,
  demolition: Demolition,
): Promise<Problems> {
  const names = [namespace, ...(deleteShared ? sharedNamespace : [])];
  const problems = await Promise.all(names.map((name) => removeNamespace(name, demolition)));
  if (!deleteShared) {
    for (const name of sharedNamespace)
      demolition.say(`kept Namespace ${name}, if it is there, with the Secrets in it`);
  }
  return problems.flat();
}

/** One that was there before Reeve, or is there for other things too, is not for us to delete. */
async function removeNamespace(name: string, demolition: Demolition): Promise<Problems> {
  const { writer, say } = demolition;
  const ref: ObjectRef = { apiVersion: 'v1', kind: 'Namespace', name };
  try {
    const object = await writer.read(ref);
    if (object === undefined) return [];
    if (ownMember(object.metadata.labels, partOfLabel) === partOfReeve)
      return await remove([ref], demolition);
    say(`kept Namespace ${name}: it lacks the label ${partOfLabel}=${partOfReeve} of the install`);
    return [];
  } catch (error) {
    return [`Namespace ${name}: ${wordsOf(error)}`];
  }
}
