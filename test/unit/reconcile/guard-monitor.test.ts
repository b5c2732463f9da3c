import { describe, expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../../src/base/metadata.ts';
import { GuardMonitor, isEnforced } from '../../../src/reconcile/guard-monitor.ts';
import type { RecordedEvent } from '../../../src/base/recorded-event.ts';
import { manifestObjects } from '../../support/manifest-files.ts';
import { testContext } from '../../support/reconcile-context.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

describe('the guard', () => {
  const metadata = { name: 'reeve-guard' };
  const policy = { metadata, spec: { failurePolicy: 'Fail' } };
  const bound = (policyName: string, action: string): KubeObject => ({
    metadata,
    spec: { policyName, validationActions: [action] },
  });
  const binding = bound('reeve-guard', 'Deny');
  const limited = (namespaceSelector: object): KubeObject => ({
    metadata,
    spec: { policyName: 'reeve-guard', validationActions: ['Deny'], matchResources: { namespaceSelector } },
  });
  const ignoring = { metadata, spec: { failurePolicy: 'Ignore' } };

  test.each<readonly [string, KubeObject | undefined, KubeObject | undefined, boolean]>([
    ['is in force as it is shipped', policy, binding, true],
    ['is not in force without its policy', undefined, binding, false],
    ['is not in force without its binding', policy, undefined, false],
    ['is not in force with a policy that ignores errors', ignoring, binding, false],
    ['is not in force with a binding that only warns', policy, bound('reeve-guard', 'Warn'), false],
    ['is not in force with a binding of another policy', policy, bound('other', 'Deny'), false],
    [
      'is not in force with a binding that selects namespaces',
      policy,
      limited({ matchLabels: { a: 'b' } }),
      false,
    ],
    ['is in force with a binding that selects all namespaces', policy, limited({}), true],
  ])('%s', (_, stored, its, expected) => {
    expect(isEnforced({}, stored, its)).toBe(expected);
  });
});

const protections = manifestObjects('install').filter(({ kind }) =>
  kind.startsWith('ValidatingAdmissionPolicy'),
);

/** Runs the check on a cluster with the shipped guard and jail. */
function checked() {
  const clock = new VirtualClock();
  const stored = new Map<string, KubeObject>(
    protections.map(({ kind, name, object }) => [`${kind}/${name}`, { ...object, metadata: { name } }]),
  );
  const answer: { error?: KubeError } = {};
  const events: RecordedEvent[] = [];
  const observed: string[] = [];
  const read = async ({ kind, name }: ObjectRef) => {
    if (answer.error !== undefined) throw answer.error;
    return await Promise.resolve(stored.get(`${kind}/${name}`));
  };
  const context = testContext({ clock });
  const { writer, observer } = context;
  const monitor = new GuardMonitor(
    {
      clock,
      writer: { ...writer, read },
      observer: {
        ...observer,
        guardMissing: (policy, binding) => observed.push(`${policy} ${binding}`),
        unexpectedError: (where) => observed.push(where),
      },
    },
    { record: (event) => events.push(event) },
  );
  const abort = new AbortController();
  const ended = monitor.run(abort.signal);
  const next = async (): Promise<void> => await clock.advance(30_000);
  const end = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  return { stored, answer, events, observed, monitor, next, end };
}

describe('the check of the guard and the jail', () => {
  test('the shipped guard and jail are in force, and no event is written', async () => {
    const { events, monitor, next, end } = checked();
    await next();
    const bindings = protections.filter(({ kind }) => kind.endsWith('Binding')).map(({ name }) => name);
    expect(new Map(monitor.states())).toEqual(new Map(bindings.map((name) => [name, true])));
    expect(events).toEqual([]);
    await end();
    expect([...monitor.states()]).toEqual([]);
  });

  test.each(protections.map(({ kind, name }) => `${kind}/${name}`))(
    'a deleted %s is one event and one line in the log for each binding, until it is back',
    async (key) => {
      const { stored, events, observed, monitor, next, end } = checked();
      await next();
      const object = stored.get(key);
      stored.delete(key);
      await next();
      await next();
      const missing = [...monitor.states()].filter(([, isInForce]) => !isInForce);
      expect(missing.length).toBeGreaterThan(0);
      expect(observed).toHaveLength(missing.length);
      expect(events).toHaveLength(missing.length);
      expect(events[0]).toMatchObject({
        type: 'Warning',
        reason: 'GuardMissing',
        regarding: { kind: 'ValidatingAdmissionPolicyBinding', name: missing[0]?.[0] },
      });
      expect(events[0]?.note).toMatch(
        /is missing or no longer denies, so .+; to restore it, apply manifests\S+ of the installed version, or .+ helm upgrade/,
      );
      if (object !== undefined) stored.set(key, object);
      await next();
      expect([...monitor.states()].every(([, isInForce]) => isInForce)).toBe(true);
      await end();
    },
  );

  test('without the right to read them the state stays unknown, which is reported once', async () => {
    const { answer, events, observed, monitor, next, end } = checked();
    answer.error = new KubeError({ code: 403, reason: 'Forbidden', retryable: false });
    await next();
    await next();
    await next();
    expect([events, observed]).toEqual([[], ['check of the guard and the jail']]);
    expect([...monitor.states()].filter(([, isInForce]) => !isInForce)).toEqual([]);
    await end();
  });
});
