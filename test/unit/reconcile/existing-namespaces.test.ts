import { describe, expect, test } from 'vitest';
import { bindingPolicy, settledWith, team, teams } from '../../support/provided.ts';
import { failure } from '../../support/memory-objects.ts';
import { refTo } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

describe('violations of existing namespaces', () => {
  const rules = {
    match: { names: ['*'] },
    namespaces: {
      required: { labels: { team: { values: ['red'] } } },
      defaults: { annotations: { contact: 'unknown', by: '${request.userInfo.username}' } },
    },
    validations: [
      { name: 'short', expression: 'object.metadata.name.size() < 3' },
      { name: 'step', expression: 'oldObject == null || request.operation == "UPDATE"' },
    ],
  };

  test('violations of existing namespaces are counted and listed in the status', async () => {
    const h = harness();
    h.namespace('a', { team: 'red' }, { contact: 'x' });
    h.namespace('long-one', { team: 'blue' });
    h.policy('p', rules);
    h.start();
    await h.settle();
    const { topViolations, violations, matched } = h.status('NamespacePolicy', 'p');
    expect([matched, violations]).toEqual([2, 3]);
    expect(topViolations).toEqual([
      {
        namespace: 'long-one',
        rule: 'namespaces.required',
        path: 'metadata.labels["team"]',
        found: '"blue"',
        accepted: '"red"',
      },
      expect.objectContaining({
        namespace: 'long-one',
        rule: 'namespaces.defaults',
        path: 'metadata.annotations["contact"]',
        found: 'nothing',
      }),
      expect.objectContaining({ namespace: 'long-one', rule: 'validations/short' }),
    ]);
    h.namespace('long-one', { team: 'red' }, { contact: 'x' });
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 1 });
  });

  test('the owners of a namespace see its violations in a condition and an event, until it has none', async () => {
    const h = harness();
    h.namespace('a', { team: 'red' }, { contact: 'x' });
    h.namespace('b', { team: 'blue' }, { contact: 'x' });
    h.namespace('kube-system', { team: 'blue' });
    h.policy('p', rules);
    h.start();
    await h.settle();
    const compliance = (name: string) => h.condition('Namespace', name, 'reeve.dev/Compliant');
    const events = () => h.told.events.filter(({ reason }) => reason === 'Violated');
    const message =
      '1 violation: policy p, namespaces.required: metadata.labels["team"]: found "blue"; accepted: "red"';
    expect(compliance('a')).toMatchObject({ status: 'True', reason: 'NoViolations' });
    expect(compliance('b')).toMatchObject({ status: 'False', reason: 'Violated', message });
    expect(compliance('kube-system')).toBeUndefined();
    expect(events()).toMatchObject([{ regarding: { namespace: 'b', kind: 'Namespace' }, note: message }]);
    h.takeWrites();
    await h.stop();
    h.rerun();
    await h.settle();
    expect([h.takeWrites(), events().length]).toEqual([[], 1]);
    h.namespace('b', { team: 'red' }, { contact: 'x' });
    await h.settle();
    expect(compliance('b')).toMatchObject({ status: 'True' });
    h.policy('p', { match: { names: ['*'] } });
    await h.settle();
    expect([compliance('a'), compliance('b')]).toEqual([undefined, undefined]);
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
  });

  test('a violation with an exception counts as soon as the exception ends, though nothing else changes', async () => {
    const h = harness();
    h.namespace('a', {}, { contact: 'x' });
    h.policy('p', {
      ...rules,
      exceptions: [{ namespaces: ['a'], rules: ['namespaces.required'], expiresAt: '2026-11-21T12:01:00Z' }],
    });
    h.start();
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 0 });
    await h.clock.advance(60_000);
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 1 });
  });

  test('the status says that an exception has ended as soon as it has, also where it covered no namespace', async () => {
    const h = harness();
    h.namespace('a', { team: 'red' }, { contact: 'x' });
    h.policy('p', {
      ...rules,
      exceptions: [
        { namespaces: ['none'], rules: ['namespaces.required'], expiresAt: '2026-11-21T12:01:00Z' },
      ],
    });
    h.start();
    await h.settle();
    const message = () => h.condition('NamespacePolicy', 'p')?.['message'];
    expect(message()).not.toContain('expired');
    await h.clock.advance(60_000);
    await h.settle();
    expect(message()).toContain('spec.exceptions[0] expired at 2026-11-21T12:01:00Z');
  });

  test('the status says that an override has ended as soon as it has, also where it covered no namespace', async () => {
    const h = harness();
    h.namespace('a', { team: 'red' }, { contact: 'x' });
    h.policy('p', {
      ...rules,
      validationActionOverrides: [{ names: ['none'], actions: ['Warn'], expiresAt: '2026-11-21T12:01:00Z' }],
    });
    h.start();
    await h.settle();
    const message = () => h.condition('NamespacePolicy', 'p')?.['message'];
    expect(message()).not.toContain('expired');
    await h.clock.advance(60_000);
    await h.settle();
    expect(message()).toContain('spec.validationActionOverrides[0] expired at 2026-11-21T12:01:00Z');
  });

  test('a policy with rules alone is not ready where its match has an error, and says for how many namespaces', async () => {
    const h = harness();
    const conditions = [{ name: 'tiered', expression: "namespaceObject.metadata.annotations['x'] == 'y'" }];
    for (const name of ['a', 'b']) h.namespace(name);
    h.namespace('c', {}, { x: 'y' });
    h.policy('p', { match: { names: ['*'], matchConditions: conditions }, validations: rules.validations });
    h.start();
    await h.settle();
    const failures = ['a', 'b'].map((namespace) => ({ namespace, reason: 'MatchFailed' }));
    const numbers = { matched: 1, desired: 0, failed: 2 };
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ ...numbers, failures });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'False', reason: 'MatchFailed' });
    expect(h.condition('NamespacePolicy', 'p')?.['message']).toMatch(
      /^the match has an error for 2 namespaces, so the rules cannot be judged there; first in namespace a: match condition tiered: /,
    );
    const told = h.told.events.map(
      ({ reason, regarding }) => `${reason} ${regarding.kind} ${regarding.name}`,
    );
    expect(told).toContain('MatchFailed Namespace a');
    for (const name of ['a', 'b']) h.namespace(name, {}, { x: 'y' });
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True', reason: 'Synced' });
    h.namespace('c', {}, {});
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ matched: 2, failed: 1 });
  });

  test('an exceeded quota is a violation', async () => {
    const h = harness();
    for (const name of ['a', 'b', 'c']) h.namespace(name, { team: 'red' });
    h.namespace('d', { team: 'blue' });
    h.policy('p', { match: { names: ['*'] }, namespaces: { quota: { label: 'team', max: 2 } } });
    h.start();
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      violations: 1,
      topViolations: [
        {
          namespace: 'a',
          rule: 'namespaces.quota',
          path: 'metadata.labels["team"]',
          found: '3 namespaces with "red"',
          accepted: 'at most 2 namespaces with one value',
        },
      ],
    });
    h.memory.delete(refTo('Namespace', 'b'));
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ matched: 3, violations: 0 });
  });
});

