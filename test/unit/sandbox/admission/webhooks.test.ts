// Tests the reviews that webhooks receive, their order, and the effect of their answers.
import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import { WebhookCallError } from '../../../../src/sandbox/admission/webhook-call.ts';
import { configMap, configMaps, configuration, errorStatusOf, namespaces, Scene, webhook } from './scene.ts';
import { kind } from './scene.ts';

let scene: Scene;
const object = configMap({}, { data: { a: '1' } });

beforeEach(() => {
  scene = new Scene();
  scene.namespace('here');
});

function patch(...operations: readonly JsonObject[]): JsonObject {
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}

function adding(key: string): JsonObject {
  return patch({ op: 'add', path: `/data/${key}`, value: 'x' });
}

const askedServices = (): readonly string[] => scene.asked.map(({ service }) => service);

describe('reviews', () => {
  test('the review equals that of the API server', async () => {
    scene.put(configuration('Validating', 'v', webhook('v')));
    const uid = 'u-1';
    const user = { username: 'jane', uid, groups: ['dev'], extra: { scopes: ['a'] } };
    await scene.admission.validate(scene.write({ resource: configMaps, object, user, dryRun: true }));
    expect(scene.asked[0]?.request).toEqual({
      uid: 'the-uid',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'one',
      namespace: 'here',
      operation: 'CREATE',
      userInfo: user,
      object,
      oldObject: null,
      dryRun: true,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    });
  });

  test('the review of a Namespace has its name as the namespace', async () => {
    scene.put(configuration('Validating', 'v', webhook('v')));
    const oldObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'here' } };
    await scene.admission.validate(
      scene.write({ resource: namespaces, subresource: 'finalize', object: oldObject, oldObject }),
    );
    const sent = { namespace: 'here', name: 'here', subResource: 'finalize', requestSubResource: 'finalize' };
    expect(scene.asked[0]?.request).toMatchObject(sent);
  });

  test('no webhook is called for webhook configurations', async () => {
    scene.put(configuration('Validating', 'v', webhook('v')));
    scene.put(configuration('Mutating', 'm', webhook('m')));
    const resource = kind('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration');
    const write = scene.write({ resource, object: { metadata: { name: 'v' } } });
    expect(await scene.admission.mutate(write)).toBe(write.object);
    await scene.admission.validate(write);
    expect(scene.asked).toEqual([]);
  });
});

test('mutating webhooks are called in the order of the configurations, each with the object of the one before', async () => {
  scene.put(configuration('Mutating', 'b', webhook('third')));
  scene.put(configuration('Mutating', 'a', webhook('first'), webhook('second')));
  scene.answers.set('first', () => adding('b'));
  scene.answers.set('third', () => adding('c'));
  const left = await scene.admission.mutate(scene.write({ resource: configMaps, object }));
  expect(left).toMatchObject({ data: { a: '1', b: 'x', c: 'x' } });
  expect(object).toMatchObject({ data: { a: '1' } });
  expect(askedServices()).toEqual(['first', 'second', 'third']);
  expect(scene.asked[1]?.request).toMatchObject({ object: { data: { a: '1', b: 'x' } } });
});

test('mutating webhooks are called again with IfNeeded when a later webhook has changed the object', async () => {
  const again = { reinvocationPolicy: 'IfNeeded' };
  scene.put(configuration('Mutating', 'm', webhook('a', again), webhook('b'), webhook('c', again)));
  scene.answers.set('a', () => adding('a2'));
  scene.answers.set('b', () => adding('b'));
  scene.answers.set('c', () => patch({ op: 'test', path: '/data/b', value: 'x' }));
  await scene.admission.mutate(scene.write({ resource: configMaps, object }));
  expect(askedServices()).toEqual(['a', 'b', 'c', 'a']);
});

test('mutating webhooks that send a patch that does not apply cause an error, whatever the failurePolicy', async () => {
  scene.put(configuration('Mutating', 'm', webhook('m', { failurePolicy: 'Ignore' })));
  scene.answers.set('m', () => patch({ op: 'remove', path: '/data/none' }));
  const failure = await errorStatusOf(scene.admission.mutate(scene.write({ resource: configMaps, object })));
  expect(failure).toMatchObject({ code: 500, reason: 'InternalError' });
  expect(failure?.message).toContain('the server rejected our request');
});

