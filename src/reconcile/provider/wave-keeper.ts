// Finds how far the waves of a policy are, from the reports of its namespaces and their conditions.
import { conditionOf } from '../../base/condition.ts';
import type { NamespacePolicy } from '../../api/namespace-policy/namespace-policy.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import {
  movedValues,
  nextRecord,
  wavePosition,
  waveRecordOf,
  writtenWaves,
  type KeptWaves,
  type WaveMember,
} from '../../policy/plan/waves.ts';
import type { ProviderTally } from '../../policy/status/provider-tally.ts';
import { readyCondition } from '../../schema/names.ts';
import type { ReconcileContext } from '../ports.ts';

/**
 * Returns the waves with their next record. While a namespace has not reported (`isWaiting`), and while the policy is suspended, no wave begins. Undefined without
 * waves.
 */
export function keptWaves(
  { cluster, clock, install }: Pick<ReconcileContext, 'cluster' | 'clock' | 'install'>,
  { object, compiled }: { readonly object: NamespacePolicy; readonly compiled: CompiledPolicy },
  {
    tally,
    stored,
    isWaiting,
  }: { readonly tally: ProviderTally; readonly stored: unknown; readonly isWaiting: boolean },
): KeptWaves | undefined {
  const waves = writtenWaves(compiled);
  if (waves === undefined) return undefined;
  const record = waveRecordOf(stored);
  // A record of other values moves nothing, and the next one must know that there was one.
  if (isWaiting || compiled.isSuspended) return record && { waves, record };
  const values = movedValues(object.spec, install);
  const members = [...tally.namespaces].flatMap((name): readonly WaveMember[] => {
    const namespaceObject = cluster.namespace(name);
    const report = tally.get(name);
    if (namespaceObject === undefined || report?.isMatched !== true || report.wave === undefined) return [];
    // A new namespace gets its condition after its objects, and must not stop the waves until then.
    const isReady = (conditionOf(namespaceObject['status'], readyCondition)?.status ?? 'True') === 'True';
    const position = wavePosition(namespaceObject, waves, values);
    return [{ name, position, isReady, isBehind: report.wave === 'behind' }];
  });
  return { waves, record: nextRecord(record, members, { waves, values, now: clock.now().getTime() }) };
}
