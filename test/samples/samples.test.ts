// The samples: policies and namespaces load, and each review gets the answer that the table in their README says.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch, type Operation } from 'rfc6902';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { loadNamespaceFiles, loadPolicyFiles } from '../../src/state/file-cluster.ts';
import { HttpsClient } from '../support/https-client.ts';
import { responseOf, reviewOf, type Response } from '../support/reviews.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { expectations, type Expectation } from './expectations.ts';

const samples = join(import.meta.dirname, '../../manifests/samples');
const reviews = join(samples, 'reviews');
const files = readdirSync(reviews).toSorted();

describe('the files', () => {
  it('policies and shares load without a problem', async () => {
    const { policies, shares, problems } = await loadPolicyFiles(join(samples, 'policies'));
    expect(problems).toEqual([]);
    expect(policies.map(({ policy }) => policy.metadata.name).toSorted()).toEqual([
      'database-clients',
      'every-namespace',
      'production',
      'sandboxes',
      'team-names',
      'team-namespaces',
      'team-rbac',
      'team-secret-labels',
      'team-secrets',
      'team-tls-advice',
    ]);
    expect(shares.map(({ share }) => share.metadata.name).toSorted()).toEqual([
      'mail-relay',
      'registry-pull',
    ]);
  });

  it('namespaces load without a problem', async () => {
    const { namespaces, problems } = await loadNamespaceFiles(join(samples, 'cluster'));
    expect(problems).toEqual([]);
    expect(namespaces.length).toBeGreaterThan(10);
  });

  it('every review has an expectation, and every expectation a review', () => {
    expect(expectations.map(({ review }) => `${review}.json`).toSorted()).toEqual(files);
  });

  it('the table in the README lists every review with its endpoint and answer', () => {
    const readme = readFileSync(join(samples, 'README.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| `([\w.-]+\.json)`\s*\| (\w+)\s*\| (\w+)\s*\|/gm)];
    const listed = rows.map(([, file, endpoint, answer]) => `${file} ${endpoint} ${answer}`);
    const expected = expectations.map(
      ({ review, endpoint, answer }) => `${review}.json ${endpoint} ${answer}`,
    );
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  it('every policy file is named in the README', () => {
    const readme = readFileSync(join(samples, 'README.md'), 'utf8');
    for (const file of readdirSync(join(samples, 'policies'))) expect(readme).toContain(`(policies/${file})`);
  });

  it('no two reviews have the same uid', () => {
    const uids = files.map((file) => readRequest(file)['uid']);
    expect(new Set(uids).size).toBe(files.length);
  });

  it.each(files)('%s has the fields that the API server sends', (file) => {
    const sent = readRequest(file);
    expect(sent['requestKind']).toEqual(sent['kind']);
    expect(sent['requestResource']).toEqual(sent['resource']);
    expect(sent['requestSubResource']).toBe(sent['subResource']);
    expect(sent['userInfo']).toHaveProperty('groups', expect.arrayContaining(['system:authenticated']));
    expect(sent).toHaveProperty('dryRun');
    expect(sent).toHaveProperty('options.apiVersion', 'meta.k8s.io/v1');
    const object = sent['object'] ?? sent['oldObject'];
    expect(object).toHaveProperty('metadata.name', sent['name']);
    expect(object).toHaveProperty('metadata.managedFields.0.manager');
  });
});

describe('the answers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-samples-'));
  let reeve: ReeveProcess | undefined;
  let client: HttpsClient | undefined;

  beforeAll(async () => {
    const state = ['--policies', join(samples, 'policies'), '--cluster-state', join(samples, 'cluster')];
    const ports = ['--port', '0', '--probes-port', '0', '--certs-dir', folder];
    await new ReeveProcess(['certs', '--out', folder]).ended();
    reeve = new ReeveProcess(['serve', ...state, ...ports]);
    const { port } = await reeve.ready();
    client = new HttpsClient(port, readFileSync(join(folder, 'ca.crt'), 'utf8'));
  });

  afterAll(async () => {
    client?.close();
    await reeve?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  async function ask(endpoint: string, body: string | Buffer): Promise<Response> {
    const answer = await client?.post(`/${endpoint}`, body);
    return responseOf(answer?.body ?? '');
  }

  it('the ready line reports no refused policies', () => {
    expect(reeve?.stdout).toMatch(/10 policies loaded, 0 refused, \d+ namespaces\n$/);
  });

  it.each(expectations)('$review: $answer', async (expectation) => {
    const file = `${expectation.review}.json`;
    const response = await ask(expectation.endpoint, readFileSync(join(reviews, file)));
    expect(response.uid).toBe(readRequest(file)['uid']);
    expect(summaryOf(response)).toEqual(expectedSummary(expectation));
    const starts = expectation.warnings ?? [];
    const warnings = (response.warnings ?? []).map((text, index) => text.slice(0, starts[index]?.length));
    expect(warnings).toEqual(starts);
  });

  it.each(expectations.filter(({ patch }) => patch !== undefined))(
    '$review: the patched object is allowed',
    async ({ review, patch }) => {
      const sent = structuredClone(readRequest(`${review}.json`));
      expect(applyPatch(sent['object'], patch as Operation[])).toEqual(patch?.map(() => null));
      const response = await ask('validate', JSON.stringify(reviewOf(sent)));
      expect(summaryOf(response)).toEqual({ allowed: true, code: undefined, causes: [], patch: [] });
    },
  );
});

interface Summary {
  readonly allowed: boolean;
  readonly code: number | undefined;
  readonly causes: readonly string[];
  readonly patch: readonly unknown[];
}

function expectedSummary({ answer, causes = [], patch = [] }: Expectation): Summary {
  const codes = { allowed: undefined, warned: undefined, patched: undefined, refused: 403, unavailable: 503 };
  const code = codes[answer];
  return { allowed: code === undefined, code, causes, patch };
}

function summaryOf({ allowed, status, patch }: Response): Summary {
  const causes = status?.details['causes'];
  return {
    allowed,
    code: status?.code,
    causes: Array.isArray(causes) ? causes.filter(isJsonObject).map(causeOf) : [],
    patch: patch === undefined ? [] : (JSON.parse(Buffer.from(patch, 'base64').toString()) as unknown[]),
  };
}

/** `policy, rule: path` */
function causeOf({ message, field }: JsonObject): string {
  const named = /\(policy ([\w-]+), ([\w./-]+)\)$/.exec(String(message));
  return `${named?.[1]}, ${named?.[2]}: ${String(field)}`;
}

function readRequest(file: string): JsonObject {
  const review: unknown = JSON.parse(readFileSync(join(reviews, file), 'utf8'));
  const sent = isJsonObject(review) ? review['request'] : undefined;
  if (!isJsonObject(sent)) throw new Error(`${file} has no request`);
  return sent;
}