describe('answers', () => {
  const write = () => scene.write({ resource: configMaps, object });
  const denied = 'admission webhook "v.example.com" denied the request';

  test('a webhook with Ignore that does not answer refuses only a write whose client has gone', async () => {
    scene.put(configuration('Validating', 'v', webhook('v', { failurePolicy: 'Ignore' })));
    scene.answers.set('v', () => {
      throw new WebhookCallError('gone');
    });
    expect(await scene.refusal(write())).toBeUndefined();
    const signal = AbortSignal.abort();
    expect(await scene.refusal({ ...write(), signal })).toMatchObject({ code: 500 });
  });

  test.each([
    [undefined, { code: 400, reason: '', message: `${denied} without explanation` }],
    [{ message: 'no' }, { code: 400, reason: '', message: `${denied}: no` }],
    [
      { reason: 'Forbidden', code: 403 },
      { code: 403, reason: 'Forbidden', message: `${denied}: Forbidden` },
    ],
    [
      { message: 'no', code: 200 },
      { code: 400, reason: '', message: `${denied}: no` },
    ],
    [
      { message: 'no', code: 422, reason: 'Invalid', details: { causes: [{ field: 'a', message: 'b' }] } },
      { code: 422, details: { causes: [{ field: 'a', message: 'b' }] } },
    ],
  ])('a denial with %j has the status of the API server', async (status, failure) => {
    scene.put(configuration('Validating', 'v', webhook('v', { failurePolicy: 'Ignore' })));
    scene.answers.set('v', () => ({ allowed: false, status }));
    expect(await scene.refusal(write())).toMatchObject(failure);
  });

  test.each<['Mutating' | 'Validating', JsonObject, string]>([
    [
      'Validating',
      { uid: 'x' },
      'received invalid webhook response: expected response.uid="the-uid", got "x"',
    ],
    ['Mutating', { patch: 'W10=' }, 'unsupported patch type ""'],
    ['Mutating', { patchType: 'JSONPatch' }, 'received undecodable patch in webhook response'],
    ['Mutating', { ...adding('a'), patchType: 'Merge' }, 'unsupported patch type "Merge"'],
    ['Mutating', { ...adding('a'), patch: '{}' }, 'received undecodable patch in webhook response'],
  ])('an answer of a %s webhook is an error, which Ignore ignores: %j', async (type, answer, why) => {
    scene.answers.set('v', () => answer);
    scene.answers.set('w', () => answer);
    scene.put(configuration(type, 'w', webhook('w', { failurePolicy: 'Ignore' })));
    const ask = async () => {
      await scene.admission.mutate(write());
      await scene.admission.validate(write());
    };
    expect(await errorStatusOf(ask())).toBeUndefined();
    scene.put(configuration(type, 'x', webhook('v')));
    const message = `failed calling webhook "v.example.com": ${why}`;
    expect(await errorStatusOf(ask())).toEqual({
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ reason: '', message }] },
    });
  });

  test('validating webhooks are called in parallel, and the first refusal in their order counts', async () => {
    scene.put(configuration('Validating', 'v', webhook('a'), webhook('b')));
    const both = Promise.withResolvers<JsonObject>();
    scene.answers.set('a', () => both.promise);
    scene.answers.set('b', () => {
      both.resolve({ allowed: false, status: { message: 'a' }, warnings: ['from a'] });
      throw new WebhookCallError('failed to call webhook: gone');
    });
    expect(await scene.refusal(write())).toMatchObject({ message: expect.stringMatching(/: a$/) as string });
    expect(scene.warnings).toEqual(['from a']);
  });
});

describe('matchConditions', () => {
  const condition = (expression: string, index: number): JsonObject => ({ name: `c${index}`, expression });

  test.each([
    [['request.userInfo.username == "jane"', '"dev" in request.userInfo.groups'], 'Fail', 'asked'],
    [['request.userInfo.username == "joe"'], 'Fail', 'left out'],
    [['oldObject == null && namespaceObject == null && object.data.a == "1"'], 'Fail', 'asked'],
    [['object.none == 1', 'false'], 'Fail', 'left out'],
    [['object.none == 1'], 'Ignore', 'left out'],
    [
      ['object.none == 1'],
      'Fail',
      `configmaps "one" is forbidden: expression 'object.none == 1' resulted in error: no such key: none`,
    ],
  ])('%j with failurePolicy %s lead to: %s', async (expressions, failurePolicy, outcome) => {
    const matchConditions = expressions.map(condition);
    scene.put(configuration('Validating', 'v', webhook('v', { matchConditions, failurePolicy })));
    const refusal = await scene.refusal(scene.write({ resource: configMaps, object }));
    const told = refusal?.message ?? (scene.asked.length > 0 ? 'asked' : 'left out');
    expect(told).toContain(outcome);
  });
});
