// Tests which bodies are read and how the others are refused.
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { RunningServer } from './running-server.ts';

const secrets = '/api/v1/namespaces/a/secrets';
const share = '/apis/reeve.dev/v1alpha1/secretshares/a';
describe('bodies that are read', () => {
  it.each<readonly [string, string, string, string, unknown, string | undefined]>([
    ['POST', secrets, 'application/json', '{"a": 1}', { a: 1 }, undefined],
    ['POST', secrets, 'Application/JSON; charset=utf-8', '[1]', [1], undefined],
    ['POST', secrets, '', '{"a": 1}', { a: 1 }, undefined],
    ['POST', secrets, 'application/yaml', 'a:\n  - b', { a: ['b'] }, undefined],
    ['DELETE', `${secrets}/x`, 'application/json', '', undefined, undefined],
    [
      'DELETE',
      `${secrets}/x`,
      'application/json',
      '{"kind": "DeleteOptions"}',
      { kind: 'DeleteOptions' },
      undefined,
    ],
    ['PATCH', `${secrets}/x`, 'application/json-patch+json', '[]', [], 'json'],
    ['PATCH', `${secrets}/x`, 'application/merge-patch+json', '{}', {}, 'merge'],
    ['PATCH', `${secrets}/x`, 'application/strategic-merge-patch+json', '{}', {}, 'strategic'],
    ['PATCH', `${secrets}/x`, 'application/apply-patch+yaml', 'a: b', { a: 'b' }, 'apply'],
    ['PATCH', share, 'application/apply-patch+yaml', '{"a": "b"}', { a: 'b' }, 'apply'],
  ])('%s %s %s %s', async (method, path, type, text, body, patchType) => {
    await using server = await RunningServer.start();
    const headers = type === '' ? {} : { 'content-type': type };
    expect((await server.ask(method, path, headers, text)).code).toBe(200);
    expect(server.requests).toMatchObject([{ body, patchType }]);
  });

  it('the protobuf of kinds that kubectl creates is read', async () => {
    await using server = await RunningServer.start();
    const bytes = Buffer.from('6b3873000a0c0a0276311206536563726574120a1a08686f6d656d616465', 'hex');
    const type = { 'content-type': 'application/vnd.kubernetes.protobuf' };
    expect((await server.ask('POST', secrets, type, bytes)).code).toBe(200);
    expect(server.requests[0]?.body).toEqual({ apiVersion: 'v1', kind: 'Secret', type: 'homemade' });
  });
});

describe('bodies that are refused', () => {
  it.each<readonly [string, string, string, string, number, string]>([
    ['POST', secrets, 'application/json', '{"hunter2', 400, 'the body of the request is not JSON'],
    ['POST', secrets, 'application/json', '', 400, 'the body of the request is not JSON'],
    ['POST', secrets, 'application/yaml', 'hunter2: [', 400, 'the body of the request is not YAML: line 1: '],
    [
      'POST',
      secrets,
      'application/yaml',
      'a: 1\n---\na: 2\n',
      400,
      'the body of the request is more than one YAML document',
    ],
    [
      'POST',
      secrets,
      'text/plain',
      '{}',
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    ],
    ['POST', secrets, 'application/cbor', '{}', 415, 'the body of the request was in an unknown format'],
    ['POST', secrets, 'application/vnd.kubernetes.protobuf', 'hunter2', 400, ''],
    [
      'PATCH',
      `${secrets}/x`,
      'application/json',
      '{}',
      415,
      'the body of the request was in an unknown format',
    ],
    [
      'PATCH',
      `${secrets}/x`,
      'application/merge-patch+json',
      '{"hunter2',
      400,
      'the body of the request is not JSON',
    ],
    [
      'PATCH',
      `${secrets}/x`,
      'application/apply-patch+yaml',
      '{"hunter2',
      400,
      'the body of the request is not YAML: line 1: ',
    ],
    [
      'PATCH',
      share,
      'application/strategic-merge-patch+json',
      '{}',
      415,
      'the body of the request was in an unknown format',
    ],
  ])('%s %s %s %s', async (method, path, type, text, code, message) => {
    await using server = await RunningServer.start();
    const answer = await server.ask(method, path, { 'content-type': type }, text);
    expect(answer.code).toBe(code);
    expect(String(answer.json['message']).slice(0, message.length)).toBe(message);
    expect(answer.body).not.toContain('hunter2');
    expect(server.requests).toEqual([]);
  });

  it('a body of more than 3 MiB is refused and the connection stays open', async () => {
    await using server = await RunningServer.start();
    const type = { 'content-type': 'application/json' };
    const edge = JSON.stringify('x'.repeat(3 * 1024 * 1024 - 2));
    expect((await server.ask('POST', secrets, type, edge)).code).toBe(200);
    const { code, json } = await server.ask('POST', secrets, type, `${edge} `);
    expect({ code, json }).toMatchObject({
      code: 413,
      json: { reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' },
    });
    expect((await server.ask('POST', secrets, type, '{}')).code).toBe(200);
  });

  it('a body that breaks off is not reported as an error', async () => {
    await using server = await RunningServer.start(undefined, () => true);
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false });
    socket.write(`POST ${secrets} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`, () =>
      socket.destroy(),
    );
    await new Promise((resolve) => socket.once('close', resolve));
    expect((await server.ask('GET', '/version')).code).toBe(200);
    expect(server.requests).toEqual([]);
    expect(server.faults).toEqual([]);
  });
});
