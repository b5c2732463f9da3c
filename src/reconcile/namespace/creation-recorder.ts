// Writes the record on a Namespace of the objects that Reeve creates there once. Reeve releases an object after that.
import { failedResult, type ObjectResult } from '../../policy/plan/observed.ts';
import { toRecord } from '../../policy/plan/plan-once.ts';
import { extendedRecord, recordedKeys } from '../../policy/terms/creation-record.ts';
import { createdOnceAnnotation } from '../../schema/names.ts';
import type { Claim } from '../../policy/desired/desired.ts';
import type { ReconcileContext } from '../ports.ts';
import type { NamespacePlan } from './namespace-planner.ts';
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
    { desired, namespaceObject }: NamespacePlan,
    outcomes: readonly ObjectResult[],
    signal: AbortSignal,
  ): Promise<Recorded> {
    const claims = toRecord(desired, outcomes);
    if (claims.length === 0) return { outcomes };
    const { name = '', uid = '' } = namespaceObject.metadata;
    try {
      await this.#add(name, uid, claims, signal);
      return { outcomes };
    } catch (error) {
      if (signal.aborted) throw error;
      const writeError = classifyWriteError(error, 'change');
      return { error: writeError, outcomes: outcomes.map((each) => failedIf(each, claims, writeError)) };
    }
  }

  /** Reads the Namespace first: its last event may be older than a record that this or another leader has written. */
  async #add(name: string, uid: string, claims: readonly Claim[], signal: AbortSignal): Promise<void> {
    const { writer, observer } = this.#context;
    const ref = { apiVersion: 'v1', kind: 'Namespace', name };
    const found = await writer.read(ref, signal);
    if (found?.metadata.uid !== uid) return;
    const known = recordedKeys(found);
    if (claims.every(({ key }) => known.has(key))) return;
    const text = extendedRecord(
      found,
      claims.map(({ key }) => key),
    );
    const { resourceVersion } = found.metadata;
    const patch = { metadata: { uid, resourceVersion, annotations: { [createdOnceAnnotation]: text } } };
    await writer.mergePatch(ref, patch, { signal });
    observer.wroteOwn('record');
  }
}

function failedIf(result: ObjectResult, claims: readonly Claim[], error: WriteError): ObjectResult {
  const isOfRecord = claims.some(({ key, provider }) => key === result.key && provider === result.provider);
  if (!isOfRecord || error.kind === 'not-found' || error.kind === 'namespace-terminating') return result;
  const why = error.kind === 'permanent' ? error.message : 'the API server did not take it';
  return failedResult(result, error.reason, `it exists, and its creation cannot be recorded: ${why}`);
}
