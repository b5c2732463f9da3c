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

test('a policy that stops loading gets one Warning event until its problems change', async () => {
  const h = harness();
  h.namespace('a', team);
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle();
  const notes = () => h.told.events.filter(({ reason }) => reason === 'Invalid').map(({ note }) => note);
  const kept = 'its objects stay as they are, until a version that loads is written';
  const broken = async (fields: object): Promise<void> => {
    h.policy('p', bindingPolicy(fields));
    await h.settle();
  };
  await broken({ nonsense: 1 });
  h.namespace('b', team);
  await h.settle(60_000);
  expect(notes()).toEqual([expect.stringMatching(new RegExp(`^spec.nonsense: .*; ${kept}$`))]);
  expect(h.told.events.find(({ reason }) => reason === 'Invalid')).toMatchObject({
    type: 'Warning',
    regarding: { kind: 'NamespacePolicy', name: 'p' },
  });
  expect(h.told.observed).toContainEqual(['blocked', 'NamespacePolicy/p', 'Invalid']);
  await broken({ drivel: 1 });
  expect(notes()).toHaveLength(2);
  await broken({});
  await broken({ drivel: 1 });
  expect(notes()).toHaveLength(3);
});
