// The command `reeve adopt`: shows existing objects that a policy or share wants, asks, and marks them for adoption.
import { adoptLabel, cliApiVersion, cliFieldManager } from '../../schema/names.ts';
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../base/metadata.ts';
import { clipped, counted } from '../../base/text.ts';
import { planAdoption } from '../../inspect/actions/adoption.ts';
import { unmanagedText } from '../../inspect/explain/looked-at.ts';
import { applied, loadState, namespaceType } from '../../inspect/input/loaded-state.ts';
import type { AdoptionOutput } from '../../inspect/output-schemas/confirmation.ts';
import { namespaceLines } from '../../inspect/plan/plan-text.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import type { ObjectWriter } from '../../kube/object-writer.ts';
import { exitCodes } from '../exit-codes.ts';
import type { AdoptFlags } from '../flags/adopt-settings.ts';
import { namedProviders } from '../flags/state-settings.ts';
import { objectsOfFiles } from '../input/chosen-state.ts';
import { readCluster } from '../input/cluster-input.ts';
import { providerId, providerKinds, type ProviderId } from '../../policy/terms/provider-id.ts';
import { onCluster } from '../input/on-cluster.ts';
import { dataText } from '../output/data-text.ts';
import { styleFor, type Style } from '../output/style.ts';
import { isAgreed, notConfirmed, type AgreementIo } from './agreement.ts';
import { readProviderState, type ProviderStateIo } from './provider-state.ts';
import { refusalText } from './refusal-text.ts';

export interface AdoptIo extends AgreementIo, ProviderStateIo {
  readonly stdout: (text: string) => void;
  readonly stdin: () => Promise<string>;
  readonly clock: Pick<Clock, 'now'>;
  readonly isColored: boolean;
}

/** Returns the exit code. */
export async function runAdopt(
  flags: AdoptFlags,
  environment: ApiServerChoice['environment'],
  io: AdoptIo,
): Promise<number> {
  const added = await objectsOfFiles(flags.filename, io);
  if (added === undefined) return exitCodes.unknown;
  const ids = adoptersOf(flags, added);
  if (ids.length === 0) {
    io.stderr('the files have no policy, share or binding\n');
    return exitCodes.no;
  }
  return await onCluster(flags, environment, io.stderr, async (connection) => {
    const outputs: AdoptionOutput[] = [];
    let worst: number = exitCodes.done;
    const wrong = await wrongNamespaces(flags, added, connection);
    for (const problem of wrong) io.stderr(`${problem}\n`);
    if (wrong.length > 0) return exitCodes.no;
    try {
      for (const id of ids) {
        const code = await adoptFor(id, added, flags, { connection, io, outputs });
        if (code === notConfirmed) return code;
        worst = Math.max(worst, code);
      }
      return worst;
    } finally {
      // An error that ends the command must not hide what was marked before.
      if (flags.output !== 'text') io.stdout(adoptionData(flags, flags.output, outputs));
    }
  });
}

/** A misspelled name must not look like a namespace without conflicts. Without the right to list them, nothing is known. */
async function wrongNamespaces(
  flags: AdoptFlags,
  added: readonly KubeObject[],
  connection: ClusterConnection,
): Promise<readonly string[]> {
  if (flags.namespace.length === 0) return [];
  const state = applied(await readCluster(connection, { needs: ['namespaces'] }, flags), added);
  if (state.unread.some(({ kind }) => kind === namespaceType.kind)) return [];
  const cluster = loadState(state);
  return flags.namespace.flatMap((name) => unmanagedText(name, { state, cluster }) ?? []);
}

/** One document. Files give a list, however many policies they have. */
function adoptionData(
  flags: AdoptFlags,
  format: 'json' | 'yaml',
  outputs: readonly AdoptionOutput[],
): string {
  const [only] = outputs;
  if (only === undefined) return '';
  const isList = namedProviders(flags).length === 0;
  return dataText(
    format,
    isList ? { apiVersion: cliApiVersion, kind: 'AdoptionList', items: outputs } : only,
  );
}

/** The named provider, or all of the files. */
export function adoptersOf(flags: AdoptFlags, added: readonly KubeObject[]): readonly ProviderId[] {
  const named = namedProviders(flags).flatMap((read) => (read.ok ? [read.id] : []));
  if (named.length > 0) return named;
  return added.flatMap(({ kind, metadata }) => {
    const known = providerKinds.find((each) => each === kind);
    return known === undefined ? [] : [providerId(known, metadata.name ?? '', metadata.namespace)];
  });
}

