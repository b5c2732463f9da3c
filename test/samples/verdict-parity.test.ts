// The webhook, `reeve test` and the audit give the same verdicts: on each sample review, and on each namespace in one.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch, type Operation } from 'rfc6902';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/base/metadata.ts';
import { auditNamespace } from '../../src/policy/decide/audit.ts';
import { unlimitedBudget } from '../../src/policy/terms/budget.ts';
import { loadPolicyFiles } from '../../src/state/file-cluster.ts';
import { HttpsClient } from '../support/https-client.ts';
import { responseOf, reviewOf, type Json, type Response } from '../support/reviews.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { expectations } from './expectations.ts';

const samples = join(import.meta.dirname, '../../manifests/samples');
const policies = join(samples, 'policies');
const cluster = join(samples, 'cluster');
/** Without the one whose namespace is unknown: the webhook asks for a retry, and a suite has nothing to retry. */
const files = expectations
  .filter(({ answer }) => answer !== 'unavailable')
  .map(({ review }) => `${review}.json`);
/** Rules that ask who writes, or what else there is. The audit of an object knows neither. */
const aboutWrites = new Set(['namespaces.requesters', 'namespaces.quota', 'steering']);

const folder = mkdtempSync(join(tmpdir(), 'reeve-parity-'));
let reeve: ReeveProcess | undefined;
let client: HttpsClient | undefined;

beforeAll(async () => {
  await new ReeveProcess(['certs', '--out', folder]).ended();
  const state = ['--policies', policies, '--cluster-state', cluster];
  reeve = new ReeveProcess(['serve', ...state, '--port=0', '--probes-port=0', '--certs-dir', folder]);
  const { port } = await reeve.ready();
  client = new HttpsClient(port, readFileSync(join(folder, 'ca.crt'), 'utf8'));
});
afterAll(async () => {
  client?.close();
  await reeve?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

interface Answered {
  readonly response: Response;
  readonly warnings: readonly string[];
  readonly object: unknown;
}

/** Asks both webhooks, as the API server does: the second one sees what the first one has changed. */
async function answerOf(request: Json): Promise<Answered> {
  const ask = async (endpoint: string, sent: Json): Promise<Response> => {
    const answer = await client?.post(`/${endpoint}`, JSON.stringify(reviewOf(sent)));
    return responseOf(answer?.body ?? '');
  };
  const sent = structuredClone(request);
  const { patch, warnings = [] } = await ask('mutate', sent);
  if (patch !== undefined)
    applyPatch(sent['object'], JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[]);
  const response = await ask('validate', sent);
  return { response, warnings: [...warnings, ...(response.warnings ?? [])], object: sent['object'] };
}

/** The same answer, as what a suite expects. */
function expectationOf({ response, warnings, object }: Answered): Json {
  const message = response.status?.message;
  if (!response.allowed) return { verdict: 'refused', message: `^\\Q${message}\\E$` };
  const isDeletion = object === null || object === undefined;
  return {
    verdict: warnings.length > 0 ? 'warned' : 'allowed',
    warnings: warnings.length,
    ...(isDeletion ? {} : { object }),
  };
}

async function runSuite(tests: readonly Json[], objects: readonly string[] = [cluster]): Promise<unknown> {
  const suite = join(folder, 'suite.yaml');
  const head = { apiVersion: 'cli.reeve.dev/v1', kind: 'Suite', policies: [policies], objects };
  writeFileSync(suite, JSON.stringify({ ...head, tests }));
  const { stdout, stderr } = await new ReeveProcess(['test', suite, '-o=json']).ended();
  expect(stderr).toBe('');
  const { passed, suites } = JSON.parse(stdout) as { passed: number; suites: readonly { tests: Json[] }[] };
  return { passed, failed: suites.flatMap((each) => each.tests).filter((each) => each['passed'] !== true) };
}

const reviewIn = (file: string): Json =>
  (JSON.parse(readFileSync(join(samples, 'reviews', file), 'utf8')) as { readonly request: Json }).request;

describe('on the samples', () => {
  test('each review has the same answer from the webhook and from reeve test', async () => {
    expect(files).toHaveLength(readdirSync(join(samples, 'reviews')).length - 1);
    const tests: Json[] = [];
    for (const file of files) {
      const expected = expectationOf(await answerOf(reviewIn(file)));
      tests.push({ name: file, request: { file: join(samples, 'reviews', file) }, expect: expected });
    }
    const verdicts = tests.map((each) => (each['expect'] as Json)['verdict']);
    expect(new Set(verdicts)).toEqual(new Set(['allowed', 'warned', 'refused']));
    expect(await runSuite(tests)).toEqual({ passed: files.length, failed: [] });
  });

  test('each namespace that a review creates breaks the same rules for the webhook, the audit and reeve test', async () => {
    const { policies: loaded } = await loadPolicyFiles(policies);
    const circumstances = { now: new Date(), budget: unlimitedBudget };
    const created = new Map<string, Json>();
    for (const request of files.map(reviewIn))
      if (request['operation'] === 'CREATE' && (request['kind'] as Json)['kind'] === 'Namespace')
        created.set(String(request['name']), request);
    const tests: Json[] = [];
    const items: KubeObject[] = [];
    for (const [name, request] of created) {
      const { response, warnings, object: stored } = await answerOf(request);
      const object = stored as KubeObject;
      items.push(object);
      const violations = loaded.flatMap(
        ({ compiled }) => auditNamespace(compiled, object, circumstances).violations,
      );
      const audited = new Set(violations.map(({ rule }) => rule));
      expect(rulesIn(response, warnings), name).toEqual(audited);
      tests.push({ name, namespace: name, expect: { violations: [...audited] } });
    }
    const named = tests.flatMap((each) => (each['expect'] as { violations: readonly string[] }).violations);
    expect(new Set(named).size).toBeGreaterThan(3);
    const objects = join(folder, 'created.json');
    writeFileSync(objects, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    expect(await runSuite(tests, [objects])).toEqual({ passed: tests.length, failed: [] });
  });
});

/** The rules that the webhook names, without those that ask who writes, or what else there is. */
function rulesIn({ status }: Response, warnings: readonly string[]): ReadonlySet<string> {
  const causes = (status?.details['causes'] ?? []) as readonly { readonly message: string }[];
  const texts = [...causes.map(({ message }) => message.replace(/.*\((policy .*)\)$/s, '$1:')), ...warnings];
  const rules = texts.flatMap((text) => /^policy [\w-]+, ([\w./-]+):/.exec(text)?.[1] ?? []);
  return new Set(rules.filter((rule) => !aboutWrites.has(rule)));
}
