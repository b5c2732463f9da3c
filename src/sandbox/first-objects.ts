// What is there before anybody has written anything: the namespaces and roles that every cluster has.
import { randomUUID } from 'node:crypto';
import type { KubeObject } from '../base/kube-object.ts';
import { builtInRoles } from './access/built-in-roles.ts';
import type { Kinds, Resource } from './resource.ts';
import { timestamp } from './write/context.ts';

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export function firstObjects(kinds: Kinds, now: Date): readonly (readonly [Resource, KubeObject])[] {
  const objects: readonly KubeObject[] = [
    ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...builtInRoles(),
  ];
  return objects.flatMap((object) => {
    const resource = kinds.ofKind(object.apiVersion ?? '', object.kind ?? '');
    if (resource === undefined) return [];
    const metadata = { ...object.metadata, uid: randomUUID(), creationTimestamp: timestamp(now) };
    return [[resource, resource.rules.prepare({ ...object, metadata }, undefined, now)] as const];
  });
}
