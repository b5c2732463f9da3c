import { describe, expect, test } from 'vitest';
import { createdOnceAnnotation } from '../../../src/schema/names.ts';
import { failure } from '../../support/memory-objects.ts';
import { bindingOf, quotaOf, settledWith, shareOf, team, teams } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const once = { mode: 'CreateOnce' };
const quota = { ...quotaOf(), ...once };
const policyOf = (...resources: readonly object[]) => ({ match: teams, contents: { resources } });

const quotaIn = (h: Harness, namespace = 'a') => h.get('ResourceQuota', 'team', namespace);
const annotationIn = (h: Harness, namespace = 'a') =>
  h.get('Namespace', namespace)?.metadata.annotations?.[createdOnceAnnotation];
const recordIn = (h: Harness, namespace = 'a') => annotationIn(h, namespace)?.split('\n').slice(1);
const marksOf = (h: Harness) => {
  const { labels = {}, annotations = {} } = quotaIn(h)?.metadata ?? {};
  return [...Object.keys(labels), ...Object.keys(annotations)];
};
const settledOnce = (spec: object = policyOf(quota)) => settledWith(harness(), spec, ['a']);

async function deleted(h: Harness): Promise<void> {
  h.memory.delete(refTo('ResourceQuota', 'team', 'a'));
  await h.settle();
}

describe('an object with mode CreateOnce', () => {
  test('Reeve creates the object, records it, and removes its marks', async () => {
    const h = await settledOnce();
    expect(quotaIn(h)).toMatchObject({ spec: { hard: { pods: '5' } } });
    expect(marksOf(h)).toEqual([]);
    expect(recordIn(h)).toEqual(['/ResourceQuota/team']);
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
  });

  test('a change of the object by a user, or of its policy, changes nothing more', async () => {
    const h = await settledOnce();
    h.memory.change(refTo('ResourceQuota', 'team', 'a'), { spec: { hard: { pods: '9' } } });
    h.policy('p', policyOf({ ...quotaOf({ hard: { pods: '7' } }), ...once }));
    h.takeWrites();
    await h.settle();
    expect(quotaIn(h)).toMatchObject({ spec: { hard: { pods: '9' } } });
    expect(h.takeWrites().filter(({ kind }) => kind === 'ResourceQuota')).toEqual([]);
  });

  test('a user who deletes the object does not get it again, not even after a restart and a new policy', async () => {
    const h = await settledOnce();
    await deleted(h);
    await h.stop();
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    h.start();
    await h.settle();
    h.policy('q', policyOf(quota));
    await h.settle();
    expect(quotaIn(h)).toBeUndefined();
  });

  test('a new Namespace of the same name gets the object, even with the annotation of the old one', async () => {
    const h = await settledOnce();
    const annotation = annotationIn(h) ?? '';
    h.memory.delete(refTo('Namespace', 'a'));
    h.memory.finishNamespace('a');
    h.namespace('a', team, { [createdOnceAnnotation]: annotation });
    await h.settle();
    expect(quotaIn(h)).toBeDefined();
    expect(annotationIn(h)).not.toBe(annotation);
  });

  test('the object stays when its policy goes, also when the policy goes before the record is written', async () => {
    const h = harness();
    h.memory.fault = (verb, { kind }) =>
      verb === 'patch' && kind === 'Namespace' ? failure(503) : undefined;
    await settledWith(h, policyOf(quota), ['a']);
    expect(marksOf(h)).toContain('reeve.dev/mode');
    expect(recordIn(h)).toBeUndefined();
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect(quotaIn(h)).toBeDefined();
    expect(marksOf(h)).toEqual([]);
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
  });

  test('an object whose policy went before the record was written does not come back after a user deletes it', async () => {
    const h = harness();
    let isDown = true;
    h.memory.fault = (verb, { kind }) =>
      isDown && verb === 'patch' && kind === 'Namespace' ? failure(503) : undefined;
    await settledWith(h, policyOf(quota), ['a']);
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    isDown = false;
    await h.settle();
    expect([marksOf(h), recordIn(h)]).toEqual([[], ['/ResourceQuota/team']]);
    await deleted(h);
    h.policy('q', policyOf(quota));
    await h.settle();
    expect(quotaIn(h)).toBeUndefined();
  });

  test('a process whose watch lags behind the record does not create the object again', async () => {
    const h = harness();
    h.namespace('a', team);
    h.start();
    await h.settle();
    h.memory.silent.add('Namespace');
    h.policy('p', policyOf(quota));
    await h.settle();
    expect(recordIn(h)).toEqual(['/ResourceQuota/team']);
    h.takeWrites();
    h.memory.delete(refTo('ResourceQuota', 'team', 'a'));
    await h.settle(500);
    expect([quotaIn(h), h.takeWrites()]).toEqual([undefined, []]);
    h.memory.relist();
    await h.settle();
    expect(quotaIn(h)).toBeUndefined();
  });

  test('an existing object of another user is left alone, even if it is offered, and recorded', async () => {
    const h = harness();
    h.namespace('a', team);
    const metadata = { namespace: 'a', labels: { 'reeve.dev/adopt': 'true' } };
    const theirs = { ...quotaOf({ hard: { pods: '1' } }), metadata: { name: 'team', ...metadata } };
    h.memory.put(theirs);
    h.policy('p', policyOf(quota));
    h.start();
    await h.settle();
    expect(quotaIn(h)).toMatchObject(theirs);
    expect(recordIn(h)).toEqual(['/ResourceQuota/team']);
    await deleted(h);
    expect(quotaIn(h)).toBeUndefined();
  });

  test('an object that a policy kept is released when the policy changes to CreateOnce', async () => {
    const h = await settledOnce(policyOf(quotaOf()));
    expect(marksOf(h)).toContain('reeve.dev/owner');
    h.policy('p', policyOf(quota));
    await h.settle();
    expect([quotaIn(h) === undefined, marksOf(h)]).toEqual([false, []]);
  });

  test('another policy that keeps the object comes first, and hands it over when it goes', async () => {
    const h = harness();
    h.policy('z', policyOf(quotaOf({ hard: { pods: '7' } })));
    await settledWith(h, policyOf(quota), ['a']);
    expect(quotaIn(h)).toMatchObject({ spec: { hard: { pods: '7' } } });
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ conflicts: 0 });
    expect(recordIn(h)).toBeUndefined();
    h.memory.delete(refTo('NamespacePolicy', 'z'));
    await h.settle();
    expect(quotaIn(h)).toMatchObject({ spec: { hard: { pods: '7' } } });
    expect([marksOf(h), recordIn(h)]).toEqual([[], ['/ResourceQuota/team']]);
  });

  test('an object that the Namespace cannot record is not created', async () => {
    const h = harness();
    const items = Array.from({ length: 100 }, (_, index) => index).join(',');
    const list = (prefix: string) => ({
      ...quotaOf({}, { name: `${prefix}${'x'.repeat(240)}\${item}` }),
      ...once,
      forEach: `'${items}'.split(',')`,
    });
    await settledWith(h, policyOf(list('a'), list('b'), list('c')), ['a']);
    const count = h.memory.list('ResourceQuota').length;
    expect(count).toBe(recordIn(h)?.length);
    expect(count).toBeGreaterThan(200);
    expect(count).toBeLessThan(300);
    const [failed] = h.status('NamespacePolicy', 'p')['failures'] as readonly object[];
    expect(failed).toMatchObject({ reason: 'RecordFull' });
  });

  test('a suspended policy creates, records and releases nothing', async () => {
    const h = await settledOnce({ ...policyOf(quota), suspend: true });
    expect([quotaIn(h), recordIn(h)]).toEqual([undefined, undefined]);
  });
});

