// Provides kinds and objects for the tests of src/sandbox/kinds.
import { kindDefinitions } from '../../../../src/api/kinds.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { kindsServedFrom } from '../../../../src/sandbox/kinds/served-kinds.ts';
import type { Kinds, Resource } from '../../../../src/sandbox/resource.ts';
import { MemoryStore, type SandboxStore } from '../../../../src/sandbox/store.ts';

export const now = new Date('2026-11-21T12:00:00Z');

/** Contains the definitions of all kinds of Reeve. */
export function storeWithDefinitions(): SandboxStore {
  const store = new MemoryStore();
  const definitions = kindsServedFrom(store, kindDefinitions).find(
    'apiextensions.k8s.io',
    'v1',
    'customresourcedefinitions',
  );
  if (definitions === undefined) throw new Error('definitions are not served');
  for (const plural of ['namespacepolicies', 'secretshares']) {
    store.put(definitions, { metadata: { name: `${plural}.reeve.dev` } }, undefined);
  }
  return store;
}

export const allKinds: Kinds = kindsServedFrom(storeWithDefinitions(), kindDefinitions);

export function kindNamed(kind: string): Resource {
  const found = allKinds.all().find((resource) => resource.kind === kind);
  if (found === undefined) throw new Error(`${kind} is not served`);
  return found;
}

export function prepared(kind: string, object: object, stored?: KubeObject): KubeObject {
  return kindNamed(kind).rules.prepare({ metadata: { name: 'a' }, ...object }, stored, now);
}

/** Returns `<reason> <field>` for each problem of a create or, with `before`, of an update. */
export function causesOf(kind: string, object: object, before?: object): readonly string[] {
  const resource = kindNamed(kind);
  const stored = before === undefined ? undefined : prepared(kind, before);
  const next = prepared(kind, object, stored);
  const causes = resource.rules.problems(next, stored);
  return causes.map(({ reason, field = '' }) => `${reason.replace('FieldValue', '')} ${field}`);
}
