// What `reeve check` prints about an install, in each format: for an account without rights, and for a broken install.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ownMember, type JsonObject } from '../../src/base/json.ts';
import { KubeError } from '../../src/base/kube-error.ts';
import { checkInstall } from '../../src/check/check-install.ts';
import { jsonText } from '../../src/cli/output/data-text.ts';
import { checkOutput, checkText } from '../../src/cli/commands/check-install.ts';
import { toJsonSchema } from '../../src/schema/json-schema.ts';
import { checkResults } from '../../src/inspect/output-schemas/check-results.ts';
import type { KubeClient, KubeRequest } from '../../src/kube/http/client.ts';
import { schemaProblems } from '../support/json-schema-problems.ts';
import { clientOfPods, listOf, metricsText, podObject } from '../support/reeve-pod-metrics.ts';

const now = new Date('2026-11-23T12:00:00Z');
const expected = { namespace: 'reeve-system', version: '1.2.3', now };
const proxy = '/api/v1/namespaces/reeve-system/pods';
const certificate = (time: string): string =>
  metricsText('reeve_certificate_expiry_timestamp_seconds', 'certificate', {
    serving: Date.parse(time) / 1000,
  });
const watches = (values: Readonly<Record<string, number>>): string =>
  metricsText('reeve_watch_silence_seconds', 'path', values);
const pods = clientOfPods(
  [
    podObject('reeve-reconciler-a', ['probes']),
    podObject('reeve-webhook-a', ['webhook', 'probes']),
    podObject('reeve-webhook-b', ['webhook', 'probes']),
    podObject('reeve-webhook-c', ['webhook', 'probes']),
  ],
  new Map([
    [`${proxy}/reeve-reconciler-a%3A8081/proxy/metrics`, watches({ '/api/v1/namespaces': 31.2 })],
    [
      `${proxy}/reeve-webhook-a%3A8081/proxy/metrics`,
      certificate('2026-12-23T12:00:00Z') +
        watches({ '/api/v1/namespaces': 12, '/apis/reeve.dev/v1alpha1/secretshares': 240 }),
    ],
    [
      `${proxy}/reeve-webhook-b%3A8081/proxy/metrics`,
      certificate('2026-11-24T11:00:00Z') + watches({ '/api/v1/namespaces': 3 }),
    ],
  ]),
);

function forbidden(): KubeError {
  return new KubeError({
    code: 403,
    reason: 'Forbidden',
    retryable: false,
    refusal: { by: 'rights', name: 'get x' },
  });
}

/** Answers what every account may ask. `mayDo` decides about all rights. */
function client(
  mayDo: (right: JsonObject) => boolean,
  others: (request: KubeRequest) => Promise<JsonObject>,
): KubeClient {
  return {
    ...pods,
    request: async (request) => {
      const { path, body } = request;
      if (path === '/version') return { major: '1', minor: '36' };
      if (path.endsWith('/selfsubjectreviews')) return { status: { userInfo: { username: 'jane' } } };
      if (path.endsWith('accessreviews')) {
        const right = ownMember(ownMember(body, 'spec'), 'resourceAttributes') as JsonObject;
        return { status: { allowed: mayDo(right) } };
      }
      return await others(request);
    },
  };
}

const isOf = (path: string): boolean => path === '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const withoutRights = client(
  () => false,
  () => Promise.reject(forbidden()),
);
const blind: KubeClient = {
  ...withoutRights,
  request: async (request) =>
    isOf(request.path) ? await Promise.reject(forbidden()) : await withoutRights.request(request),
};
const empty = client(
  ({ resource, verb, name }) =>
    resource !== 'subjectaccessreviews' && verb !== 'patch' && name !== 'reeve-webhook-ca',
  async (request) => {
    if (request.path.endsWith('/pods')) return await pods.request(request);
    if (request.method === 'GET') return listOf([]);
    throw new KubeError({ code: 500, reason: 'InternalError', retryable: true });
  },
);
const schema = toJsonSchema(checkResults);

test.each([
  ['an account without rights', 'no-rights', blind, () => Promise.reject(forbidden())],
  ['a cluster where only Pods are left of Reeve', 'broken', empty, () => Promise.resolve(undefined)],
] as const)('the results for %s are the same as in the file', async (_, name, asked, read) => {
  const writer = { read } as unknown as Parameters<typeof checkInstall>[1]['writer'];
  const findings = await checkInstall(expected, { client: asked, writer });
  const json = jsonText(checkOutput(findings));
  expect(schemaProblems(schema, JSON.parse(json))).toEqual([]);
  const text = checkText(findings);
  const missing = findings.flatMap(({ missingRules }) => missingRules);
  expect(rulesIn(text)).toEqual(missing.map(({ rule }) => rule));
  await expect(text).toMatchFileSnapshot(`../fixtures/checks/expected/install-${name}.text`);
  await expect(json).toMatchFileSnapshot(`../fixtures/checks/expected/install-${name}.json`);
});

/** Reads the rules as a person copies them from the text. */
function rulesIn(output: string): unknown {
  const lines = output.split('\n').filter((line) => /^ {2}[- ] \w+: \[/.test(line));
  return parse(lines.join('\n'));
}
