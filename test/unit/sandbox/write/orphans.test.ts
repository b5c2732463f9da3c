// Tests the dependents of a deleted object.
import { expect, test } from 'vitest';
import type { ObjectRequest } from '../../../../src/sandbox/resource.ts';
import { Service } from './service.ts';
import { garbageCollector } from '../../../../src/sandbox/controllers/deletion.ts';

const orphan = new URLSearchParams({ propagationPolicy: 'Orphan' });

test.each<[string, Partial<ObjectRequest>, readonly string[]]>([
  ['are collected', {}, []],
  ['stay where the query says so', { query: orphan }, ['dependent']],
  ['stay where the body says so', { body: { propagationPolicy: 'Orphan' } }, ['dependent']],
])('%s', async (_, parts, names) => {
  const service = new Service();
  service.put('owner');
  service.put('dependent', { ownerReferences: [{ uid: 'owner' }] });
  await service.ask('delete', { name: 'owner', ...parts });
  await garbageCollector(service.context).run();
  expect(service.names).toEqual(names);
});

test('dependents keep their owner in a dry run, and always their other owners', async () => {
  const service = new Service();
  service.put('owner');
  service.put('dependent', { ownerReferences: [{ uid: 'owner' }, { uid: 'other' }] });
  const owners = (): unknown =>
    service.store.get(service.configMaps, 'here', 'dependent')?.metadata.ownerReferences;
  await service.ask('delete', { name: 'owner', query: orphan, body: { dryRun: ['All'] } });
  expect(owners()).toEqual([{ uid: 'owner' }, { uid: 'other' }]);
  await service.ask('delete', { name: 'owner', query: orphan });
  expect(owners()).toEqual([{ uid: 'other' }]);
});
