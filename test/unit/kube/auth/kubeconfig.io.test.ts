// Reads credentials from kubeconfigs, and checks the messages for invalid kubeconfigs.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { CredentialError, type Credentials } from '../../../../src/kube/http/http-exchange.ts';
import { kubeconfigSource } from '../../../../src/kube/auth/kubeconfig.ts';
import { rejectionOf, stubCertificates } from '../stub-api-server.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-kubeconfig-'));
  const { ca, serving } = await stubCertificates();
  await mkdir(join(folder, 'pki'));
  await Promise.all([
    writeFile(join(folder, 'pki', 'ca.crt'), ca.certPem),
    writeFile(join(folder, 'pki', 'u.crt'), serving.certPem),
    writeFile(join(folder, 'pki', 'u.key'), serving.keyPem),
    writeFile(join(folder, 'token'), 'from-file\n'),
  ]);
  return () => rm(folder, { recursive: true, force: true });
});

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
}

function kubeconfigOf({ cluster = {}, user = {} }: Parts, name = 'dev'): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name, context: { cluster: 'c', user: 'u' } }],
    'current-context': name,
  };
}

async function put(content: object | string, name = 'config'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function readOf(parts: Parts): Promise<Credentials> {
  const source = await kubeconfigSource([await put(kubeconfigOf(parts))]);
  return await source.read({ refused: false });
}

test.each<[string, Parts, object]>([
  ['a token', { user: { token: 'abc' } }, { Authorization: 'Bearer abc' }],
  [
    'a token file relative to the kubeconfig',
    { user: { tokenFile: 'token' } },
    { Authorization: 'Bearer from-file' },
  ],
  [
    'a token file and a token',
    { user: { token: 'abc', tokenFile: 'token' } },
    { Authorization: 'Bearer from-file' },
  ],
  [
    'a name and a password',
    { user: { username: 'ann', password: 'pä' } },
    { Authorization: 'Basic YW5uOnDDpA==' },
  ],
  [
    'an impersonated user',
    { user: { token: 'abc', as: 'bob' } },
    { Authorization: 'Bearer abc', 'Impersonate-User': 'bob' },
  ],
  ['no credentials', {}, {}],
])('a kubeconfig with %s has its headers', async (_, parts, headers) => {
  expect((await readOf(parts)).headers).toEqual(headers);
});

test('certificates are read from files and from inline data', async () => {
  const { ca, serving } = await stubCertificates();
  const expected = {
    ca: ca.certPem,
    cert: serving.certPem,
    key: serving.keyPem,
    servername: 'kubernetes',
    rejectUnauthorized: true,
  };
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const server = { 'tls-server-name': 'kubernetes' };
  const files = await readOf({
    cluster: { ...server, 'certificate-authority': 'pki/ca.crt' },
    user: { 'client-certificate': 'pki/u.crt', 'client-key': join(folder, 'pki', 'u.key') },
  });
  const inline = await readOf({
    cluster: { ...server, 'certificate-authority-data': base64(ca.certPem) },
    user: { 'client-certificate-data': base64(serving.certPem), 'client-key-data': base64(serving.keyPem) },
  });
  expect(files.tls).toEqual(expected);
  expect(inline.tls).toEqual(expected);
});

test('the certificate is not checked only when the kubeconfig says so', async () => {
  expect((await readOf({})).tls).toEqual({ rejectUnauthorized: true });
  const careless = await readOf({ cluster: { 'insecure-skip-tls-verify': true } });
  expect(careless.tls).toEqual({ rejectUnauthorized: false });
});

test('with several kubeconfigs the first value counts, and files may be missing', async () => {
  const other = kubeconfigOf({ cluster: { server: 'https://other' }, user: { token: 'other' } }, 'other');
  const source = await kubeconfigSource([
    join(folder, 'missing'),
    await put({ clusters: [null, 7], users: [{ name: 'u', user: { token: 'first' } }] }, 'one'),
    await put(kubeconfigOf({ user: { token: 'second' } }), 'two'),
    await put(other, 'three'),
  ]);
  expect(source.server.href).toBe('https://127.0.0.1:6443/');
  expect(source.description).toMatch(/, context dev$/);
  expect((await source.read({ refused: false })).headers).toEqual({ Authorization: 'Bearer first' });
});

test.each<[string, object | string, string]>([
  ['invalid YAML', 'a: [canary', 'FILE, line 1: invalid YAML'],
  ['a list', '[canary]', 'FILE is not a kubeconfig'],
  ['an empty file', '', 'FILE is not a kubeconfig'],
  ['no current context', {}, 'the kubeconfig FILE has no current-context'],
  ['an unknown context', { 'current-context': 'x' }, 'the kubeconfig FILE: context "x" is missing'],
  [
    'a context that is not one of its contexts',
    { ...kubeconfigOf({}), 'current-context': 'x' },
    'the kubeconfig FILE: context "x" is missing; accepted: dev',
  ],
  ['no users', { ...kubeconfigOf({}), users: 'canary' }, 'CONTEXT: user "u" is missing'],
  [
    'a server without https',
    kubeconfigOf({ cluster: { server: 'http://x' } }),
    'CONTEXT: its server is not an https:// URL',
  ],
  [
    'a server that is not a URL',
    kubeconfigOf({ cluster: { server: 5 } }),
    'CONTEXT: its server is not an https:// URL',
  ],
  [
    'a proxy',
    kubeconfigOf({ cluster: { 'proxy-url': 'http://canary' } }),
    'CONTEXT: proxy-url is not supported',
  ],
  [
    'impersonated groups',
    kubeconfigOf({ user: { as: 'a', 'as-groups': ['b'] } }),
    'CONTEXT: as-groups is not supported',
  ],
])('%s is refused with its message', async (_, content, message) => {
  const path = await put(content);
  const words = message.replace('CONTEXT', 'the kubeconfig FILE, context dev').replace('FILE', path);
  expect(await rejectionOf(kubeconfigSource([path]))).toEqual(new CredentialError(words));
});

test('a missing kubeconfig is refused', async () => {
  const path = join(folder, 'missing');
  expect(await rejectionOf(kubeconfigSource([path]))).toEqual(
    new CredentialError(`the kubeconfig ${path} cannot be read (ENOENT)`),
  );
});

test('a missing certificate is refused', async () => {
  const error = await rejectionOf(
    readOf({ user: { 'client-certificate': 'missing', 'client-key': 'missing' } }),
  );
  expect(error).toEqual(
    new CredentialError(
      `a file named in the kubeconfig ${join(folder, 'config')}, context dev cannot be read (ENOENT)`,
    ),
  );
});

test('a changed kubeconfig is read again', async () => {
  const source = await kubeconfigSource([await put(kubeconfigOf({ user: { token: 'one' } }))]);
  await put(kubeconfigOf({ user: { token: 'two' } }));
  expect((await source.read({ refused: false })).headers).toEqual({ Authorization: 'Bearer two' });
});

test('the program keeps its context when the kubeconfig switches to another', async () => {
  const mine = kubeconfigOf({ user: { token: 'one' } });
  const source = await kubeconfigSource([await put(mine)]);
  await put({ ...mine, 'current-context': 'other' });
  expect((await source.read({ refused: false })).headers).toEqual({ Authorization: 'Bearer one' });
});

test('credentials for another server are never sent to this one', async () => {
  const path = await put(kubeconfigOf({ user: { token: 'one' } }));
  const source = await kubeconfigSource([path]);
  await put(kubeconfigOf({ cluster: { server: 'https://other' }, user: { token: 'two' } }));
  expect(await rejectionOf(source.read({ refused: true }))).toEqual(
    new CredentialError(`the kubeconfig ${path}, context dev now names another server; restart to use it`),
  );
});

/** Returns a plugin that counts its runs, and saves its environment. */
async function pluginWith(status: object): Promise<object> {
  const count = join(folder, 'count');
  await writeFile(
    join(folder, 'plugin.mjs'),
    `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
     appendFileSync(${JSON.stringify(count)}, 'x');
     writeFileSync(${JSON.stringify(join(folder, 'environment'))}, process.env.KUBERNETES_EXEC_INFO + process.env.MORE);
     const status = ${JSON.stringify(status)};
     if (status.token) status.token += readFileSync(${JSON.stringify(count)}).length;
     console.log(JSON.stringify({ kind: 'ExecCredential', status }));`,
  );
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: [join(folder, 'plugin.mjs')],
    env: [{ name: 'MORE', value: 'more' }],
  };
}