async function adoptFor(
  id: ProviderId,
  added: readonly KubeObject[],
  flags: AdoptFlags,
  place: Place,
): Promise<number> {
  const { connection, io } = place;
  const base = await readProviderState(connection, id, { ...flags, others: true, added }, io);
  if (typeof base === 'number') return base;
  const { writer } = connection;
  const request = { base, id, namespaces: flags.namespace, now: io.clock.now() };
  const readSecret = async (ref: ObjectRef) => await readIfAllowed(ref, writer);
  const { output, offers } = await planAdoption({ ...request, readSecret });
  return await adopt({ ...output, dryRun: flags.dryRun }, offers, flags, place);
}

/** Without the right, the keys are not known. The object can be marked all the same. */
async function readIfAllowed(ref: ObjectRef, writer: ObjectWriter): Promise<KubeObject | undefined> {
  try {
    return await writer.read(ref);
  } catch (error) {
    if (error instanceof KubeError && error.code === 403) return undefined;
    throw error;
  }
}

interface Place {
  readonly connection: ClusterConnection;
  readonly io: AdoptIo;
  /** The documents that are printed for programs at the end. */
  readonly outputs: AdoptionOutput[];
}

async function adopt(
  output: AdoptionOutput,
  offers: readonly KubeObject[],
  flags: AdoptFlags,
  { connection, io, outputs }: Place,
): Promise<number> {
  const { output: format } = flags;
  if (format === 'text')
    io.stdout(adoptionText(output, { isWhole: flags.all, paint: styleFor(io.isColored) }));
  const remaining = countOf(output) - output.adoptable;
  const isKnown = output.complete || remaining > 0;
  const clean =
    remaining === 0 && output.complete ? exitCodes.done : isKnown ? exitCodes.no : exitCodes.unknown;
  if (flags.dryRun || offers.length === 0) {
    outputs.push(output);
    return clean;
  }
  const ask = format === 'text' ? io.ask : undefined;
  if (!(await isAgreed({ ...io, ask }, { yes: flags.yes, word: 'adopt' }))) {
    outputs.push(output);
    return notConfirmed;
  }
  const { marked, failed } = await markAll(offers, connection.writer, io);
  outputs.push({ ...output, marked, failed });
  return failed.length === 0 ? clean : exitCodes.no;
}

export function adoptionText(
  output: AdoptionOutput,
  options: { readonly isWhole: boolean; readonly paint: Style },
): string {
  const { provider, adoptable, namespaces, complete } = output;
  const all = countOf(output);
  const among = complete ? '' : ' among what this account may read';
  if (all === 0) return `No object of another client is in the way of ${provider}${among}.\n`;
  const kept = all - adoptable;
  const lines = [
    `${provider}: ${counted(all, 'object')} of other clients ${all === 1 ? 'is' : 'are'} in its way${among}.`,
    `  ${counted(adoptable, 'object')} can be adopted, as follows${kept === 0 ? '' : `; ${kept} cannot`}.`,
    ...namespaceLines(namespaces, options),
    ...(adoptable === 0
      ? []
      : ['', 'What Reeve overwrites does not come back when it gives an object back later.']),
  ];
  return `${lines.join('\n')}\n`;
}

function countOf({ namespaces }: AdoptionOutput): number {
  return namespaces.reduce((sum, { changes }) => sum + changes.length, 0);
}

/** One after another: a person reads each line, and the API server limits how many requests a person sends. */
async function markAll(
  offers: readonly KubeObject[],
  writer: ObjectWriter,
  { stderr }: AgreementIo,
): Promise<Pick<AdoptionOutput, 'marked' | 'failed'>> {
  const marked: ObjectRef[] = [];
  const failed: { object: ObjectRef; message: string }[] = [];
  for (const live of offers) {
    const { apiVersion = '', kind = '', metadata } = live;
    const { namespace = '', name = '' } = metadata;
    const object = { apiVersion, kind, namespace, name };
    const shown = clipped(`${kind} ${namespace}/${name}`, 300);
    try {
      await mark(object, live, writer);
      marked.push(object);
      stderr(`marked ${shown}\n`);
    } catch (error) {
      const message = refusalText(error);
      failed.push({ object, message });
      stderr(`${shown} was not marked: ${message}\n`);
    }
  }
  return { marked, failed };
}

/** An object that changed since it was shown is marked if it is still the same object. */
async function mark(ref: ObjectRef, { metadata }: KubeObject, writer: ObjectWriter): Promise<void> {
  const labels = { [adoptLabel]: 'true' };
  const { uid, resourceVersion } = metadata;
  const send = async (version: unknown): Promise<unknown> =>
    await writer.mergePatch(
      ref,
      { metadata: { uid, resourceVersion: version, labels } },
      { manager: cliFieldManager },
    );
  try {
    await send(resourceVersion);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 409) throw error;
    await send((await writer.read(ref))?.metadata['resourceVersion']);
  }
}
