// What the version says, and what a dry run of an invalid binding says about the way from the API server to the webhook.
import { expect, test } from 'vitest';
import { KubeError, type Refusal } from '../../../src/base/kube-error.ts';
import { reachProblems, versionSeen } from '../../../src/check/check-install.ts';

function answering(code: number, refusal: Refusal): Parameters<typeof reachProblems>[0] {
  const error = new KubeError({ code, reason: 'R', retryable: false, refusal });
  return { request: () => Promise.reject(error) };
}

test('a refusal of the webhook shows that the API server reaches it', async () => {
  const own = { by: 'webhook', name: 'securityintentbindings.validate.reeve.dev' } as const;
  expect(await reachProblems(answering(403, own), 'reeve-system')).toEqual([]);
});

test('a refusal of another webhook or policy shows nothing', async () => {
  for (const by of ['webhook', 'policy'] as const)
    await expect(
      reachProblems(answering(422, { by, name: 'validate.kyverno.svc' }), 'reeve-system'),
    ).rejects.toBeInstanceOf(KubeError);
});

test('an error without a refusal is a problem of the webhook', async () => {
  const [problem] = await reachProblems(answering(500, { by: 'unknown' }), 'reeve-system');
  expect(problem).toContain('the API server cannot ask the webhook (500 R)');
});

test('an answer without a version is no answer of an API server', async () => {
  const proxy = { request: () => Promise.resolve({ kind: 'Status' }) };
  await expect(versionSeen(proxy, '0.1.0')).rejects.toMatchObject({ reason: 'MalformedAnswer' });
});
