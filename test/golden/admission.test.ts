// Golden cases of admission: the answer to each request, under the policies and the cluster of its folder.
//
// `npm run test:update` rewrites each expected.yaml; then read the difference.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { malformed, type Answer } from '../../src/admission/answer.ts';
import { Deadline } from '../../src/base/clock.ts';
import { decodeReview } from '../../src/admission/decode/decode-review.ts';
import { judgeReview } from '../../src/admission/judge-review.ts';
import { LongDecisions } from '../../src/admission/long-decisions.ts';
import type { Endpoint } from '../../src/admission/ports.ts';
import { mastersGroup, systemNamespaces } from '../../src/schema/names.ts';
import { ruleIds } from '../../src/rules/rules.ts';
import { stringifyYaml } from '../../src/base/yaml.ts';
import { type ClusterSnapshot, PolicySet, ShareSet } from '../../src/policy/compile/snapshot.ts';
import { auditNamespace, auditObject } from '../../src/policy/decide/audit.ts';
import { decide } from '../../src/policy/decide/decide.ts';
import { unlimitedBudget, defaultEvaluationUnits } from '../../src/policy/terms/budget.ts';
import {
  isClaimReview,
  isProviderReview,
  type Review,
  type Violation,
} from '../../src/policy/terms/review.ts';
import { loadNamespaceFiles, loadPolicyFiles, clusterSnapshot } from '../../src/state/file-cluster.ts';
import { testInstall } from '../support/engine.ts';
import {
  fixtureFolders,
  reviewBody,
  type CaseRequest,
  type FixtureFolder,
} from '../support/admission-case.ts';

type Refusal = NonNullable<Answer['refusal']>;

const now = new Date('2026-11-21T12:00:00Z');
const folders = fixtureFolders();
/** Cases must not fail then: expected.yaml still holds the previous answers. */
const isUpdating = inject('isUpdating');

const clock = { now: () => now, monotonic: () => 0 };
const ports = {
  namespaces: { find: () => Promise.resolve(undefined) },
  access: {
    mayDo: ({ groups }: { readonly groups: readonly string[] }) =>
      Promise.resolve(groups.includes(mastersGroup) ? ('yes' as const) : ('no' as const)),
  },
  clock,
  evaluationUnits: defaultEvaluationUnits,
  install: { ...testInstall, namespaceClaims: true },
};

async function load({ path }: FixtureFolder): Promise<ClusterSnapshot> {
  const { policies, shares, problems } = await loadPolicyFiles(
    join(path, 'policies.yaml'),
    testInstall.clusterVariables,
  );
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
      // A decision waits for those before it of the same user, and each case has this user.
      const own = { ...ports, longDecisions: new LongDecisions(clock) };
      return await judgeReview(endpoint, decoded.review, snapshot, own, new Deadline(clock, 5000));
    case 'malformed':
      return malformed(decoded.problem);
    case 'passed':
      return 'passed';
    case 'unreadable':
      throw new Error('a fixture must be readable');
    default:
      return decoded satisfies never;
  }
}