describe('existing: Repair', () => {
  const defaults = {
    labels: { env: 'dev', 'of-${x}': 'x' },
    annotations: { contact: '${namespaceObject.metadata.name}', by: '${request.userInfo.username}' },
  };
  const repairing = {
    match: teams,
    existing: 'Repair',
    namespaces: { defaults: { ...defaults, labels: { env: 'dev' } } },
  };

  test('a default that another client keeps removing is left alone for a while, and the others are added', async () => {
    const h = harness();
    h.namespace('a', team);
    h.policy('p', repairing);
    h.start();
    await h.settle();
    h.takeWrites();
    let fights = 0;
    h.memory.after = ({ verb, ref }) => {
      const isAdded = h.get('Namespace', 'a')?.metadata.labels?.['env'] !== undefined;
      if (verb !== 'patch' || ref.kind !== 'Namespace' || !isAdded || fights >= 100) return;
      fights += 1;
      setImmediate(() => h.namespace('a', team, { contact: 'a' }));
    };
    h.namespace('a', team, { contact: 'a' });
    await h.settle(1000);
    expect(fights).toBeLessThanOrEqual(10);
    expect(h.told.observed).toContainEqual([
      'rewriteLimited',
      { namespace: 'a', kind: 'Namespace', name: 'a', owner: 'NamespacePolicy/p' },
    ]);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      failures: [
        {
          namespace: 'a',
          kind: 'Namespace',
          reason: 'Contended',
          message: 'another client keeps removing label env, so Reeve leaves it alone for a while',
        },
      ],
    });
    expect(h.told.events.map(({ reason, regarding }) => `${reason} ${regarding.kind}`)).toContain(
      'Contended NamespacePolicy',
    );
    h.memory.after = () => undefined;
    h.namespace('a', team);
    await h.settle(0);
    expect(h.get('Namespace', 'a')?.metadata).toMatchObject({ annotations: { contact: 'a' } });
    expect(h.get('Namespace', 'a')?.metadata.labels).not.toHaveProperty('env');
    await h.settle(10_000);
    expect(h.get('Namespace', 'a')?.metadata.labels).toMatchObject({ env: 'dev' });
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failed: 0 });
  });

  test('Repair adds missing defaults, changes no value, and skips defaults that read the request', async () => {
    const h = harness();
    h.namespace('a', team);
    h.namespace('b', { ...team, env: 'prod' }, { contact: 'them' });
    h.namespace('c', {});
    h.policy('p', repairing);
    h.start();
    await h.settle();
    expect(h.get('Namespace', 'a')?.metadata).toMatchObject({
      labels: { env: 'dev' },
      annotations: { contact: 'a' },
    });
    expect(h.get('Namespace', 'a')?.metadata.annotations).not.toHaveProperty('by');
    expect(h.get('Namespace', 'b')?.metadata).toMatchObject({
      labels: { env: 'prod' },
      annotations: { contact: 'them' },
    });
    expect(h.get('Namespace', 'c')?.metadata.annotations).toBeUndefined();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 0 });
  });

  test.each<readonly [string, object]>([
    ['existing is Report', { existing: 'Report' }],
    ['the policy is suspended', { suspend: true }],
    [
      'the namespace has an exception',
      { exceptions: [{ namespaces: ['a'], rules: ['namespaces.defaults'] }] },
    ],
    [
      'the match has an error',
      {
        match: {
          matchConditions: [{ name: 'c', expression: "namespaceObject.metadata.annotations['x'] == 'y'" }],
        },
      },
    ],
    [
      'the default violates a rule of the policy',
      {
        namespaces: {
          defaults: { labels: { env: '${namespaceObject.metadata.name}' } },
          required: { labels: { env: { values: ['prod'] } } },
        },
      },
    ],
  ])('Repair adds nothing when %s', async (_what, fields) => {
    const h = harness();
    h.namespace('a', team);
    h.policy('p', { ...repairing, ...fields });
    h.start();
    await h.settle();
    expect(h.get('Namespace', 'a')?.metadata.labels).not.toHaveProperty('env');
  });

  test('a refused repair is reported in the status', async () => {
    const h = harness();
    h.namespace('a', team);
    h.policy('p', repairing);
    h.memory.fault = (verb, { kind }) =>
      verb === 'patch' && kind === 'Namespace' ? failure(403) : undefined;
    h.start();
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      failed: 1,
      failures: [{ namespace: 'a', kind: 'Namespace', name: 'a', reason: 'InsufficientPermissions' }],
    });
  });
});

