// The text of `reeve up` when it is ready: each policy with the namespaces it matches, and commands that can be copied.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { plain } from '../../../src/cli/feed.ts';
import { readyJson, readyText } from '../../../src/cli/up-text.ts';

function policy(match: object | undefined): KubeObject {
  return { kind: 'NamespacePolicy', metadata: { name: 'p' }, spec: match === undefined ? {} : { match } };
}

const facts = {
  url: 'https://127.0.0.1:1',
  kubeconfig: '/t/kubeconfig',
  caFile: '/t/ca.crt',
  webhookUrl: 'https://127.0.0.1:2',
  metricsUrl: 'http://127.0.0.1:3/metrics',
  samples: 'm/samples',
  program: '/t/node /t/main.ts',
};

function reachOf(object: KubeObject): string {
  const [line = ''] = readyText({ ...facts, loaded: [object] }, plain)
    .split('\n')
    .slice(-1);
  return line.trim();
}

describe('the policies and shares in force', () => {
  it.each([
    [undefined, 'every namespace'],
    [{}, 'every namespace'],
    [{ names: ['a-*', 'b'], excludeNames: ['a-x'] }, 'namespaces called a-* or b, not called a-x'],
    [
      { namespaceSelector: { matchLabels: { tier: 'team', env: 'dev' } } },
      'namespaces labeled tier=team and env=dev',
    ],
    [{ namespaceSelector: { matchExpressions: [{ key: 'a' }] } }, 'namespaces selected by labels'],
    [{ matchConditions: [{ name: 'x', expression: 'true' }] }, 'namespaces that meet its conditions'],
  ])('%j', (match, reach) => {
    expect(reachOf(policy(match))).toBe(`NamespacePolicy/p: ${reach}`);
  });

  it('a share is described by its targets', () => {
    const share = { kind: 'SecretShare', metadata: { name: 's' }, spec: { targets: { names: ['*'] } } };
    expect(reachOf(share)).toBe('SecretShare/s: namespaces called *');
  });

  it('a binding of the cluster is described by its match, and a binding of a namespace by its namespace', () => {
    const spec = { intents: ['a'], match: { names: ['a-*'] } };
    const binding = { kind: 'ClusterSecurityIntentBinding', metadata: { name: 'b' }, spec };
    expect(reachOf(binding)).toBe('ClusterSecurityIntentBinding/b: namespaces called a-*');
    const own = { kind: 'SecurityIntentBinding', metadata: { name: 'b', namespace: 'shop' }, spec };
    expect(reachOf(own)).toBe('SecurityIntentBinding/shop/b: namespace shop');
  });

  it('other objects are left out', () => {
    const loaded = [{ kind: 'Secret', metadata: { name: 's' } }];
    expect(JSON.parse(readyJson({ ...facts, loaded }, 5))).toMatchObject({ inForce: [], processMs: 5 });
  });
});

it('commands name the samples relative to the current folder', () => {
  const text = readyText({ ...facts, loaded: [] }, plain);
  expect(text).toContain('  export KUBECONFIG=/t/kubeconfig\n');
  expect(text).toContain('  kubectl apply -f m/samples/app-shop.yaml ');
  expect(text).toContain('--cacert /t/ca.crt');
  expect(text).toContain('--data @m/samples/app-without-owner.json https://localhost:2/validate');
});

it('the text has the line that makes reeve a command of the second terminal', () => {
  const text = readyText({ ...facts, loaded: [] }, plain);
  expect(text).toContain("\n  alias reeve='/t/node /t/main.ts'\n");
});

it('without policies and shares, the text says how to get one', () => {
  const text = readyText({ ...facts, samples: undefined, loaded: [] }, plain);
  expect(text).toMatch(
    /In force:\n {2}no policies and shares yet: kubectl apply -f one, or start with --policies FOLDER$/,
  );
});

it('the text says that kubectl apply works, and where the metrics are', () => {
  const text = readyText({ ...facts, loaded: [] }, plain);
  expect(text).toContain('kubectl works with it, kubectl apply included.');
  expect(text).toContain('\nMetrics: http://127.0.0.1:3/metrics\n');
});

it('commands about the first steps are left out with other policies', () => {
  const text = readyText({ ...facts, samples: undefined, loaded: [] }, plain);
  expect(text).not.toMatch(/app-shop|app-without-owner|curl/);
  expect(text).toContain('kubectl get namespacepolicies,secretshares');
});
