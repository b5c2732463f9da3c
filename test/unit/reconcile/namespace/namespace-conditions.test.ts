import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { Condition } from '../../../../src/base/condition.ts';
import { NamespaceConditions } from '../../../../src/reconcile/namespace/namespace-conditions.ts';
import { WorkQueue } from '../../../../src/reconcile/queue/queue.ts';
import { bindingPolicy, shareOf, team, settledWith } from '../../../support/provided.ts';
import { refTo, type Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';
import { testContext } from '../../../support/reconcile-context.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const harness = useHarness();

const begun = (
  spec: object = bindingPolicy(),
  namespaces: readonly string[] = ['a', 'b', 'c'],
): Promise<Harness> => settledWith(harness(), spec, namespaces);

describe('the condition reeve.dev/Ready of a namespace', () => {
  const readyOf = (h: Harness, name: string) => h.condition('Namespace', name, 'reeve.dev/Ready');

  test('every namespace that is not excluded has the condition, beside conditions of others', async () => {
    const h = harness();
    h.namespace('kube-system');
    h.namespace('a');
    h.memory.change(refTo('Namespace', 'a'), {
      status: { conditions: [{ type: 'Theirs', status: 'True' }] },
    });
    h.start();
    await h.settle();
    expect(readyOf(h, 'kube-system')).toBeUndefined();
    expect(readyOf(h, 'a')).toMatchObject({ status: 'True', reason: 'NothingProvided' });
    expect(h.condition('Namespace', 'a', 'Theirs')).toMatchObject({ status: 'True' });
  });

  test('the condition names the first missing object, and is written once when it exists', async () => {
    const h = harness();
    h.namespace('reeve-shared');
    h.namespace('a', team);
    h.share('s', shareOf());
    h.start();
    await h.settle();
    expect(readyOf(h, 'a')).toMatchObject({
      status: 'False',
      reason: 'SourceMissing',
      message: 'Secret regcred of SecretShare/s: there is no Secret reeve-shared/regcred',
    });
    h.takeWrites();
    h.secret('reeve-shared', 'regcred', { k: 'v' });
    await h.settle();
    expect(readyOf(h, 'a')).toMatchObject({ status: 'True', reason: 'Synced' });
    expect(h.takeWrites().filter(({ kind }) => kind === 'Namespace')).toHaveLength(1);
  });

  test('one more object does not change the condition', async () => {
    const h = await begun();
    h.takeWrites();
    h.policy('q', bindingPolicy({}, { name: 'more' }));
    await h.settle();
    expect(h.takeWrites().filter(({ kind }) => kind === 'Namespace')).toEqual([]);
  });

  test('a namespace that is deleted and created again gets the condition again', async () => {
    const h = await begun();
    h.memory.delete(refTo('Namespace', 'a'));
    await h.settle();
    h.memory.finishNamespace('a');
    h.namespace('a', team);
    await h.settle();
    expect(readyOf(h, 'a')).toMatchObject({ status: 'True', reason: 'Synced' });
    expect(h.get('RoleBinding', 'devs', 'a')).toBeDefined();
  });
});

const ready: Condition = { type: 'reeve.dev/Ready', status: 'True', reason: 'Synced', message: '' };

/** Stands for the namespace queue. The test decides whether namespaces wait for a place. */
class Burst extends WorkQueue<string> {
  #isBusy: boolean;
  readonly #over = Promise.withResolvers<void>();

  constructor(isBusy: boolean) {
    super({ concurrency: 1, clock: new VirtualClock(), onError: () => undefined });
    this.#isBusy = isBusy;
  }

  override get isBusy(): boolean {
    return this.#isBusy;
  }

  end(): void {
    this.#isBusy = false;
    this.#over.resolve();
  }

  override async calm(): Promise<void> {
    await this.#over.promise;
  }
}

/** The conditions of these namespaces. */
function conditionsOf(namespaces: readonly KubeObject[], namespaceQueue: Burst) {
  const clock = new VirtualClock();
  const context = testContext({ clock, namespaceQueue });
  const { cluster, conditionQueue, writer } = context;
  cluster.namespaces.replaced(namespaces, '5');
  const written: (string | undefined)[] = [];
  const conditions = new NamespaceConditions(
    {
      ...context,
      writer: {
        ...writer,
        apply: async (object) => {
          written.push(object.metadata.name);
          const metadata = { ...object.metadata, resourceVersion: '9' };
          return await Promise.resolve({ ...object, metadata });
        },
      },
    },
    { namespace: () => undefined },
  );
  const abort = new AbortController();
  const handled: string[] = [];
  const ended = conditionQueue.run((name, attempt) => {
    handled.push(name);
    return conditions.write(name, attempt);
  }, abort.signal);
  const stop = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  return { clock, cluster, conditions, written, handled, stop };
}

function namespaceObject(name: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: name, resourceVersion } };
}

