// The command `reeve adopt`: shows existing objects that a policy or share wants, asks, and marks them for adoption.
import { adoptLabel, cliApiVersion, cliFieldManager } from '../../schema/names.ts';
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../base/metadata.ts';
import { clipped, counted } from '../../base/text.ts';
import { findAdoption } from '../../inspect/actions/adoption.ts';
import { unmanagedText } from '../../inspect/explain/looked-at.ts';
import { applied, loadState, namespaceType } from '../../inspect/input/loaded-state.ts';
import type { AdoptionOutput } from '../../inspect/output-schemas/confirmation.ts';
import { namespaceLines } from '../../inspect/plan/plan-text.ts';
import type { ObjectWriter } from '../../base/object-writer.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { filesSetting } from '../flags/common-settings.ts';
import { switchSetting, withoutVariable, type Settings, type Values } from '../flags/settings.ts';
import {
  askingSettings,
  namedProviders,
  namespacesSetting,
  providerSettings,
} from '../flags/state-settings.ts';
import { objectsOfFiles } from '../input/chosen-state.ts';
import { readCluster } from '../input/cluster-input.ts';
import { providerId, providerKindOf, type ProviderId } from '../../policy/terms/provider-id.ts';
import { onCluster } from '../input/on-cluster.ts';
import { jsonText, yamlText } from '../output/data-text.ts';
import { styleFor, type Style } from '../output/style.ts';
import { isAgreed, notConfirmed, type AgreementIo } from './agreement.ts';
import { readProviderState } from './provider-state.ts';
import { refusalText } from './refusal-text.ts';

interface Adoptions {
  readonly adoptions: readonly AdoptionOutput[];
  /** True for files, which give a list even if they hold only one policy. */
  readonly isList: boolean;
}

const outputs = {
  text: ({ adoptions }: Adoptions, { all }: { readonly all: boolean }, isColored: boolean) =>
    adoptions.map((each) => adoptionText(each, { isWhole: all, paint: styleFor(isColored) })).join(''),
  json: (found: Adoptions) => documentOf(found, jsonText),
  yaml: (found: Adoptions) => documentOf(found, yamlText),
};

/** Returns one document, or an empty text if no provider is known. */
function documentOf({ adoptions, isList }: Adoptions, write: typeof jsonText): string {
  const [only] = adoptions;
  if (only === undefined) return '';
  return write(isList ? { apiVersion: cliApiVersion, kind: 'AdoptionList', items: adoptions } : only);
}

const flags = {
  filename: filesSetting(
    'Adopt for the policies, shares and bindings of this file or folder, as if they were applied; - is standard input. May be given several times.',
  ),
  ...providerSettings('that is to take the objects over'),
  namespace: namespacesSetting('Only objects in this namespace.'),
  dryRun: withoutVariable(switchSetting('Show the objects, and mark none.')),
  all: withoutVariable(switchSetting('Show each namespace by itself, also where the changes are the same.')),
  ...askingSettings(outputs),
} satisfies Settings;

type AdoptFlags = Values<typeof flags>;

