// A client that reaches the port of the webhook cannot stop it, learn anything or change anything. API servers keep calling it.
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { HttpsClient } from '../support/https-client.ts';
import { namespaceObject as reviewed, responseOf, reviewJson } from '../support/reviews.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { openTls } from '../support/tls-client.ts';
import { until } from '../support/until.ts';
import { configMap, namespaceObject, policy } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const mebibyte = 1024 * 1024;
const head = 'POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describeControllers('hostile clients', () => {
  const stage = new Stage(sharedCluster(), 'hc-');
  const { admin } = stage.cluster;
  const reeve = withReeve(stage);
  let client: HttpsClient;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    client = new HttpsClient(reeve.process.port);
    await stage.apply(
      policy('hc-rules', {
        match: { names: ['hc-*'] },
        namespaces: { required: { labels: { team: {} }, annotations: { note: { pattern: '^(a+)+$' } } } },
        contents: { resources: [configMap('settings', { by: 'reeve' })] },
      }),
    );
    await until(
      async () => (await create('hc-no', {})).status === 403,
      () => 'the policy is in force',
    );
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => client.close());

  /** Creates a Namespace as a dry run, so that the same request can be sent again and again. */
  async function create(
    name: string,
    metadata: object,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const object = { metadata: { name, ...metadata } };
    const { status, body } = await admin.send('POST', '/api/v1/namespaces?dryRun=All', object);
    return { status, text: JSON.stringify(body) };
  }

  const good = { labels: { team: 'a' }, annotations: { note: 'aaa' } };

  /** Sends requests through the API server, which gives up after five seconds. */
  async function expectJudged(): Promise<void> {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create(`hc-judged-${index}`, index % 2 === 0 ? good : {})),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      answers.map((_, index) => (index % 2 === 0 ? 201 : 403)),
    );
    for (const { text } of answers) expect(text).not.toContain('failed calling webhook');
  }

  async function open(count: number): Promise<readonly Socket[]> {
    const opened = await Promise.all(Array.from({ length: count }, () => openTls(reeve.process.port)));
    sockets.push(...opened);
    return opened;
  }

  test('floods of bytes take no memory, and nothing from other clients', async () => {
    const before = (await reeve.process.metric('process_resident_memory_bytes')) ?? NaN;
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(mebibyte, 0x20),
      Buffer.from('\r\n'),
    ]);
    for (const [index, socket] of (await open(60)).entries()) {
      const announced = index % 2 === 0;
      socket.write(
        `${head}${announced ? `Content-Length: ${8 * mebibyte}` : 'Transfer-Encoding: chunked'}\r\n\r\n`,
      );
      for (let round = 0; round < 9; round++) socket.write(announced ? chunk.subarray(8) : chunk);
    }
    await expectJudged();
    await until(
      () => Promise.resolve(sockets.every((socket) => socket.destroyed || socket.bytesRead > 0)),
      () => 'each is answered or cut off',
    );
    const after = (await reeve.process.metric('process_resident_memory_bytes')) ?? NaN;
    // Without a limit, the bodies would take 60 times 8 MiB, which is 480 MiB.
    expect(after - before).toBeLessThan(300 * mebibyte);
    expect(await reeve.process.isReady()).toBe(true);
  });

  test('nearly 2,000 slow clients take little memory and do not delay others: half handshakes, half headers, half bodies', async () => {
    const before = (await reeve.process.metric('process_resident_memory_bytes')) ?? NaN;
    // With the connections of the API server this stays below the limit of connections.
    for (let count = 0; count < 1800; count++) {
      const socket = connect(reeve.process.port, '127.0.0.1').on('error', () => undefined);
      // Sends the first bytes of a handshake.
      socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
      sockets.push(socket);
    }
    for (const socket of await open(50)) socket.write('POST /validate HTTP/1.1\r\nHost');
    for (const socket of await open(50)) socket.write(`${head}Content-Length: 100000\r\n\r\n{`);
    await expectJudged();
    await expectJudged();
    const after = (await reeve.process.metric('process_resident_memory_bytes')) ?? NaN;
    expect(after - before).toBeLessThan(150 * mebibyte);
    expect(await reeve.process.isReady()).toBe(true);
  });

  test('colliding keys and bodies that are no review are answered, without any other effect', async () => {
    const keys = Object.fromEntries(
      Array.from({ length: 200_000 }, (_, index) => [String(index * 2 ** 16), 'x']),
    );
    const [answer] = await Promise.all([
      client.post('/validate', reviewJson(reviewed('hc-keys', { annotations: keys }))),
      expectJudged(),
    ]);
    expect(responseOf(answer.body).allowed).toBe(false);
    for (const body of [
      '',
      'null',
      '[]',
      '{',
      '{"kind":"AdmissionReview"}',
      '{"__proto__":{"allowed":true}}',
    ])
      expect((await client.post('/validate', body)).code).toBe(400);
    await expectJudged();
  });

  test('other paths are never redirected, and the port shows no metrics', async () => {
    for (const path of [
      '/',
      '/validate/',
      '//validate',
      '/%2e%2e/validate',
      '/metrics',
      '/livez',
      '/readyz',
      '//example.com',
    ])
      for (const method of ['GET', 'POST']) {
        const { code, headers } = await client.call({ method, path });
        expect(`${method} ${path} ${code} ${headers.location}`).toBe(`${method} ${path} 404 undefined`);
      }
  });

  test('made-up reviews get answers about rules, without any effect', async () => {
    // A client can write any user into its review.
    const userInfo = { username: 'admin', groups: ['system:masters'] };
    const made = await client.post('/validate', reviewJson(reviewed('hc-made-up', good), { userInfo }));
    expect(responseOf(made.body).allowed).toBe(true);
    await stage.applyInEmergency(namespaceObject('hc-later', good.labels));
    const settings = { kind: 'ConfigMap', name: 'settings', namespace: 'hc-later' } as const;
    // When this ConfigMap exists, Reeve would also have written one for the invented namespace.
    await until(
      async () => (await stage.ownersOf(settings))[0] === 'NamespacePolicy/hc-rules',
      () => 'a real namespace gets its contents',
    );
    expect(await stage.reeveAttempts('hc-made-up')).toEqual([]);
    expect(await stage.get({ kind: 'Namespace', name: 'hc-made-up' })).toBeUndefined();
  });

  test('a pattern that is slow in other engines is judged at once, and an unsupported pattern is refused', async () => {
    const note = `${'a'.repeat(200 * 1024)}!`;
    const { status, text } = await create('hc-pattern', { ...good, annotations: { note } });
    // After 5 s the API server would give up, and name no rule.
    expect(status).toBe(403);
    expect(text).toContain('namespaces.required');
    const back = { match: { names: ['hc-*'] }, namespaces: { name: { pattern: String.raw`^(.)\1$` } } };
    const refused = await stage.tryApply([policy('hc-back', back)]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('spec.namespaces.name.pattern') as string,
    });
    // Written without the webhook, so this policy is invalid and not in force. The other policies are in force.
    await stage.applyInEmergency(policy('hc-back', back));
    await until(
      async () => (await stage.condition({ kind: 'NamespacePolicy', name: 'hc-back' })) === 'False Invalid',
      () => 'it is known to be invalid',
    );
    await expectJudged();
  });
});