describe('a provider without effect is ready and says why', () => {
  test('a selector with a wrong letter has the reason MatchesNothing, with the label that was meant', async () => {
    const h = harness();
    h.namespace('a', { tier: 'team' });
    h.policy('p', {
      match: { namespaceSelector: { matchLabels: { teir: 'team' } } },
      namespaces: { required: { labels: { team: {} } } },
    });
    h.start();
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      status: 'True',
      reason: 'MatchesNothing',
      message: 'no namespace matches now, because no namespace has the label teir (did you mean tier?)',
    });
    h.namespace('b', { teir: 'team' });
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True', reason: 'Synced' });
  });

  test('the label that was meant follows the labels of namespaces that do not match', async () => {
    const h = harness();
    h.namespace('a', { tier: 'team' });
    h.policy('p', {
      match: { namespaceSelector: { matchLabels: { teir: 'team' } } },
      namespaces: { required: { labels: { team: {} } } },
    });
    h.start();
    await h.settle();
    h.memory.delete(refTo('Namespace', 'a'));
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      message: 'no namespace matches now, because no namespace has the label teir',
    });
  });

  test('times in the past and a condition that fails for a bare namespace are in the message', async () => {
    const h = harness();
    h.namespace('a', { tier: 'team' });
    h.policy('p', {
      match: {
        names: ['a'],
        matchConditions: [{ name: 'tier', expression: "namespaceObject.metadata.labels['tier'] == 'team'" }],
      },
      namespaces: { required: { labels: { tier: {} } } },
      exceptions: [
        { namespaces: ['a'], rules: ['namespaces.required'], expiresAt: '2026-01-01T00:00:00Z', reason: 'x' },
      ],
    });
    h.start();
    await h.settle();
    const { message } = h.condition('NamespacePolicy', 'p') ?? {};
    expect(message).toContain(
      'condition tier has an error for a namespace without other labels and annotations',
    );
    expect(message).toContain('; spec.exceptions[0] expired at 2026-01-01T00:00:00Z');
  });
});

test('a namespace that is being deleted is not ready, though its objects were in sync', async () => {
  const h = await settledWith(harness(), bindingPolicy(), ['a']);
  expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
  h.memory.change(refTo('Namespace', 'a'), { metadata: { finalizers: ['example.com/slow'] } });
  h.memory.delete(refTo('Namespace', 'a'));
  await h.settle();
  expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({
    status: 'False',
    reason: 'NamespaceTerminating',
    message: 'the namespace is being deleted, so Reeve leaves its objects alone',
  });
});
