// Reads what a command needs to plan one policy, share or binding of a cluster.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { nearestWord } from '../../base/nearest.ts';
import type { ClusterState, Need } from '../../inspect/input/cluster-state.ts';
import {
  copiesOf,
  nameOfProvider,
  namespaceOfProvider,
  providerRef,
  type ProviderId,
} from '../../policy/terms/provider-id.ts';
import { isSameObjectType, secretObjectType } from '../../base/object-type.ts';
import { exitCodes } from '../exit-codes.ts';
import { applied } from '../../inspect/input/loaded-state.ts';
import { readCluster } from '../input/cluster-input.ts';
import type { InstallOverrides } from '../input/find-install.ts';
import type { Progress } from '../output/progress.ts';

interface ProviderStateIo {
  readonly stderr: (text: string) => void;
  readonly progress?: Progress;
}

/** Returns the kinds to read. Only SecretShares own Secrets. `others`: also objects that are not Reeve's. */
function needsOf(id: ProviderId, others: boolean): readonly Need[] {
  const copies = copiesOf(id);
  if (copies === undefined) return ['providers', 'namespaces', 'provided'];
  if (!isSameObjectType(copies, secretObjectType)) return ['providers', 'namespaces', 'provided', 'sources'];
  return ['providers', 'namespaces', ...(others ? ['secrets' as const] : []), 'own-secrets', 'sources'];
}

/** If the provider is missing, writes the reason to standard error and returns the exit code. */
export async function readProviderState(
  connection: ClusterConnection,
  id: ProviderId,
  {
    others,
    added = [],
    ...overrides
  }: InstallOverrides & { readonly others: boolean; readonly added?: readonly KubeObject[] },
  { stderr, progress }: ProviderStateIo,
): Promise<ClusterState | number> {
  const needs = needsOf(id, others);
  const stored = await readCluster(connection, { needs, added }, overrides, progress);
  const state = applied(stored, added);
  for (const { kind, reason } of state.unread) stderr(`${kind} could not be read: ${reason}\n`);
  const ref = providerRef(id);
  if (state.find(ref, ref.namespace ?? '', ref.name) !== undefined) return state;
  if (state.unread.some(({ kind }) => kind === ref.kind)) return exitCodes.unknown;
  const names = state
    .objects(ref)
    .filter(({ metadata }) => metadata.namespace === namespaceOfProvider(id))
    .map(nameOf);
  const near = nearestWord(nameOfProvider(id), names);
  stderr(`there is no ${id}${near === undefined ? '' : `; did you mean ${near}?`}\n`);
  return exitCodes.no;
}
