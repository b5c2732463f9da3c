// Searches the output of Reeve, and everything that the API server shows of Reeve's writes, for secret bytes.
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiCalls } from './api-calls.ts';
import { leaksIn, type Needle } from './leaks.ts';
import type { Stored } from './stored.ts';
import { sourceNamespace } from './world.ts';

/** Resources that users without the right to read Secrets may read. */
const open = [
  '/api/v1/namespaces',
  '/api/v1/events',
  '/apis/events.k8s.io/v1/events',
  '/api/v1/configmaps',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/reeve.dev/v1alpha1/namespacepolicies',
  '/apis/reeve.dev/v1alpha1/secretshares',
  '/apis/coordination.k8s.io/v1/namespaces/reeve-system/leases',
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
];

export async function openOutputLeaks(
  calls: ApiCalls,
  needles: readonly Needle[],
): Promise<readonly string[]> {
  const found = await Promise.all(
    open.map(async (path) => {
      const text = JSON.stringify(await calls.mustSend({ method: 'GET', path }));
      return leaksIn(text, needles).map((leak) => `${leak} in ${path}`);
    }),
  );
  return [...found.flat(), ...(await metadataLeaks(calls, needles))];
}

/** Only the data of a Secret is secret. The annotations of sources also hold the canaries. */
async function metadataLeaks(calls: ApiCalls, needles: readonly Needle[]): Promise<readonly string[]> {
  const secrets = await calls.list<Stored>('/api/v1/secrets');
  return secrets
    .filter(({ metadata }) => metadata.namespace !== sourceNamespace)
    .flatMap(({ metadata }) =>
      leaksIn(JSON.stringify(metadata), needles).map(
        (leak) => `${leak} in the metadata of ${metadata.namespace}/${metadata.name}`,
      ),
    );
}

export async function logLeaks(folder: string, needles: readonly Needle[]): Promise<readonly string[]> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.log'));
  const found = await Promise.all(
    names.map(async (name) =>
      (await leaksInFile(join(folder, name), needles)).map((leak) => `${leak} in ${name}`),
    ),
  );
  return found.flat();
}

/** Streams the file, because it may be very long. */
async function leaksInFile(file: string, needles: readonly Needle[]): Promise<readonly string[]> {
  const overlap = Math.max(...needles.map(({ text }) => text.length));
  const found = new Set<string>();
  let tail = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const text = tail + String(chunk);
    for (const leak of leaksIn(text, needles)) found.add(leak);
    tail = text.slice(-overlap);
  }
  return [...found];
}
