// Tests the garbage collector with objects whose owners are deleted.
import { expect, test } from 'vitest';
import { forbiddenError } from '../../../../src/sandbox/api-error.ts';
import { Service } from '../write/service.ts';
import { garbageCollector } from '../../../../src/sandbox/controllers/deletion.ts';

const ofGone = { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }] };

test('an object whose deletion is refused does not hold up the others and is tried again', async () => {
  const service = new Service();
  for (const name of ['a', 'b', 'c']) service.put(name, ofGone);
  service.put('kept', { ownerReferences: [{ uid: 'gone' }, { uid: 'a' }] });
  service.put('free');
  service.admitted = ({ name }) => {
    if (name === 'a') throw forbiddenError(service.configMaps, name, 'no');
  };
  expect(await garbageCollector(service.context).run()).toBe(false);
  expect(service.names).toEqual(['a', 'free', 'kept']);
  service.admitted = () => undefined;
  expect(await garbageCollector(service.context).run()).toBe(true);
  expect(service.names).toEqual(['free', 'kept']);
});
