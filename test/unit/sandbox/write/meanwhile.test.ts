// Tests writes during which another write changes the same object.
import { expect, test } from 'vitest';
import { Service } from './service.ts';

test('an object that is deleted in between does not stop the deletion of its collection', async () => {
  const service = new Service();
  for (const name of ['a', 'b', 'c']) service.put(name);
  service.admitted = ({ oldObject }) => {
    if (oldObject?.metadata.name === 'b') service.remove('b');
  };
  expect(await service.ask('deletecollection')).toMatchObject({ kind: 'list' });
  expect(service.names).toEqual([]);
});

test('the delete of an object that is deleted in between answers 404', async () => {
  const service = new Service();
  service.put('a');
  service.admitted = () => {
    service.remove('a');
  };
  await expect(service.ask('delete', { name: 'a' })).rejects.toMatchObject({ status: { code: 404 } });
});

test('when two managers apply a missing object at once, the second adds to the object of the first', async () => {
  const service = new Service();
  const apply = async (manager: string): Promise<unknown> =>
    await service.ask('patch', {
      name: 'a',
      patchType: 'apply',
      query: new URLSearchParams({ fieldManager: manager }),
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { [manager]: 'x' } },
    });
  service.admitted = async ({ operation }) => {
    service.admitted = () => undefined;
    if (operation === 'CREATE') await apply('first');
  };
  expect(await apply('second')).toMatchObject({ code: 200, object: { data: { first: 'x', second: 'x' } } });
});

test.each([{ dryRun: 'All' }, { dryRun: ['All'] }])(
  'a dry run by the body %o deletes nothing',
  async (body) => {
    const service = new Service();
    service.put('a');
    await service.ask('delete', { name: 'a', body });
    expect(service.names).toEqual(['a']);
  },
);