export const command = commandOf({
  flags,
  outputs,
  run: runAdopt,
  details: `Where an object of the same name exists, a policy or share reports a conflict and leaves the object alone. This command
shows these objects with what Reeve would change in them, and gives them the label reeve.dev/adopt=true, which hands
them over. Objects with finalizers or with a controller as owner are never taken over.

With -f, a policy or share of the files need not exist yet: it takes over what is marked as soon as it is applied.

Reeve does not delete adopted objects later: it gives them back.`,
  check: (settings) => {
    const named = namedProviders(settings);
    const isOne = named.length === 1 || (named.length === 0 && settings.filename.length > 0);
    if (!isOne) return ['give one of --policy, --share and --binding, or -f'];
    // Standard input holds the files, so it cannot hold the answer.
    return [
      ...named.flatMap((read) => (read.ok ? [] : [read.problem])),
      ...(settings.filename.includes('-') && !settings.yes && !settings.dryRun
        ? ['-f - leaves no standard input for the question: add --yes or --dry-run']
        : []),
    ];
  },
  examples: [
    ['reeve adopt --policy team-namespaces --dry-run', 'what the policy would take over'],
    ['reeve adopt --policy team-namespaces -n team-a -n team-b', 'in two namespaces'],
    ['reeve adopt --share regcred --yes', 'without a question'],
    [
      'reeve adopt -f policies/ --dry-run',
      'for all policies and shares of these files, before they are applied',
    ],
  ],
  exitCodes: [
    [0, 'All objects that are in the way were marked, or there are none.'],
    [1, 'Some cannot be adopted or were not marked, or there is no such policy, share or namespace.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'A kind or a file could not be read, or the cluster did not answer.'],
  ],
});

/** Returns the exit code. */
async function runAdopt(
  { settings, environment }: Call<AdoptFlags>,
  io: CommandIo<Adoptions>,
): Promise<number> {
  const added = await objectsOfFiles(settings.filename, io, true);
  if (added === undefined) return exitCodes.unknown;
  const ids = adoptersOf(settings, added);
  if (ids.length === 0) {
    io.stderr('the files have no policy, share or binding\n');
    return exitCodes.no;
  }
  return await onCluster(settings, environment, io.stderr, async (connection) => {
    const adoptions: AdoptionOutput[] = [];
    let worst: number = exitCodes.done;
    const wrong = await wrongNamespaces(settings, added, connection);
    for (const problem of wrong) io.stderr(`${problem}\n`);
    if (wrong.length > 0) return exitCodes.no;
    try {
      for (const id of ids) {
        const code = await adoptFor(id, added, settings, { connection, io, adoptions });
        if (code === notConfirmed) return code;
        worst = Math.max(worst, code);
      }
      return worst;
    } finally {
      // An error that ends the command must not hide the objects that were marked before.
      if (settings.output !== 'text') io.print({ adoptions, isList: namedProviders(settings).length === 0 });
    }
  });
}

/**
 * Finds misspelled names, which would look like namespaces without conflicts. Without the right to list namespaces, finds none.
 */
async function wrongNamespaces(
  settings: AdoptFlags,
  added: readonly KubeObject[],
  connection: ClusterConnection,
): Promise<readonly string[]> {
  if (settings.namespace.length === 0) return [];
  const state = applied(await readCluster(connection, { needs: ['namespaces'] }, settings), added);
  if (state.unread.some(({ kind }) => kind === namespaceType.kind)) return [];
  const cluster = loadState(state);
  return settings.namespace.flatMap((name) => unmanagedText(name, { state, cluster }) ?? []);
}

/** Returns the named provider, or all providers of the files. */
export function adoptersOf(settings: AdoptFlags, added: readonly KubeObject[]): readonly ProviderId[] {
  const named = namedProviders(settings).flatMap((read) => (read.ok ? [read.id] : []));
  if (named.length > 0) return named;
  return added.flatMap(({ kind, metadata }) => {
    const known = providerKindOf(kind);
    return known === undefined ? [] : [providerId(known, metadata.name ?? '', metadata.namespace)];
  });
}

async function adoptFor(
  id: ProviderId,
  added: readonly KubeObject[],
  settings: AdoptFlags,
  place: Place,
): Promise<number> {
  const { connection, io } = place;
  const base = await readProviderState(connection, id, { ...settings, others: true, added }, io);
  if (typeof base === 'number') return base;
  const { writer } = connection;
  const request = { base, id, namespaces: settings.namespace, now: io.clock.now() };
  const readSecret = async (ref: ObjectRef) => await readIfAllowed(ref, writer);
  const { output, offers } = await findAdoption({ ...request, readSecret });
  return await adopt({ ...output, dryRun: settings.dryRun }, offers, settings, place);
}

/** Without the right to read the object, its keys are not known. The object can be marked all the same. */
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
  readonly io: CommandIo<Adoptions>;
  /** The documents that are printed at the end for programs. */
  readonly adoptions: AdoptionOutput[];
}

async function adopt(
  output: AdoptionOutput,
  offers: readonly KubeObject[],
  settings: AdoptFlags,
  { connection, io, adoptions }: Place,
): Promise<number> {
  const { output: format } = settings;
  if (format === 'text') io.print({ adoptions: [output], isList: false });
  const remaining = countOf(output) - output.adoptable;
  const isKnown = output.complete || remaining > 0;
  const clean =
    remaining === 0 && output.complete ? exitCodes.done : isKnown ? exitCodes.no : exitCodes.unknown;
  if (settings.dryRun || offers.length === 0) {
    adoptions.push(output);
    return clean;
  }
  const ask = format === 'text' ? io.ask : undefined;
  if (!(await isAgreed({ ...io, ask }, { yes: settings.yes, word: 'adopt' }))) {
    adoptions.push(output);
    return notConfirmed;
  }
  const { marked, failed } = await markAll(offers, connection.writer, io);
  adoptions.push({ ...output, marked, failed });
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

/** Marks one object after another: a person reads each line, and the API server limits the requests of a person. */
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

/** Marks the same object even if it changed since it was shown. */
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
