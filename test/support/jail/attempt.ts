// One forbidden request of Reeve's accounts, and the control that refuses it to each account.
import type { Account, Sent } from './scene.ts';

/**
 * The control that refuses the request. RBAC refuses before the jail is asked. `guard or jail`: both refuse, and an
 * API server names one of them.
 */
type Controls = Readonly<Record<Account, 'RBAC' | 'guard or jail' | 'jail'>>;

export interface Attempt extends Controls {
  readonly what: string;
  readonly send: Sent;
  /** The message of the jail, which does not depend on RBAC. */
  readonly jail: string;
}

/** Each constant names the account that RBAC lets send the request, so that the jail must refuse it. */
export const reconciler: Controls = { webhook: 'RBAC', reconciler: 'jail' };
export const webhook: Controls = { webhook: 'jail', reconciler: 'RBAC' };
export const neither: Controls = { webhook: 'RBAC', reconciler: 'RBAC' };
export const both: Controls = { webhook: 'jail', reconciler: 'jail' };

/** The guard lets only the reconciler set the marks of Reeve. */
export const marking = { webhook: 'guard or jail', reconciler: 'jail' } as const;

export type Row = readonly [what: string, send: Sent, controls?: Controls];

/** Attempts that one clause of the jail refuses. */
export function under(jail: string, controls: Controls, rows: readonly Row[]): readonly Attempt[] {
  return rows.map(([what, send, own = controls]) => ({ what, send, jail, ...own }));
}

/** An ownerReference on any object: the garbage collector would delete the object with the named one. */
export const owners = { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] };