describe('other contents with mode CreateOnce', () => {
  test('a RoleBinding is created once', async () => {
    const h = await settledOnce({ match: teams, contents: { roleBindings: [bindingOf(once)] } });
    expect(h.get('RoleBinding', 'devs', 'a')?.metadata.labels ?? {}).toEqual({});
    expect(recordIn(h)).toEqual(['rbac.authorization.k8s.io/RoleBinding/devs']);
  });

  test('a copy is created once, with the data that its source had then', async () => {
    const h = harness();
    h.namespace('reeve-shared');
    h.namespace('a', team);
    h.secret('reeve-shared', 'regcred', { user: 'u' });
    h.share('s', shareOf(once));
    h.start();
    await h.settle();
    h.secret('reeve-shared', 'regcred', { user: 'other' });
    h.namespace('b', team);
    await h.settle();
    const data = ['a', 'b'].map((each) => h.get('Secret', 'regcred', each)?.['data']);
    expect(data).toEqual([{ user: btoa('u') }, { user: btoa('other') }]);
    expect(h.get('Secret', 'regcred', 'a')?.metadata.labels ?? {}).toEqual({});
    h.memory.delete(refTo('SecretShare', 's'));
    await h.settle();
    expect(h.get('Secret', 'regcred', 'a')).toBeDefined();
  });
});

describe('a RoleBinding that another policy keeps, or will keep', () => {
  const bindings = (binding: object) => ({ match: teams, contents: { roleBindings: [binding] } });
  const named = (role: string, more: object = {}) => ({
    ...bindingOf(),
    roleRef: { kind: 'ClusterRole', name: role },
    ...more,
  });
  const roleIn = (h: Harness) => h.get('RoleBinding', 'devs', 'a')?.['roleRef'];

  test('access that ends in one policy does not outlive its end as the object that another one creates once', async () => {
    const h = await settledWith(harness(), bindings(named('edit', { expiresAfter: '8h' })), ['a']);
    h.policy('z', bindings(named('view', once)));
    await h.settle(9 * 3_600_000);
    expect(roleIn(h)).toMatchObject({ name: 'view' });
    expect(h.get('RoleBinding', 'devs', 'a')?.metadata.annotations ?? {}).toEqual({});
  });

  test('access that ends is deleted at its end, also where the Namespace has the record of an older object', async () => {
    const h = await settledWith(harness(), bindings(named('view', once)), ['a']);
    h.policy('q', bindings(named('edit', { expiresAfter: '8h' })));
    h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
    await h.settle();
    expect(roleIn(h)).toMatchObject({ name: 'edit' });
    await h.settle(9 * 3_600_000);
    expect(roleIn(h)).toBeUndefined();
  });

  test('a RoleBinding that is not recorded yet gets another role when its policy keeps it then', async () => {
    const h = harness();
    h.memory.fault = (verb, { kind }) =>
      verb === 'patch' && kind === 'Namespace' ? failure(503) : undefined;
    await settledWith(h, bindings(named('view', once)), ['a']);
    h.policy('p', bindings(named('edit')));
    await h.settle();
    expect(roleIn(h)).toMatchObject({ name: 'edit' });
  });
});

test('a Namespace whose other annotations leave no room for the record gets no object', async () => {
  const h = harness();
  h.namespace('a', team, { big: 'x'.repeat(262_100) });
  h.policy('p', policyOf(quota));
  h.start();
  await h.settle();
  expect(quotaIn(h)).toBeUndefined();
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failures: [{ reason: 'RecordFull' }] });
});