test.each([
  ['gives no expiry', {}, 'Bearer t1'],
  ['gives a future expiry', { expirationTimestamp: '2999-01-01T00:00:00Z' }, 'Bearer t1'],
  ['gave expired credentials', { expirationTimestamp: '2000-01-01T00:00:00Z' }, 'Bearer t2'],
])('a plugin that %s is run again only after the expiry', async (_, status, second) => {
  const exec = await pluginWith({ token: 't', ...status });
  const source = await kubeconfigSource([await put(kubeconfigOf({ user: { exec } }))]);
  const [first, again] = [await source.read({ refused: false }), await source.read({ refused: false })];
  expect([first.headers, again.headers]).toEqual([{ Authorization: 'Bearer t1' }, { Authorization: second }]);
  expect(await readFile(join(folder, 'environment'), 'utf8')).toBe(
    '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}more',
  );
});

test('a plugin is run again when the server refuses its credentials', async () => {
  const exec = await pluginWith({ token: 't', expirationTimestamp: '2999-01-01T00:00:00Z' });
  const source = await kubeconfigSource([await put(kubeconfigOf({ user: { exec } }))]);
  await source.read({ refused: false });
  expect((await source.read({ refused: true })).headers).toEqual({ Authorization: 'Bearer t2' });
});

test('a plugin may give a certificate', async () => {
  const { serving } = await stubCertificates();
  const exec = await pluginWith({ clientCertificateData: serving.certPem, clientKeyData: serving.keyPem });
  expect(await readOf({ user: { exec } })).toEqual({
    headers: {},
    tls: { cert: serving.certPem, key: serving.keyPem, rejectUnauthorized: true },
  });
});

test.each<[string, object, string]>([
  ['that is missing', { command: './missing' }, 'ENOENT'],
  ['that fails', { command: process.execPath, args: ['-e', 'throw new Error("canary")'] }, 'no error code'],
  ['that prints other text', { command: process.execPath, args: ['-p', '"canary"'] }, 'no error code'],
  ['that prints no status', { command: process.execPath, args: ['-p', '"{}"'] }, 'no error code'],
  ['without a command', {}, 'no error code'],
])('a plugin %s is named in the message, and its output is not quoted', async (_, exec, reason) => {
  const error = await rejectionOf(readOf({ user: { exec } }));
  expect(error).toBeInstanceOf(CredentialError);
  const { message, stack } = error as CredentialError;
  expect(message.endsWith(`gave no credentials (${reason})`), message).toBe(true);
  expect(stack).not.toContain('canary');
});
