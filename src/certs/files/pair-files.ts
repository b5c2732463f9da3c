// Opens the serving pair that the operator names: two files, or a folder with both. `makePair` needs no files.
import { join } from 'node:path';
import { StartError } from '../../base/start-error.ts';
import { issueCertificates } from '../issue/issue.ts';
import type { CaBundle, PairSource } from '../pair-source.ts';
import type { CertificateObserver } from '../ports.ts';
import { existingCertificateFiles } from './files.ts';
import { watchServingPair } from './reload.ts';
import { parseServingPair, readServingPair, type ServingPair } from './serving-pair.ts';
import { readAuthority } from './pem-file.ts';

export interface PairSettings {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsCa?: string | undefined;
  /** Holds tls.crt and tls.key, and perhaps ca.crt. */
  readonly certsDir: string | undefined;
}

/** Returns undefined when the settings name no files. Rejects with a StartError. */
export async function openGivenPair(
  { tlsCert, tlsKey, tlsCa, certsDir }: PairSettings,
  observer: CertificateObserver,
): Promise<PairSource | undefined> {
  if (tlsCert !== undefined && tlsKey !== undefined)
    return await fromFiles({ cert: tlsCert, key: tlsKey, ca: tlsCa }, observer);
  return certsDir === undefined ? undefined : await fromFolder(certsDir, observer);
}

/** Makes a pair in memory that never changes and that no API server knows. */
export async function makePair(namespace: string, observer: CertificateObserver): Promise<PairSource> {
  const now = new Date();
  const request = { namespace, now, caLifetimeDays: 3650, leafLifetimeDays: 365 };
  const { certPem, keyPem } = (await issueCertificates(request)).serving;
  const made = parseServingPair(certPem, keyPem, { cert: 'memory', key: 'memory' }, now);
  if (!made.ok) throw new Error('the issued pair is unusable');
  observer.opened(made.value);
  return {
    pair: made.value,
    bundle: foreignBundle,
    watch: () => undefined,
    close: () => Promise.resolve(),
  };
}

/** Follows the file. While its content is unusable, the bundle it held before counts. Rejects with a StartError. */
export async function openFileBundle(
  path: string,
  observer: Pick<CertificateObserver, 'notReloaded'>,
): Promise<CaBundle> {
  const first = await readAuthority(path);
  if (!first.ok) throw new StartError(first.problem);
  let good = first.value;
  let lastProblem = '';
  return {
    ...unheard,
    wanted: async () => {
      const reading = await readAuthority(path);
      if (reading.ok) good = reading.value;
      else if (reading.problem !== lastProblem)
        observer.notReloaded('certificate authority', reading.problem);
      lastProblem = reading.ok ? '' : reading.problem;
      return good;
    },
  };
}

/** A file needs no confirmation, and is read whenever the bundle is wanted. */
const unheard: Pick<CaBundle, 'confirmed' | 'doubted' | 'subscribe'> = {
  confirmed: () => undefined,
  doubted: () => undefined,
  subscribe: () => () => undefined,
};

/** The bundle that another program writes into the webhook configurations. */
export const foreignBundle: CaBundle = { ...unheard, wanted: () => Promise.resolve(undefined) };

interface PairFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
}

async function fromFiles({ cert, key, ca }: PairFiles, observer: CertificateObserver): Promise<PairSource> {
  const reading = await readServingPair(cert, key);
  if (!reading.ok) throw new StartError(reading.problem);
  observer.opened(reading.value);
  const open: { close(): void }[] = [];
  const watch = (apply: (pair: ServingPair) => void): void => {
    const reloader = watchServingPair({
      certPath: cert,
      keyPath: key,
      current: reading.value,
      apply: (pair) => {
        apply(pair);
        observer.reloaded(pair);
      },
      onProblem: (problem) => observer.notReloaded('certificate', problem),
    });
    open.push(reloader);
  };
  return {
    pair: reading.value,
    bundle: ca === undefined ? foreignBundle : await openFileBundle(ca, observer),
    watch,
    close: () => {
      for (const reloader of open) reloader.close();
      return Promise.resolve();
    },
  };
}

async function fromFolder(folder: string, observer: CertificateObserver): Promise<PairSource> {
  const existing = await existingCertificateFiles(folder);
  if (existing.length === 0)
    throw new StartError(`${folder} holds no certificates; reeve certs --out ${folder} makes them`);
  const ca = join(folder, 'ca.crt');
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  // A mounted pair may come without its authority. Then another program writes the bundle.
  return await fromFiles({ cert, key, ca: existing.includes(ca) ? ca : undefined }, observer);
}
