// Tests how long the tokens of service accounts are valid.
import { expect, test } from 'vitest';
import { Service } from './service.ts';

const account = { metadata: { name: 'a', namespace: 'here', uid: 'first' } };

async function issued(service: Service, expirationSeconds: number): Promise<string> {
  const body = { spec: { expirationSeconds } };
  const resource = service.serviceAccounts;
  const answer = await service.ask('create', { resource, name: 'a', subresource: 'token', body });
  if (answer.kind !== 'object') throw new Error('no object');
  return (answer.object['status'] as { token: string }).token;
}

test('a token is valid until it expires', async () => {
  const service = new Service();
  service.store.put(service.serviceAccounts, account, undefined);
  const token = await issued(service, 600);
  service.now = new Date(599_000);
  expect(service.tokens.find(token)?.username).toBe('system:serviceaccount:here:a');
  service.now = new Date(600_000);
  expect(service.tokens.find(token)).toBeUndefined();
});

test('a token is valid while its service account has the same uid', async () => {
  const service = new Service();
  const stored = service.store.put(service.serviceAccounts, account, undefined);
  const token = await issued(service, 600);
  expect(service.tokens.find(token)?.uid).toBe('first');
  if (stored !== undefined) service.store.remove(service.serviceAccounts, stored);
  const another = { metadata: { ...account.metadata, uid: 'second' } };
  service.store.put(service.serviceAccounts, another, undefined);
  expect(service.tokens.find(token)).toBeUndefined();
});

test('a token of less than ten minutes is refused', async () => {
  const service = new Service();
  service.store.put(service.serviceAccounts, account, undefined);
  await expect(issued(service, 599)).rejects.toMatchObject({ status: { code: 422 } });
});
