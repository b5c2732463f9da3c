// A Namespace as the API server stores it: with the name label that the API server sets.
import { namespaceNameLabel } from '../../schema/names.ts';
import { labelsOf, nameOf, valueOf, withMetadata, type KubeObject } from '../../base/metadata.ts';

/** Returns the object with the true name label, because a request can forge that label or leave it out. */
export function asStored(namespaceObject: KubeObject): KubeObject {
  const name = nameOf(namespaceObject);
  if (name === '' || valueOf(labelsOf(namespaceObject), namespaceNameLabel) === name) return namespaceObject;
  return withMetadata(namespaceObject, 'labels', new Map([[namespaceNameLabel, name]]));
}

/** Returns a Namespace that holds only what the API server sets by itself. */
export function bareNamespace(name: string, like: KubeObject): KubeObject {
  const { uid, creationTimestamp } = like.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { [namespaceNameLabel]: name },
      ...(uid === undefined ? {} : { uid }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}
