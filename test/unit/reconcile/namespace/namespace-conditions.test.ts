import { describe, expect, test } from 'vitest';
import { bindingPolicy, shareOf, team, settledWith } from '../../../support/provided.ts';
import { refTo, type Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();

const begun = (
  spec: object = bindingPolicy(),
  namespaces: readonly string[] = ['a', 'b', 'c'],
): Promise<Harness> => settledWith(harness(), spec, namespaces);

describe('the condition reeve.dev/Ready of a namespace', () => {
  const readyOf = (h: Harness, name: string) => h.condition('Namespace', name, 'reeve.dev/Ready');

  test('is there on all that are not excluded, beside those of others', async () => {
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
    expect(h.condition('Namespace', 'a', 'Theirs')).toBeUndefined();
  });

  test('names the first thing that is missing, and costs one write when it is there', async () => {
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

  test('is not written again because there is one more object', async () => {
    const h = await begun();
    h.takeWrites();
    h.policy('q', bindingPolicy({}, { name: 'more' }));
    await h.settle();
    expect(h.takeWrites().filter(({ kind }) => kind === 'Namespace')).toEqual([]);
  });

  test('comes anew when the namespace has been deleted and made again', async () => {
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
