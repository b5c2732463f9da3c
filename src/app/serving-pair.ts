// Gets the serving certificate of the webhook from where the operator says: two files, or a folder that is filled first.
import { join } from 'node:path';
import { existingCertificateFiles, writeCertificateFiles } from '../certs/files/files.ts';
import { issueCertificates } from '../certs/issue/issue.ts';
import { watchServingPair } from '../certs/files/reload.ts';
import { parseServingPair, readServingPair } from '../certs/files/serving-pair.ts';
import type { ServingPair } from '../certs/files/serving-pair.ts';
import type { CertificateMetrics } from '../observe/certificate-metrics.ts';
import type { Log } from '../observe/log.ts';
import type { CaBundle } from '../certs/authority/ca-bundle.ts';
import { foreignBundle, openFileBundle } from '../certs/authority/file-bundle.ts';
import { StartError } from './start-error.ts';

export interface PairSettings {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsCa?: string | undefined;
  readonly certsDir: string | undefined;
  readonly namespace: string;
}

export interface PairSource {
  readonly pair: ServingPair;
  /** By which API servers are to check it. */
  readonly bundle: CaBundle;
  /** Hands over every later pair. */
  watch(apply: (pair: ServingPair) => void): void;
  close(): Promise<void>;
}

export interface PairObservers {
  readonly log: Log;
  readonly metrics: CertificateMetrics;
}

/** Undefined when the settings name no files. Rejects with a StartError. */
export async function openGivenPair(
  settings: PairSettings,
  observers: PairObservers,
): Promise<PairSource | undefined> {
  const { tlsCert, tlsKey, tlsCa, certsDir, namespace } = settings;
  if (tlsCert !== undefined && tlsKey !== undefined)
    return await fromFiles({ cert: tlsCert, key: tlsKey, ca: tlsCa }, observers);
  return certsDir === undefined ? undefined : await fromFolder(certsDir, namespace, observers);
}

/** It never changes. */
export async function makePair(namespace: string, { metrics }: PairObservers): Promise<PairSource> {
  const request = requestFor(namespace);
  const { certPem, keyPem } = (await issueCertificates(request)).serving;
  const made = parseServingPair(certPem, keyPem, { cert: 'memory', key: 'memory' }, request.now);
  if (!made.ok) throw new Error('a pair that was just made is no good');
  metrics.expires('serving', made.value.notAfter);
  return {
    pair: made.value,
    bundle: foreignBundle,
    watch: () => undefined,
    close: () => Promise.resolve(),
  };
}

interface PairFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
}

async function fromFiles({ cert, key, ca }: PairFiles, { log, metrics }: PairObservers): Promise<PairSource> {
  const reading = await readServingPair(cert, key);
  if (!reading.ok) throw new StartError(reading.problem);
  metrics.expires('serving', reading.value.notAfter);
  const open: { close(): void }[] = [];
  const watch = (apply: (pair: ServingPair) => void): void => {
    const reloader = watchServingPair({
      certPath: cert,
      keyPath: key,
      current: reading.value,
      apply: (pair) => {
        apply(pair);
        metrics.expires('serving', pair.notAfter);
        metrics.renewed('serving');
        const { fingerprint, notAfter } = pair;
        log.info('certificate reloaded', { fingerprint, notAfter: notAfter.toISOString() });
      },
      onProblem: (problem) => log.warn('certificate not reloaded', { problem }),
    });
    open.push(reloader);
  };
  return {
    pair: reading.value,
    bundle: ca === undefined ? foreignBundle : await openFileBundle(ca, log),
    watch,
    close: () => {
      for (const reloader of open) reloader.close();
      return Promise.resolve();
    },
  };
}

async function fromFolder(folder: string, namespace: string, observers: PairObservers): Promise<PairSource> {
  const existing = await existingCertificateFiles(folder);
  if (existing.length === 0) await fill(folder, namespace, observers.log);
  const ca = join(folder, 'ca.crt');
  // A mounted pair may come without its authority: then somebody else writes that into the webhook configurations.
  const hasAuthority = existing.length === 0 || existing.includes(ca);
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  return await fromFiles({ cert, key, ca: hasAuthority ? ca : undefined }, observers);
}

async function fill(folder: string, namespace: string, log: Log): Promise<void> {
  const outcome = await writeCertificateFiles(folder, await issueCertificates(requestFor(namespace)), false);
  switch (outcome.kind) {
    case 'written':
      log.info('certificates made', { folder });
      return;
    case 'failed':
      throw new StartError(outcome.problem);
    case 'refused':
      // Another process was faster; its pair is as good.
      return;
    default:
      outcome satisfies never;
  }
}

function requestFor(namespace: string): Parameters<typeof issueCertificates>[0] {
  return { namespace, now: new Date(), caLifetimeDays: 3650, leafLifetimeDays: 365 };
}
