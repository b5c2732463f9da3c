// Writes that meet others while admission is asked about them.
import { expect, test } from 'vitest';
import { Service } from './service.ts';

test('of a collection, what goes meanwhile does not keep the others', async () => {
  const service = new Service();
  for (const name of ['a', 'b', 'c']) service.put(name);
  service.admitted = ({ oldObject }) => {
    if (oldObject?.metadata.name === 'b') service.remove('b');
  };
  expect(await service.ask('deletecollection')).toMatchObject({ kind: 'list' });
  expect(service.names).toEqual([]);
});

test('what goes meanwhile has not been deleted by who asked for it alone', async () => {
  const service = new Service();
  service.put('a');
  service.admitted = () => {
    service.remove('a');
  };
  await expect(service.ask('delete', { name: 'a' })).rejects.toMatchObject({ status: { code: 404 } });
});

test('of two who apply at once what is not there, the second adds to it', async () => {
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
