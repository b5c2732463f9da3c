// Gets the serving certificate of the webhook: from two files, from a folder that is filled first, or made in memory.
import { join } from 'node:path';
import { existingCertificateFiles, writeCertificateFiles } from '../certs/files.ts';
import { issueCertificates } from '../certs/issue.ts';
import { readAuthority } from '../certs/authority.ts';
import { watchServingPair } from '../certs/reload.ts';
import { readServingPair } from '../certs/serving-pair.ts';
import type { ServingPair } from '../certs/serving-pair.ts';
import type { Log } from '../observe/log.ts';
import { StartError } from './start-error.ts';

export interface PairSettings {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsCa?: string | undefined;
  readonly certsDir: string | undefined;
  readonly namespace: string;
}

export interface PemPair {
  readonly cert: string;
  readonly key: string;
}

export interface PairSource {
  readonly pair: PemPair;
  /** The authority that signed it, in PEM; undefined when nobody said which. */
  readonly ca: string | undefined;
  /** Hands over every later pair. A pair that was made in memory never changes. */
  watch(apply: (pair: PemPair) => void): void;
  close(): void;
}

/** Rejects with a StartError. */
export async function openServingPair(settings: PairSettings, log: Log): Promise<PairSource> {
  const { tlsCert, tlsKey, certsDir } = settings;
  if (tlsCert !== undefined && tlsKey !== undefined)
    return await fromFiles(tlsCert, tlsKey, settings.tlsCa, log);
  if (certsDir === undefined) return await inMemory(settings.namespace);
  const existing = await existingCertificateFiles(certsDir);
  if (existing.length === 0) await fill(certsDir, settings.namespace, log);
  const ca = join(certsDir, 'ca.crt');
  // A mounted pair may come without its authority: whoever applies the webhook configurations by hand knows it.
  const hasAuthority = existing.length === 0 || existing.includes(ca);
  return await fromFiles(
    join(certsDir, 'tls.crt'),
    join(certsDir, 'tls.key'),
    hasAuthority ? ca : undefined,
    log,
  );
}

async function fromFiles(
  certPath: string,
  keyPath: string,
  caPath: string | undefined,
  log: Log,
): Promise<PairSource> {
  const reading = await readServingPair(certPath, keyPath);
  if (!reading.ok) throw new StartError(reading.problem);
  const open: { close(): void }[] = [];
  return {
    pair: reading.value,
    ca: caPath === undefined ? undefined : await authorityOf(caPath),
    watch: (apply) => {
      open.push(
        watchServingPair({
          certPath,
          keyPath,
          current: reading.value,
          apply: (pair) => {
            apply(pair);
            log.info('certificate reloaded', describe(pair));
          },
          onProblem: (problem) => log.warn('certificate not reloaded', { problem }),
        }),
      );
    },
    close: () => {
      for (const reloader of open) reloader.close();
    },
  };
}

async function authorityOf(path: string): Promise<string> {
  const reading = await readAuthority(path);
  if (!reading.ok) throw new StartError(reading.problem);
  return reading.value;
}

function describe({ notAfter, fingerprint }: ServingPair): {
  readonly notAfter: string;
  readonly fingerprint: string;
} {
  return { notAfter: notAfter.toISOString(), fingerprint };
}

async function inMemory(namespace: string): Promise<PairSource> {
  const { ca, serving } = await issueCertificates(requestFor(namespace));
  return {
    pair: { cert: serving.certPem, key: serving.keyPem },
    ca: ca.certPem,
    watch: () => undefined,
    close: () => undefined,
  };
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
