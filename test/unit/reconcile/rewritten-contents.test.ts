import { expect, test } from 'vitest';
import { bindingPolicy, team } from '../../support/provided.ts';
import { refTo } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

test('an object whose desired content changes every second is written every time, at once', async () => {
  const h = harness();
  const subjects = [{ kind: 'Group', name: '${namespaceObject.metadata.labels.team}' }];
  h.namespace('a', { ...team, team: 't' });
  h.policy('p', bindingPolicy({}, { subjects }));
  h.start();
  await h.settle();
  for (let count = 0; count < 13; count += 1) {
    h.memory.change(refTo('Namespace', 'a'), { metadata: { labels: { team: `t${count}` } } });
    await h.settle(500);
    expect(h.get('RoleBinding', 'devs', 'a')?.['subjects']).toMatchObject([{ name: `t${count}` }]);
    await h.clock.advance(1000);
  }
});
