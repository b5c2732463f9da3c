import { expect, test } from 'vitest';
import { bindingPolicy, team } from '../../support/provided.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

test('the status of an invalid policy lists all its problems', async () => {
  const h = harness();
  h.namespace('a', team);
  h.policy('p', bindingPolicy({ nonsense: 1, drivel: 2 }));
  h.start();
  await h.settle();
  const { message } = h.condition('NamespacePolicy', 'p') ?? {};
  expect(message).toContain('nonsense');
  expect(message).toContain('drivel');
});