/** The queue starts a few keys a turn. */
async function settled(clock: VirtualClock): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await clock.settle();
}

const namesOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `n${index}`);

function waitingConditions(names: readonly string[]) {
  const burst = new Burst(true);
  const parts = conditionsOf(
    names.map((name) => namespaceObject(name, '1')),
    burst,
  );
  for (const name of names) parts.conditions.want(name, [ready]);
  return { ...parts, burst };
}

describe('a condition that waits for objects', () => {
  test('each waiting condition is written after five seconds, and handled once', async () => {
    const names = namesOf(50);
    const { clock, written, handled, stop } = waitingConditions(names);
    await clock.advance(4900);
    expect(written).toEqual([]);
    await clock.advance(200);
    await settled(clock);
    expect([new Set(written), handled]).toEqual([new Set(names), names]);
    await stop();
  });

  test('a condition that is wanted again and again is written five seconds after the first time', async () => {
    const { clock, conditions, written, stop } = waitingConditions(['a']);
    for (let passed = 0; passed < 5000; passed += 1000) {
      await clock.advance(1000);
      conditions.want('a', [{ ...ready, message: String(passed) }]);
    }
    await clock.settle();
    expect(written.length).toBeGreaterThan(0);
    await stop();
  });

  test('all waiting conditions are written once the burst is over', async () => {
    const names = namesOf(50);
    const { clock, written, burst, stop } = waitingConditions(names);
    await clock.advance(200);
    expect(written).toEqual([]);
    burst.end();
    await settled(clock);
    expect(written).toEqual(names);
    expect(clock.sleeping).toEqual([]);
    await stop();
  });

  test('a namespace that is deleted while its condition waits holds up no other condition', async () => {
    const { clock, conditions, written, burst, stop } = waitingConditions(['a', 'b']);
    conditions.forget('a');
    burst.end();
    await clock.settle();
    expect(written).toEqual(['b']);
    await stop();
  });

  test('a process that leads no longer writes no waiting condition', async () => {
    const { written, stop } = waitingConditions(namesOf(50));
    await stop();
    expect(written).toEqual([]);
  });

  test.each([20, 50, 150])(
    'at %d namespaces a second, each is Ready without a wait for the others',
    async (rate) => {
      const h = harness();
      h.policy('p', bindingPolicy());
      h.start();
      await h.settle();
      const names = namesOf(rate);
      for (const name of names) {
        h.namespace(name, team);
        await h.clock.advance(1000 / rate);
        await h.quiet();
        expect(h.condition('Namespace', name, 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
      }
    },
  );

  test('a waiting condition is written as soon as no objects wait', async () => {
    const h = harness({ concurrency: 1 });
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) h.namespace(name, team);
    h.policy('p', bindingPolicy());
    h.start();
    await h.settle(1000);
    expect(h.clock.monotonic()).toBeLessThan(2000);
    for (const name of names)
      expect(h.condition('Namespace', name, 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
  });
});

test('after a restore of etcd, a condition that was written before is written again', async () => {
  const { clock, cluster, conditions, written, stop } = conditionsOf(
    [namespaceObject('a', '7')],
    new Burst(false),
  );
  conditions.want('a', [ready]);
  await clock.settle();
  conditions.want('a', [ready]);
  await clock.settle();
  expect(written).toHaveLength(1);
  cluster.namespaces.replaced([namespaceObject('a', '3')], '3');
  await clock.settle();
  expect(written).toHaveLength(2);
  await stop();
});
