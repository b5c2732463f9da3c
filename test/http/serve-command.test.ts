// `reeve serve` as people run it: what it prints, how it starts, how it does not, how it ends.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { HttpsClient } from '../support/https-client.ts';
import { namespaceObject, responseOf, reviewJson } from '../support/reviews.ts';
import { folderOf, ReeveProcess, type TestFolder } from '../support/serve-process.ts';
import { openTls, readAll } from '../support/tls-client.ts';

const policy = (name: string, spec: string): string =>
  `apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

let folder: TestFolder;
const anyPort = ['--port', '0', '--probes-port', '0'];

beforeAll(async () => {
  folder = await folderOf({
    'policies/good.yaml': policy('good', '{namespaces: {required: {labels: {team: {}}}}}'),
    'policies/bad.yaml': policy('bad', '{namespaces: {required: {labels: {team: 5}}}}'),
    'cluster/namespaces.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n',
  });
});
afterAll(() => folder[Symbol.asyncDispose]());

function reeve(args: readonly string[], env: Readonly<Record<string, string>> = {}): ReeveProcess {
  const started = new ReeveProcess(args, env);
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

function serve(...args: readonly string[]): ReeveProcess {
  return reeve(['serve', '--policies', join(folder.path, 'policies'), ...anyPort, ...args]);
}

async function probe(port: number, path: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

describe('starting', () => {
  test('it prints one line when it is ready, and the problems of policies', async () => {
    const server = serve('--cluster-state', join(folder.path, 'cluster'));
    const { port, probesPort } = await server.ready();
    expect(server.stdout).toBe(
      `reeve answers on https://127.0.0.1:${port}/validate and https://127.0.0.1:${port}/mutate ` +
        `(probes on http://127.0.0.1:${probesPort}): 1 policies loaded, 1 refused, 1 namespaces\n`,
    );
    expect(server.stderr).toMatch(/bad\.yaml:\d+:\d+: policy bad: /);
    expect(await probe(probesPort, '/readyz')).toBe(200);
    expect(await probe(probesPort, '/livez')).toBe(200);
    const metrics = await (await fetch(`http://127.0.0.1:${probesPort}/metrics`)).text();
    expect(metrics).toContain('reeve_policies{state="loaded"} 1');
    expect(metrics).toContain('reeve_policies{state="refused"} 1');
    const client = new HttpsClient(port);
    const { status } = responseOf(
      (await client.post('/validate', reviewJson(namespaceObject('team-b')))).body,
    );
    expect(status?.message).toContain('policy good, namespaces.required');
    client.close();
  });

  test('it logs one line of JSON for a decision, without content of the object', async () => {
    const server = serve();
    const client = new HttpsClient((await server.ready()).port);
    await client.post(
      '/validate',
      reviewJson(namespaceObject('team-b', { annotations: { note: 'c4n4ry' } })),
    );
    client.close();
    await eventually(() => server.stderr).toContain('"decision"');
    const line = server.stderr.split('\n').find((each) => each.includes('"msg":"decision"'));
    expect(JSON.parse(line ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown,
      msg: 'decision',
      uid: expect.any(String) as unknown,
      endpoint: 'validate',
      resource: 'namespaces',
      namespace: 'team-b',
      name: 'team-b',
      operation: 'CREATE',
      user: 'alice',
      decision: 'denied',
      policies: ['good'],
      rules: ['Deny:good:namespaces.required'],
      ms: expect.any(Number) as unknown,
    });
  });

  test('it serves with the certificates that reeve certs has written', async () => {
    const certs = join(folder.path, 'certs');
    const written = await reeve(['certs', '--out', certs]).ended();
    expect(written.code).toBe(0);
    const server = serve('--certs-dir', certs);
    const { port } = await server.ready();
    const client = new HttpsClient(port, await readFile(join(certs, 'ca.crt'), 'utf8'));
    onTestFinished(() => client.close());
    expect((await client.post('/validate', 'no review')).code).toBe(400);
  });

  test('it reads settings from the environment', async () => {
    const env = {
      REEVE_POLICIES: join(folder.path, 'policies'),
      REEVE_PORT: '0',
      REEVE_PROBES_PORT: '0',
      REEVE_LOG_LEVEL: 'silent',
    };
    const server = reeve(['serve'], env);
    const { port } = await server.ready();
    expect(port).toBeGreaterThan(0);
  });
});

