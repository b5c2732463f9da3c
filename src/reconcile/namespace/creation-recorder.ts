// Writes the record on a Namespace of the objects that Reeve creates there once. Reeve releases an object after that.
import { failedResult, type ObjectResult } from '../../policy/plan/observed.ts';
import { toRecord } from '../../policy/plan/plan-once.ts';
import { extendedRecord, recordedKeys } from '../../policy/terms/creation-record.ts';
import { createdOnceAnnotation } from '../../schema/names.ts';
import type { ObjectKey } from '../../base/object-type.ts';
import type { Claim } from '../../policy/desired/desired.ts';
import type { ObjectWriter } from '../../base/object-writer.ts';
import type { WriteStep } from '../../policy/plan/plan-claim.ts';
import type { ReconcileContext } from '../ports.ts';
import { isReleasedOnce, type NamespacePlan } from './namespace-planner.ts';
import { classifyWriteError, type WriteError } from './write-error.ts';

interface Recorded {
  readonly error?: WriteError;
  /** The results, with a failure for each object that could not be recorded. */
  readonly outcomes: readonly ObjectResult[];
}

export class CreationRecorder {
  readonly #context: Pick<ReconcileContext, 'writer' | 'observer'>;

  constructor(context: Pick<ReconcileContext, 'writer' | 'observer'>) {
    this.#context = context;
  }

  /** The event of the Namespace brings the next round, which releases the objects. */
  async record(
    { desired, namespaceObject, steps }: NamespacePlan,
    outcomes: readonly ObjectResult[],
    signal: AbortSignal,
  ): Promise<Recorded> {
    const claims = toRecord(desired, outcomes);
    const keys = [...claims.map(({ key }) => key), ...releasedOnce(steps)];
    if (keys.length === 0) return { outcomes };
    const { name = '', uid = '' } = namespaceObject.metadata;
    try {
      await this.#add(name, uid, keys, signal);
      return { outcomes };
    } catch (error) {
      if (signal.aborted) throw error;
      const writeError = classifyWriteError(error, 'change');
      return { error: writeError, outcomes: outcomes.map((each) => failedIf(each, claims, writeError)) };
    }
  }

  /** Reads the Namespace first: its last event may be older than a record that this or another leader has written. */
  async #add(name: string, uid: string, keys: readonly ObjectKey[], signal: AbortSignal): Promise<void> {
    const { writer, observer } = this.#context;
    const ref = { apiVersion: 'v1', kind: 'Namespace', name };
    const found = await writer.read(ref, signal);
    if (found?.metadata.uid !== uid) return;
    const known = recordedKeys(found);
    if (keys.every((key) => known.has(key))) return;
    const text = extendedRecord(found, keys);
    const { resourceVersion } = found.metadata;
    const patch = { metadata: { uid, resourceVersion, annotations: { [createdOnceAnnotation]: text } } };
    await writer.mergePatch(ref, patch, { signal });
    observer.wroteOwn('record');
  }
}

/**
 * Returns whether the stored Namespace has the record of the object. The watch of a new leader can lag behind the record that the
 * leader before it has written.
 */
export async function isRecorded(
  { claim, object }: WriteStep,
  writer: Pick<ObjectWriter, 'read'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace = '' } = object.metadata;
  const found = await writer.read({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, signal);
  return found !== undefined && recordedKeys(found).has(claim.key);
}

/** A user who deletes such an object does not get it back either. */
function releasedOnce(steps: NamespacePlan['steps']): readonly ObjectKey[] {
  return steps.flatMap((step) => (isReleasedOnce(step) ? [step.live.key] : []));
}

function failedIf(result: ObjectResult, claims: readonly Claim[], error: WriteError): ObjectResult {
  const isOfRecord = claims.some(({ key, provider }) => key === result.key && provider === result.provider);
  if (!isOfRecord || error.kind === 'not-found' || error.kind === 'namespace-terminating') return result;
  const why = error.kind === 'permanent' ? error.message : 'the API server did not take it';
  return failedResult(result, error.reason, `it exists, and its creation cannot be recorded: ${why}`);
}
