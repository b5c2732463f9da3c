// Tests that an invalid request is refused with a Status that names the problem.
import { expect, it } from 'vitest';
import type { Sending } from './support/api.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap } from './support/objects.ts';

interface Wrong {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly sending?: Sending;
  readonly code: number;
  readonly reason: string;
}

const collection = at('configmaps', 'default');
const patched = at('namespaces', '', 'default');

function typed(type: string, text: string): Sending {
  return { text, headers: { 'content-type': type } };
}

const wrong: readonly Wrong[] = [
  { what: 'no such resource', method: 'GET', path: '/api/v1/nothings', code: 404, reason: 'NotFound' },
  { what: 'no such group', method: 'GET', path: '/apis/none.test/v1/things', code: 404, reason: 'NotFound' },
  {
    what: 'no such version',
    method: 'GET',
    path: '/apis/reeve.dev/v9/secretshares',
    code: 404,
    reason: 'NotFound',
  },
  {
    what: 'no such subresource',
    method: 'GET',
    path: at('configmaps', 'default', 'a', 'status'),
    code: 404,
    reason: 'NotFound',
  },
  {
    what: 'a cluster-scoped kind in a namespace',
    method: 'GET',
    path: '/api/v1/namespaces/default/namespaces',
    code: 404,
    reason: 'NotFound',
  },
  {
    what: 'a verb that an object does not know',
    method: 'POST',
    path: at('namespaces', '', 'default'),
    sending: { body: {} },
    code: 405,
    reason: 'MethodNotAllowed',
  },
  {
    what: 'a verb that a collection does not know',
    method: 'PUT',
    path: collection,
    sending: { body: {} },
    code: 405,
    reason: 'MethodNotAllowed',
  },
  {
    what: 'a delete of all namespaces',
    method: 'DELETE',
    path: at('namespaces', ''),
    code: 405,
    reason: 'MethodNotAllowed',
  },
  {
    what: 'a body that is no JSON',
    method: 'POST',
    path: collection,
    sending: typed('application/json', '{'),
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'a body that is a list',
    method: 'POST',
    path: collection,
    sending: { body: [] },
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'a body that is a number',
    method: 'POST',
    path: collection,
    sending: { body: 7 },
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'a body of more than 3 MiB',
    method: 'POST',
    path: collection,
    sending: { body: configMap('a', { b: 'x'.repeat(3 * 1024 * 1024) }) },
    code: 413,
    reason: 'RequestEntityTooLarge',
  },
  {
    what: 'a field of another type',
    method: 'POST',
    path: collection,
    sending: { body: { metadata: { name: 'a', labels: 'none' } } },
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'a body of a type that nobody reads',
    method: 'POST',
    path: collection,
    sending: typed('text/plain', JSON.stringify(configMap('a'))),
    code: 415,
    reason: 'UnsupportedMediaType',
  },
  {
    what: 'a patch of a type that is none',
    method: 'PATCH',
    path: patched,
    sending: typed('application/json', '{}'),
    code: 415,
    reason: 'UnsupportedMediaType',
  },
  {
    what: 'a JSON patch that is no list',
    method: 'PATCH',
    path: patched,
    sending: typed('application/json-patch+json', '{}'),
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'a merge patch that is no JSON',
    method: 'PATCH',
    path: patched,
    sending: typed('application/merge-patch+json', '{'),
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'an apply without a manager',
    method: 'PATCH',
    path: patched,
    sending: typed(
      'application/apply-patch+yaml',
      '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}',
    ),
    code: 422,
    reason: 'Invalid',
  },
  {
    what: 'a force that is no apply',
    method: 'PATCH',
    path: `${patched}?force=true`,
    sending: typed('application/merge-patch+json', '{}'),
    code: 422,
    reason: 'Invalid',
  },
  {
    what: 'a dry run of another kind',
    method: 'POST',
    path: `${collection}?dryRun=Some`,
    sending: { body: configMap('a') },
    code: 422,
    reason: 'Invalid',
  },
  {
    what: 'a label selector that is none',
    method: 'GET',
    path: `${collection}?labelSelector=a%20b%20c`,
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'a field selector that is none',
    method: 'GET',
    path: `${collection}?fieldSelector=metadata.name%3D%3D%3D%3D%3E%2C%2C!`,
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'a field that cannot be selected by',
    method: 'GET',
    path: `${collection}?fieldSelector=data.a%3Db`,
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'a continue token that is none',
    method: 'GET',
    path: `${collection}?limit=1&continue=none`,
    code: 400,
    reason: 'BadRequest',
  },
  {
    what: 'an answer in a form that nobody has',
    method: 'GET',
    path: collection,
    sending: { headers: { accept: 'text/csv' } },
    code: 406,
    reason: 'NotAcceptable',
  },
];

onEachBackend('failures', (backend) => {
  it.each(wrong)('$what: $code', async ({ method, path, sending, code, reason }) => {
    const { status, text, body } = await backend.api.send(method, path, sending);
    expect(status, text).toBe(code);
    // The real API server answers some of these before it chooses a form for them.
    if (body.kind === 'Status') expect(body).toMatchObject({ status: 'Failure', reason, code });
    else expect(text).not.toBe('');
  });

  it('the API server reads YAML wherever it reads JSON', async () => {
    const ns = await backend.namespace();
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  b: "c"\n';
    const { status, body } = await backend.api.send(
      'POST',
      at('configmaps', ns),
      typed('application/yaml', text),
    );
    expect(status).toBe(201);
    expect(body.data).toEqual({ b: 'c' });
  });

  it('the API server answers in YAML when the client asks for YAML', async () => {
    const { status, type, text } = await backend.api.get(patched, { accept: 'application/yaml' });
    expect(status).toBe(200);
    expect(type).toMatch(/^application\/yaml/);
    expect(text).toContain('\nkind: Namespace\n');
  });

  it('the API server falls back to JSON for a client that prefers protobuf', async () => {
    const accept = 'application/unknown;q=0.9, application/json';
    const { status, type } = await backend.api.get(patched, { accept });
    expect({ status, type }).toEqual({ status: 200, type: 'application/json' });
  });
});
