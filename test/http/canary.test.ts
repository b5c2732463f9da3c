// A marked value goes through every path at the most talkative level, and is then found nowhere: output, answers, metrics.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { HttpsClient, type HttpAnswer } from '../support/https-client.ts';
import {
  bindingObject,
  namespaceObject,
  reviewJson,
  roleObject,
  secretObject,
  type Json,
} from '../support/reviews.ts';
import { folderOf, ReeveProcess, type TestFolder } from '../support/serve-process.ts';
import { exchange } from '../support/tls-client.ts';

const canary = 'c4n4ryc4n4ryc4n4ry';
const encoded = Buffer.from(canary).toString('base64');
// Whatever the place of the canary in a longer text, one of these is in the base64 of that text.
const traces = [
  canary,
  ...[0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + canary)
      .toString('base64')
      .slice(4, -4),
  ),
];

const policy = `
apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: {name: strict}
spec:
  match: {names: [team-a]}
  validationActions: [Deny, Warn, Audit]
  secrets:
    forbiddenTypes: [example.com/forbidden]
    maxBytes: 10
    tls: {keyMatchesCertificate: true, minRemaining: 168h, minRsaBits: 2048}
    dockerConfig: {allowedRegistries: [registry.example.com]}
    defaults: {labels: {team: a}}
  rbac: {allowedRoleRefs: [ClusterRole/view], forbidWildcardRules: true}
`;

let folder: TestFolder;
let server: ReeveProcess;
let client: HttpsClient;
let ports: { readonly port: number; readonly probesPort: number };
const answers: HttpAnswer[] = [];

beforeAll(async () => {
  folder = await folderOf({
    'policies/strict.yaml': policy,
    'cluster/namespaces.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n',
  });
  server = new ReeveProcess([
    'serve',
    `--policies=${join(folder.path, 'policies')}`,
    `--cluster-state=${join(folder.path, 'cluster')}`,
    '--port=0',
    '--probes-port=0',
    '--log-level=trace',
    '--drain-grace=0s',
  ]);
  ports = await server.ready();
  client = new HttpsClient(ports.port);
});
afterAll(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

async function send(
  body: string,
  headers: Readonly<Record<string, string>> = { 'Content-Type': 'application/json' },
): Promise<void> {
  for (const path of ['/validate', '/mutate']) answers.push(await client.post(path, body, headers));
}

const pem = `-----BEGIN CERTIFICATE-----\n${encoded}\n-----END CERTIFICATE-----\n`;
const key = `-----BEGIN PRIVATE KEY-----\n${encoded}\n-----END PRIVATE KEY-----\n`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const auths = (registry: string): string =>
  JSON.stringify({ auths: { [registry]: { auth: encoded, password: canary, username: canary } } });

const secrets: readonly Json[] = [
  secretObject({ type: 'example.com/forbidden', data: { a: encoded } }),
  secretObject({ data: { [canary]: encoded } }),
  secretObject({ data: { a: `%${canary}` } }),
  secretObject({ stringData: { a: canary } }),
  secretObject({ data: { a: encoded }, stringData: { a: canary } }),
  secretObject({ data: { a: [canary] } }),
  secretObject({ stringData: [canary] }),
  secretObject({ type: 'kubernetes.io/tls', data: { 'tls.crt': base64(pem), 'tls.key': base64(key) } }),
  secretObject({ type: 'kubernetes.io/tls', stringData: { 'tls.crt': pem, 'tls.key': canary } }),
  secretObject({ type: 'kubernetes.io/tls', data: { 'tls.crt': encoded, 'tls.key': `${canary}%` } }),
  secretObject({
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': base64(auths('other.example.com')) },
  }),
  secretObject({
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': `{"auths": {"${canary}` },
  }),
  secretObject({ type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': `${canary}%` } }),
  secretObject({ type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': auths('other.example.com') } }),
  secretObject(
    {},
    { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data: canary }) } },
  ),
  secretObject({}, { annotations: { note: [canary] } }),
  secretObject({}, { labels: { [canary]: 5 } }),
  secretObject({}, { ownerReferences: [canary] }),
];

/** How many lines of the log have this message. */
const linesSaying = (message: string): number => server.stderr.split(`"msg":"${message}"`).length - 1;

test('no answer, metric or log line repeats the content of a request', async () => {
  for (const secret of secrets) {
    await send(reviewJson(secret));
    await send(reviewJson(secret, { operation: 'UPDATE', oldObject: secret }));
    await send(reviewJson(secret, { operation: 'DELETE', object: null, oldObject: secret }));
    await send(reviewJson(secret, { namespace: 'elsewhere' }));
    await send(reviewJson(secret, { userInfo: { username: 'a', groups: canary } }));
    await send(reviewJson(secret, { dryRun: canary, options: { note: canary } }));
    await send(reviewJson(secret).slice(0, -2));
    await send(`${reviewJson(secret)}${canary}`);
  }
  await send(canary);
  await send(`{"${canary}": ${canary}}`);
  await send(JSON.stringify({ apiVersion: canary, kind: canary, request: { uid: canary } }));
  await send(canary, { 'Content-Type': canary });
  await send(canary, { 'Content-Type': 'application/json', 'Content-Encoding': canary });
  await send(canary, { 'Content-Type': 'application/json', Expect: '100-continue' });
  await send(reviewJson(bindingObject({ roleRef: { kind: canary, name: canary } })));
  await send(reviewJson(roleObject({ rules: [canary] })));
  await send(reviewJson(namespaceObject('team-a', { finalizers: canary })));
  answers.push(
    await client.post(`/${canary}`, canary),
    await client.post(`/validate?timeout=${canary}`, canary),
  );
  const raw = `POST /validate HTTP/1.1\r\nHost: ${canary}\r\n`;
  const texts = [
    await exchange(ports.port, `${canary} /${canary} HTTP/1.1\r\n\r\n`),
    await exchange(ports.port, `${raw}Connection: close\r\n${canary}\r\n\r\n`),
    await exchange(ports.port, `${raw}Connection: close\r\nExpect: ${canary}\r\n\r\n`),
    await exchange(ports.port, `${raw}X: ${canary.repeat(2000)}\r\n\r\n`),
  ];
  const reviews = answers.filter(({ code }) => code === 200).length;
  expect(reviews).toBeGreaterThan(100);
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([200, 400, 404, 415]));

  const metrics = await (await fetch(`http://127.0.0.1:${ports.probesPort}/metrics`)).text();
  expect(metrics).toContain('reeve_internal_errors_total 0');
  // Every line is there before the server is stopped: it waits for its log, but not for ever.
  await eventually(() => linesSaying('decision')).toBe(reviews);
  await eventually(() => linesSaying('request refused')).toBe(answers.length - reviews + texts.length);
  server.kill('SIGTERM');
  const { code, stdout, stderr } = await server.ended();
  expect(code).toBe(0);

  const everything = [
    ...answers.map(({ body, headers }) => body + JSON.stringify(headers)),
    ...texts,
    metrics,
    stdout,
    stderr,
  ];
  for (const text of everything) {
    const patches = [...text.matchAll(/"patch":"([^"]*)"/g)].map(([, patch]) =>
      Buffer.from(patch ?? '', 'base64').toString(),
    );
    for (const trace of traces) expect(`${text}${patches.join('')}`).not.toContain(trace);
  }
});
