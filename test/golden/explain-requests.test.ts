// The explanation of each golden request of admission names the reasons of its answer, and no value of a Secret.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mastersGroup } from '../../src/schema/names.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { findInstall } from '../../src/cli/input/find-install.ts';
import { explainRequest } from '../../src/inspect/explain/explain-request.ts';
import type { LookedAt } from '../../src/inspect/explain/looked-at.ts';
import { accessOf } from '../../src/inspect/input/access.ts';
import { kubeObjectsOf, stateOfFiles } from '../../src/inspect/input/file-state.ts';
import type { ExplainedRule, ExplainOutput } from '../../src/inspect/output-schemas/explanation.ts';
import { planningState } from '../../src/inspect/input/loaded-state.ts';
import { readObjects } from '../../src/state/yaml-files.ts';
import { fixtureFolders, reviewBody, type CaseRequest } from '../support/admission-case.ts';

const now = new Date('2026-11-21T12:00:00Z');
const install = findInstall([], { resourceKind: ['v1/ConfigMap', 'v1/ResourceQuota'] });

function lookedAt(folder: string): LookedAt {
  const located = ['policies.yaml', 'cluster.yaml']
    .map((name) => join(folder, name))
    .filter((file) => existsSync(file))
    .flatMap((file) => readObjects({ file, text: readFileSync(file, 'utf8') }).objects);
  const state = stateOfFiles(kubeObjectsOf(located).objects, install);
  const mayDo: LookedAt['mayDo'] = ({ groups }) =>
    Promise.resolve(groups.includes(mastersGroup) ? 'yes' : 'no');
  return { ...planningState(state, now), access: accessOf(state), mayDo, now };
}

async function explained(request: CaseRequest, at: LookedAt) {
  const { request: sent } = JSON.parse(reviewBody(request).toString()) as { readonly request: JsonObject };
  return await explainRequest(sent, at);
}

/** `policy team, namespaces.required: …`, of a refusal. */
const reasons = /(?:^|[:-] )policy (?<policy>[^ ,]+), (?<rule>[^ :]+): /gm;
const noRuleAsked = 'the webhook that sets defaults refused the request, so no rule was asked';

function isDenied({ outcome, message = '' }: ExplainedRule): boolean {
  return outcome === 'violated' && /\((?:.*, )?Deny(?:, .*)?\)$/.test(message);
}

/** True if the rows of the explanation hold this reason of the refusal. */
function isExplained(
  policy: string,
  rule: string,
  { rules = [], rights = [], providers = [], notes = [] }: ExplainOutput,
): boolean {
  if (notes.includes(noRuleAsked)) return true;
  if (rule === 'steering') return rights.some(({ outcome }) => outcome === 'missing');
  if (rule !== 'match')
    return rules.some((each) => isDenied(each) && each.policy === policy && each.rule === rule);
  return providers.some(
    ({ id, matches, message = '' }) =>
      id === `NamespacePolicy/${policy}` && (matches === 'error' || message.includes('had an error')),
  );
}

function isWarned(right: string, { notes = [] }: ExplainOutput): boolean {
  const [, effect = ''] = right.split(', to ');
  return notes.some((note) => note.startsWith('warning: ') && note.includes(effect));
}

describe.each(fixtureFolders())('in $name', ({ path, requests }) => {
  test.each([...requests])('%s', async (_, request) => {
    const output = await explained(request, lookedAt(path));
    if (output.allowed === true) {
      expect(output.rules?.filter(isDenied)).toEqual([]);
      const missing = output.rights?.filter(({ outcome }) => outcome !== 'held') ?? [];
      // A rule with Warn says what the right would permit.
      expect(missing.filter(({ right }) => !isWarned(right, output))).toEqual([]);
    }
    const unexplained = [...(output.refusal ?? '').matchAll(reasons)].filter(
      ({ groups: { policy = '', rule = '' } = {} }) => !isExplained(policy, rule, output),
    );
    expect(unexplained, JSON.stringify(output)).toEqual([]);
    // Keys and certificates of the Secrets, as text and in base64.
    expect(JSON.stringify(output)).not.toMatch(/-----BEGIN|LS0tLS1CRUdJTi/);
  });
});
