// Writes the Secrets that move to a shared namespace, from the data of the input.
import { ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import type { MovedSecret, SourceObject } from './importer.ts';
import { filled } from './lists.ts';
import { originOf } from './tool-object.ts';

/** Leaves out a Secret whose data is not in the input. */
export function movedSecrets(
  moved: readonly MovedSecret[],
  input: readonly SourceObject[],
): readonly KubeObject[] {
  return moved.flatMap(({ namespace, name, type, from }) => {
    const found = input.find(
      ({ object }) => JSON.stringify(originOf(object)) === JSON.stringify(from),
    )?.object;
    // MultiSecrets have it in their spec, the others at the top.
    const [data, stringData] = ['data', 'stringData'].map(
      (field) => ownMember(found, field) ?? ownMember(ownMember(found, 'spec'), field),
    );
    if ((data ?? stringData) === undefined) return [];
    const metadata = { namespace, name };
    return [{ apiVersion: 'v1', kind: 'Secret', metadata, type, ...filled({ data, stringData }) }];
  });
}
