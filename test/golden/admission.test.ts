// Golden fixtures of admission: what each request is answered, under the policies and the cluster of its folder.
//
// `npm run test:update` writes the expected answers anew; then read the difference.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../src/admission/answer.ts';
import { malformed } from '../../src/admission/answer.ts';
import { Deadline } from '../../src/admission/http/deadline.ts';
import { decodeReview } from '../../src/admission/decode/decode-review.ts';
import { judgeReview } from '../../src/admission/judge-review.ts';
import type { Endpoint } from '../../src/admission/ports.ts';
import { mastersGroup, systemNamespaces } from '../../src/api/names.ts';
import { RULES } from '../../src/api/namespace-policy/namespace-policy.ts';
import { stringifyYaml } from '../../src/base/yaml.ts';
import { ShareSet } from '../../src/policy/compile/share-set.ts';
import { PolicySet } from '../../src/policy/compile/policy-set.ts';
import type { ClusterSnapshot } from '../../src/policy/compile/snapshot.ts';
import { clusterSnapshot } from '../../src/state/cluster-snapshot.ts';
import { loadNamespaceFiles } from '../../src/state/namespace-files.ts';
import { loadPolicyFiles } from '../../src/state/policy-files.ts';
import { testInstall } from '../support/engine.ts';
import { fixtureFolders, readRequest, reviewBody, type FixtureFolder } from '../support/admission-case.ts';

const now = new Date('2026-11-21T12:00:00Z');
const folders = fixtureFolders();

const ports = {
  namespaces: { find: () => Promise.resolve(undefined) },
  access: {
    mayDo: ({ groups }: { readonly groups: readonly string[] }) =>
      Promise.resolve(groups.includes(mastersGroup) ? ('yes' as const) : ('no' as const)),
  },
  clock: { now: () => now, monotonic: () => 0 },
  evaluationMs: 1000,
  install: testInstall,
};

async function load({ path }: FixtureFolder): Promise<ClusterSnapshot> {
  const { policies, shares, problems } = await loadPolicyFiles(join(path, 'policies.yaml'));
  expect(problems).toEqual([]);
  const cluster = join(path, 'cluster.yaml');
  const loaded = existsSync(cluster) ? await loadNamespaceFiles(cluster) : { namespaces: [], problems: [] };
  expect(loaded.problems).toEqual([]);
  const set = new PolicySet(
    policies.map(({ compiled }) => compiled),
    { excludedNamespaces: systemNamespaces },
  );
  return clusterSnapshot(set, new ShareSet(shares.map(({ compiled }) => compiled)), loaded.namespaces);
}

async function answerOf(
  endpoint: Endpoint,
  body: Buffer,
  snapshot: ClusterSnapshot,
): Promise<Answer | 'passed'> {
  const decoded = decodeReview(body, endpoint);
  switch (decoded.kind) {
    case 'review':
      return await judgeReview(endpoint, decoded.review, snapshot, ports, new Deadline(ports.clock, 5000));
    case 'faulty':
      return malformed(decoded.fault);
    case 'passed':
      return 'passed';
    case 'unreadable':
      throw new Error('a fixture must be readable');
    default:
      return decoded satisfies never;
  }
}

/** The parts of an answer that a person would compare, without those that are empty. */
function shown(answer: Answer | 'passed'): unknown {
  if (answer === 'passed') return answer;
  const { refusal, patch, warnings, auditAnnotations } = answer;
  return {
    ...(refusal === undefined
      ? { allowed: true }
      : { allowed: false, code: refusal.code, reason: refusal.reason, message: refusal.message }),
    ...(patch.length === 0 ? {} : { patch }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(Object.keys(auditAnnotations).length === 0 ? {} : { auditAnnotations }),
  };
}

describe.each(folders)('$name', (folder) => {
  test.each(folder.cases.map((name) => ({ name })))('$name', async ({ name }) => {
    const snapshot = await load(folder);
    const body = reviewBody(readRequest(folder, name));
    const validate = await answerOf('validate', body, snapshot);
    const mutate = await answerOf('mutate', body, snapshot);
    const isAllowed = validate !== 'passed' && validate.refusal === undefined;
    expect(name).toMatch(isAllowed ? /^(allow|warn)/ : /^deny/);
    await expect(stringifyYaml({ validate: shown(validate), mutate: shown(mutate) })).toMatchFileSnapshot(
      join('..', '..', folder.path, `${name}.expected.yaml`),
    );
  });

  test('it has a case that is allowed and one that is refused, and no file of neither kind', () => {
    expect(folder.cases.some((name) => name.startsWith('allow'))).toBe(true);
    expect(folder.cases.some((name) => name.startsWith('deny'))).toBe(true);
    const known = new Set([
      'policies.yaml',
      'cluster.yaml',
      ...folder.cases.flatMap((name) => [`${name}.request.yaml`, `${name}.expected.yaml`]),
    ]);
    expect(folder.files.filter((file) => !known.has(file))).toEqual([]);
  });
});

test('every rule has a folder, and every other folder is one of the engine as a whole', () => {
  const names = folders.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...RULES, 'validations']));
  const others = names.filter(
    (name) => !(RULES as readonly string[]).includes(name) && name !== 'validations',
  );
  expect(others.toSorted()).toEqual([
    'actions',
    'exceptions',
    'match',
    'mutation',
    'owners.authors',
    'owners.fuse',
    'owners.match',
    'owners.reach',
    'owners.spec',
    'steering',
    'steering-by-share',
  ]);
});