describe('a start that fails', () => {
  test('a folder without certificates gives one line with the command that creates them, and exit code 3', async () => {
    const certs = join(folder.path, 'none');
    const { code, stdout, stderr } = await serve('--certs-dir', certs).ended();
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toBe(`${certs} holds no certificates; reeve certs --out ${certs} makes them\n`);
  });

  test('a missing folder gives one line and exit code 3', async () => {
    const { code, stdout, stderr } = await reeve(['serve', '--policies', '/nowhere', ...anyPort]).ended();
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^\/nowhere cannot be read: .*\n$/);
  });

  test.each(['--port', '--probes-port'])('%s that is in use gives one line and exit code 3', async (flag) => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stdout, stderr } = await serve(flag, String(port)).ended();
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(
        `^cannot listen on 127\\.0\\.0\\.1:${port}: another program listens there \\(EADDRINUSE\\)\n$`,
      ),
    );
  });

  test('missing certificate files give one line and exit code 3', async () => {
    const { code, stderr } = await serve('--tls-cert', '/nowhere/a', '--tls-key', '/nowhere/b').ended();
    expect(code).toBe(3);
    expect(stderr).toMatch(/^cannot read file \/nowhere\/a \(ENOENT\)\n$/);
  });

  test('all wrong flags are listed, with exit code 2', async () => {
    const { code, stdout, stderr } = await reeve(['serve', '--prot', '1', '--log-level', 'x']).ended();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n')).toHaveLength(5);
  });

  test('help is printed to standard output', async () => {
    expect(await reeve(['serve', '--help']).ended()).toMatchObject({ code: 0, stderr: '' });
    expect((await reeve(['--help']).ended()).stdout).toContain('Usage: reeve COMMAND');
  });
});

/** A request that the server has begun with, and that waits for its body: the client asks before it sends. */
async function requestUnderWay(port: number): Promise<{ finish: () => void; answer: Promise<string> }> {
  const review = reviewJson(namespaceObject('team-a', { labels: { team: 'a' } }));
  const socket = await openTls(port);
  const answer = readAll(socket);
  socket.write(
    'POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n' +
      `Content-Length: ${review.length}\r\n\r\n`,
  );
  await once(socket, 'data');
  return { finish: () => void socket.write(review), answer };
}

describe('ending', () => {
  test('SIGTERM makes it not ready at once, and it ends with exit code 0 after the open requests are answered', async () => {
    const server = serve('--drain-grace', '0s');
    const { port, probesPort } = await server.ready();
    const { finish, answer } = await requestUnderWay(port);
    server.kill('SIGTERM');
    await eventually(() => probe(probesPort, '/readyz')).toBe(503);
    expect(await probe(probesPort, '/livez')).toBe(200);
    await eventually(() => openTls(port).catch((error: unknown) => error)).toMatchObject({
      code: 'ECONNREFUSED',
    });
    finish();
    expect(await answer).toContain('"allowed":true');
    expect((await server.ended()).code).toBe(0);
  });

  test('SIGINT ends it at once with exit code 0', async () => {
    const server = serve('--drain-grace', '10m');
    await server.ready();
    server.kill('SIGINT');
    expect((await server.ended()).code).toBe(0);
  });

  test('a second signal ends the drain', async () => {
    const server = serve('--drain-grace', '10m');
    const { probesPort } = await server.ready();
    server.kill('SIGTERM');
    await eventually(() => probe(probesPort, '/readyz')).toBe(503);
    // At first it passes for an echo of the first one; sooner or later it does not.
    await eventually(() => {
      server.kill('SIGTERM');
      return server.hasEnded;
    }).toBe(true);
    expect((await server.ended()).code).toBe(1);
  });

  test('it ends even if its log is not read', async () => {
    const args = ['src/main.ts', 'serve', '--policies', join(folder.path, 'policies'), ...anyPort];
    const child = spawn(process.execPath, [...args, '--drain-grace', '0s'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const client = new HttpsClient(Number(/:(\d+)\/validate/.exec(String(line))?.[1]));
    const review = reviewJson(namespaceObject('n'.repeat(60)));
    // More lines than a pipe and the buffer of the log hold, and none of them is read.
    for (let call = 0; call < 1000; call++) expect((await client.post('/validate', review)).code).toBe(200);
    client.close();
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  test('a signal that arrives twice, from the terminal and from npm, counts once', async () => {
    const server = serve('--drain-grace', '0s');
    const { port, probesPort } = await server.ready();
    const { finish, answer } = await requestUnderWay(port);
    server.kill('SIGTERM');
    server.kill('SIGTERM');
    await eventually(() => probe(probesPort, '/readyz')).toBe(503);
    finish();
    expect(await answer).toContain('"allowed":true');
    expect((await server.ended()).code).toBe(0);
  });
});
