// Finds the API server, and reads the credentials of a Pod.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CredentialError } from '../../../../src/kube/http/http-exchange.ts';
import { findApiServer } from '../../../../src/kube/auth/find-api-server.ts';
import type { ApiServerChoice } from '../../../../src/kube/auth/find-api-server.ts';
import { createKubeClient } from '../../../../src/kube/http/https-client.ts';
import { rejectionOf, sendJson, startStub, statusOf, stubCertificates } from '../stub-api-server.ts';

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-kube-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const kubeconfigOf = (server: string): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });

/** A home with a kubeconfig, two more kubeconfigs, and the files of a Pod. */
async function makeHome(): Promise<string> {
  const home = await makeFolder();
  const { ca } = await stubCertificates();
  await Promise.all([mkdir(join(home, '.kube')), mkdir(join(home, 'pod'))]);
  await Promise.all([
    writeFile(join(home, '.kube', 'config'), kubeconfigOf('https://usual')),
    writeFile(join(home, 'told'), kubeconfigOf('https://told')),
    writeFile(join(home, 'named'), kubeconfigOf('https://named')),
    writeFile(join(home, 'pod', 'token'), 'pod-token\n'),
    writeFile(join(home, 'pod', 'ca.crt'), ca.certPem),
  ]);
  return home;
}

type Parts = Partial<Record<'told' | 'named' | 'pod' | 'home', boolean>>;

function choiceIn(home: string, { told, named, pod, home: usual }: Parts): ApiServerChoice {
  return {
    ...(told === true ? { kubeconfig: join(home, 'told') } : {}),
    environment: {
      ...(named === true ? { KUBECONFIG: [join(home, 'missing'), join(home, 'named')].join(delimiter) } : {}),
      ...(pod === true ? { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' } : {}),
      ...(usual === true ? { HOME: home } : {}),
    },
    serviceAccountFolder: join(home, 'pod'),
  };
}

test.each<[Parts, string]>([
  [{ told: true, named: true, pod: true, home: true }, 'https://told/'],
  [{ named: true, pod: true, home: true }, 'https://named/'],
  [{ pod: true, home: true }, 'https://10.0.0.1:6443/'],
  [{ home: true }, 'https://usual/'],
])('the API server found with %j is %s', async (parts, server) => {
  const found = await findApiServer(choiceIn(await makeHome(), parts));
  expect(found.server.href).toBe(server);
});

test('the message lists what is missing where nothing is configured', async () => {
  const folder = await makeFolder();
  const error = await rejectionOf(
    findApiServer({ environment: { HOME: folder }, serviceAccountFolder: folder }),
  );
  expect(error).toEqual(
    new CredentialError(
      'no API server found: --kubeconfig and KUBECONFIG are not set, this is not a Pod with a service account, ' +
        'and ~/.kube/config does not exist',
    ),
  );
});

test('a Pod without a token is ignored', async () => {
  const home = await makeHome();
  const choice = {
    ...choiceIn(home, { pod: true, home: true }),
    serviceAccountFolder: join(home, 'nowhere'),
  };
  expect((await findApiServer(choice)).server.href).toBe('https://usual/');
});

test.each([
  ['fd00::1', '443', 'https://[fd00::1]/'],
  ['10.0.0.1', undefined, 'https://10.0.0.1/'],
])('in a Pod with host %s and port %s, the server is %s', async (host, port, server) => {
  const home = await makeHome();
  const environment = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port };
  const found = await findApiServer({ environment, serviceAccountFolder: join(home, 'pod') });
  expect(found.server.href).toBe(server);
  expect(found.description).toBe('the service account of this Pod');
  expect(found.isOfPod).toBe(true);
});

test.each([
  ['ca.crt', 'the certificates for the API server are not PEM, or the key belongs to another certificate'],
  ['token', 'the token for the API server is empty or has characters that are not allowed in a token'],
])('an empty %s of a Pod is refused', async (file, message) => {
  const home = await makeHome();
  await writeFile(join(home, 'pod', file), '');
  expect(await rejectionOf(findApiServer(choiceIn(home, { pod: true })))).toEqual(
    new CredentialError(message),
  );
});

test('a Pod without ca.crt is refused', async () => {
  const home = await makeHome();
  await rm(join(home, 'pod', 'ca.crt'));
  expect(await rejectionOf(findApiServer(choiceIn(home, { pod: true })))).toEqual(
    new CredentialError(`${join(home, 'pod', 'ca.crt')} cannot be read (ENOENT)`),
  );
});

test('a token that the kubelet replaced is read after a 401', async () => {
  const home = await makeHome();
  const stub = await startStub((response, { headers }) => {
    if (headers.authorization === 'Bearer rotated') sendJson(response, { ok: true });
    else sendJson(response, statusOf(401, 'Unauthorized'), 401);
  });
  const environment = { KUBERNETES_SERVICE_HOST: stub.url.hostname, KUBERNETES_SERVICE_PORT: stub.url.port };
  const server = await findApiServer({ environment, serviceAccountFolder: join(home, 'pod') });
  const client = createKubeClient(server);
  onTestFinished(() => client.close());
  const get = { method: 'GET', path: '/api' } as const;
  expect(await rejectionOf(client.request(get))).toMatchObject({ code: 401 });
  await writeFile(join(home, 'pod', 'token'), 'rotated\n');
  expect(await client.request(get)).toEqual({ ok: true });
  expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer pod-token',
    'Bearer pod-token',
    'Bearer rotated',
  ]);
  expect(stub.connections).toHaveLength(1);
});
