// One thing that Reeve's accounts try beyond what they are for, and who refuses it to which of them.
import type { Account, Sent } from './scene.ts';

/**
 * Which control it is that refuses it: what RBAC refuses, the jail is not even asked about. `guard or jail`: both do, and an
 * API server names one of them.
 */
type Controls = Readonly<Record<Account, 'RBAC' | 'guard or jail' | 'jail'>>;

export interface Attempt extends Controls {
  readonly what: string;
  readonly send: Sent;
  /** The words of the jail, whatever RBAC grants. */
  readonly jail: string;
}

/** What that account has the right to, and the other one has not. */
export const reconciler: Controls = { webhook: 'RBAC', reconciler: 'jail' };
export const webhook: Controls = { webhook: 'jail', reconciler: 'RBAC' };
export const neither: Controls = { webhook: 'RBAC', reconciler: 'RBAC' };
export const both: Controls = { webhook: 'jail', reconciler: 'jail' };

/** The guard lets only the reconciler mark objects. */
export const marking = { webhook: 'guard or jail', reconciler: 'jail' } as const;

export type Row = readonly [what: string, send: Sent, controls?: Controls];

/** Attempts that one clause of the jail refuses. */
export function under(jail: string, controls: Controls, rows: readonly Row[]): readonly Attempt[] {
  return rows.map(([what, send, own = controls]) => ({ what, send, jail, ...own }));
}

/** An ownerReference on any object: the garbage collector would delete the object with the named one. */
export const owners = { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] };