/** Returns the parts of an answer that a person compares, without empty parts. */
function shown(answer: Answer | 'passed'): unknown {
  if (answer === 'passed') return answer;
  const { refusal, patch, warnings, auditAnnotations } = answer;
  const parts = {
    ...(refusal === undefined ? {} : shownRefusal(refusal)),
    ...(patch.length === 0 ? {} : { patch }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(Object.keys(auditAnnotations).length === 0 ? {} : { auditAnnotations }),
  };
  if (Object.keys(parts).length === 0) return 'allowed';
  return refusal === undefined ? { allowed: true, ...parts } : parts;
}

/** With the causes where the message does not show all reasons. */
function shownRefusal({ code, reason, message, causes }: Refusal): object {
  const isCut = /^- and \d+ more$/m.test(message);
  const all = causes.map((cause) => `${cause.field}: ${cause.message}`);
  return { allowed: false, code, reason, message, ...(isCut ? { causes: all } : {}) };
}

interface CaseAnswer {
  readonly isAllowed: boolean;
  /** As expected.yaml holds the answers of both endpoints. */
  readonly text: string;
}

async function answerCase(folder: FixtureFolder, request: CaseRequest): Promise<CaseAnswer> {
  const snapshot = await load(folder);
  const body = reviewBody(request);
  const validate = await answerOf('validate', body, snapshot);
  const mutate = await answerOf('mutate', body, snapshot);
  const isAllowed = validate !== 'passed' && validate.refusal === undefined;
  return { isAllowed, text: stringifyYaml({ validate: shown(validate), mutate: shown(mutate) }) };
}

/** Each case takes one entry. Names are sorted, so that the order of requests.yaml does not matter. */
async function expectedFile(folder: FixtureFolder): Promise<string> {
  const names = [...folder.requests.keys()].toSorted();
  const entries = names.map(async (name) => {
    const request = folder.requests.get(name);
    if (request === undefined) throw new Error(`no request is called ${name}`);
    const { text } = await answerCase(folder, request);
    return `${name}:\n${text.replace(/^(?=.)/gm, '  ')}`;
  });
  return (await Promise.all(entries)).join('\n');
}

describe.each(folders)('$name', (folder) => {
  test.each([...folder.requests].map(([name, request]) => ({ name, request })))(
    '$name',
    async ({ name, request }) => {
      const { isAllowed, text } = await answerCase(folder, request);
      expect(name).toMatch(isAllowed ? /^(allow|warn)/ : /^deny/);
      if (isUpdating) return;
      if (!folder.expected.has(name))
        throw new Error(`${folder.path}/expected.yaml has no answer for ${name}`);
      expect(text).toBe(stringifyYaml(folder.expected.get(name)));
    },
  );

  test('expected.yaml has one answer for each request, as --update writes it', async () => {
    if (!isUpdating) {
      const orphans = [...folder.expected.keys()].filter((name) => !folder.requests.has(name));
      expect(orphans, 'answers without a request in requests.yaml').toEqual([]);
    }
    await expect(await expectedFile(folder)).toMatchFileSnapshot(
      join('..', '..', folder.path, 'expected.yaml'),
    );
  });

  test('topViolations would give found and accepted of the refusal, if the object were stored', async () => {
    const snapshot = await load(folder);
    for (const [name, request] of folder.requests) {
      const decoded = decodeReview(reviewBody(request), 'validate');
      if (decoded.kind !== 'review' || isProviderReview(decoded.review) || isClaimReview(decoded.review))
        continue;
      const refused = decide(decoded.review, snapshot, { now, budget: unlimitedBudget });
      const words = new Map(refused.violations.map(({ violation }) => [placeOf(violation), violation]));
      for (const stored of auditOf(decoded.review, snapshot))
        expect(stored, name).toEqual(words.get(placeOf(stored)) ?? stored);
    }
  });

  test('at least one request is allowed and one is refused', () => {
    const names = [...folder.requests.keys()];
    expect(names.some((name) => name.startsWith('allow'))).toBe(true);
    expect(names.some((name) => name.startsWith('deny'))).toBe(true);
  });

  test('no other file is in the folder', () => {
    const known = new Set(['policies.yaml', 'cluster.yaml', 'requests.yaml', 'expected.yaml']);
    expect(folder.files.filter((file) => !known.has(file))).toEqual([]);
  });
});

test('every rule has a folder, and each further folder is listed here', () => {
  const names = folders.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...ruleIds, 'validations']));
  const others = names.filter(
    (name) => !(ruleIds as readonly string[]).includes(name) && name !== 'validations',
  );
  expect(others.toSorted()).toEqual([
    'actions',
    'claims',
    'create-once',
    'exceptions',
    'lists',
    'match',
    'mutation',
    'overrides',
    'owners.authors',
    'owners.changes',
    'owners.config-maps',
    'owners.copies',
    'owners.fuse',
    'owners.match',
    'owners.reach',
    'owners.spec',
    'steering',
    'steering-by-share',
    'variables',
  ]);
});

function placeOf({ policy, rule, path }: Violation): string {
  return `${policy} ${rule} ${path}`;
}

function auditOf({ resource, object, namespace }: Review, snapshot: ClusterSnapshot): readonly Violation[] {
  const circumstances = { now, budget: unlimitedBudget };
  const owner = resource === 'namespaces' ? object : snapshot.namespace(namespace);
  if (object === undefined || owner === undefined || snapshot.policies.isExcluded(namespace)) return [];
  return snapshot.policies.policies.flatMap((policy) =>
    resource === 'namespaces'
      ? auditNamespace(policy, object, circumstances).violations
      : auditObject(policy, resource, object, owner, circumstances),
  );
}
