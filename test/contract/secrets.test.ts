// Tests Secrets: their data, their types, and the fields that cannot be changed.
import { describe, expect, it } from 'vitest';
import { causeFields } from './support/answers.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { at, secret } from './support/objects.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Case {
  readonly what: string;
  readonly rest: object;
  /** The parts of a refusal that the tests compare. */
  readonly fields?: readonly string[];
}

const cases: readonly Case[] = [
  { what: 'no data at all', rest: {} },
  { what: 'a type of our own', rest: { type: 'test.dev/token' } },
  { what: 'keys of all sorts', rest: { data: { '.a-b_C.0': '' } } },
  { what: 'a key that is none', rest: { data: { 'a b': '' } }, fields: ['data[a b]'] },
  {
    what: 'TLS without its key',
    rest: { type: 'kubernetes.io/tls' },
    fields: ['data[tls.crt]', 'data[tls.key]'],
  },
  { what: 'TLS', rest: { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } } },
  {
    what: 'a Docker configuration without one',
    rest: { type: 'kubernetes.io/dockerconfigjson' },
    fields: ['data[.dockerconfigjson]'],
  },
  {
    what: 'a Docker configuration that is no JSON',
    rest: { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{' } },
    fields: ['data[.dockerconfigjson]'],
  },
  {
    what: 'a Docker configuration',
    rest: { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{"auths":{}}' } },
  },
  {
    what: 'basic authentication without anything',
    rest: { type: 'kubernetes.io/basic-auth' },
    fields: ['data[password]', 'data[username]'],
  },
  { what: 'basic authentication', rest: { type: 'kubernetes.io/basic-auth', stringData: { username: 'a' } } },
  {
    what: 'SSH without a key',
    rest: { type: 'kubernetes.io/ssh-auth' },
    fields: ['data[ssh-privatekey]'],
  },
  {
    what: 'a token of no service account',
    rest: { type: 'kubernetes.io/service-account-token' },
    fields: ['metadata.annotations[kubernetes.io/service-account.name]'],
  },
  {
    what: 'more than a mebibyte',
    rest: { stringData: { a: 'x'.repeat(1024 * 1024), b: 'x' } },
    fields: ['data'],
  },
];

onEachBackend('secrets', (backend) => {
  it('Secrets are Opaque by default, and stringData becomes data', async () => {
    const ns = await backend.namespace();
    const rest = { data: { user: base64('bob'), more: base64('x') }, stringData: { user: 'ann' } };
    const { status, body } = await backend.api.create(at('secrets', ns), secret('a', rest));
    expect(status).toBe(201);
    expect(body).toMatchObject({ type: 'Opaque', data: { user: base64('ann'), more: base64('x') } });
    expect(body).not.toHaveProperty('stringData');
  });

  it.each(cases)('Secrets with $what are accepted or refused by their fields', async ({ rest, fields }) => {
    const ns = await backend.namespace();
    const { status, body } = await backend.api.create(at('secrets', ns), secret('a', rest));
    expect(status, body.message).toBe(fields === undefined ? 201 : 422);
    if (fields !== undefined) expect(causeFields(body)).toEqual(fields);
  });

  it.each(['no base64', 'YQ', '='])('Secrets whose data is %s are refused', async (value) => {
    const ns = await backend.namespace();
    const { status, body } = await backend.api.create(at('secrets', ns), secret('a', { data: { b: value } }));
    expect(status).toBe(backend.expects(differences.noBase64));
    expect(body.message).toContain('illegal base64');
  });

  it('Secrets cannot change their type', async () => {
    const ns = await backend.namespace();
    await backend.api.must(backend.api.create(at('secrets', ns), secret('a')));
    const patch = { type: 'test.dev/token' };
    const { status, body } = await backend.api.patch(at('secrets', ns, 'a'), 'merge', patch);
    expect(status).toBe(422);
    expect(causeFields(body)).toEqual(['type']);
    expect(body.message).toContain('field is immutable');
  });

  describe('that are immutable', () => {
    const fixed = secret('a', { immutable: true, data: { b: base64('c') }, type: 'test.dev/fixed' });

    it.each([
      ['their data', { data: { b: base64('d') } }, ['data']],
      ['new data', { stringData: { e: 'f' } }, ['data']],
      ['being so', { immutable: false }, ['immutable']],
    ])('immutable Secrets do not change %s', async (_, patch, fields) => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('secrets', ns), fixed));
      const { status, body } = await backend.api.patch(at('secrets', ns, 'a'), 'merge', patch);
      expect(status).toBe(422);
      expect(causeFields(body)).toEqual(fields);
      expect(body.message).toContain('field is immutable when `immutable` is set');
    });

    it('immutable Secrets change their labels, and can be deleted', async () => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('secrets', ns), fixed));
      const patch = { metadata: { labels: { a: 'b' } } };
      const { status } = await backend.api.patch(at('secrets', ns, 'a'), 'merge', patch);
      expect(status).toBe(200);
      expect((await backend.api.delete(at('secrets', ns, 'a'))).status).toBe(200);
    });
  });
});
