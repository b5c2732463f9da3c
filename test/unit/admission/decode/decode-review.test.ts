// Decoding reviews: what becomes a review, what is refused inside one, and what HTTP alone answers.
import { describe, expect, test } from 'vitest';
import { decodeReview } from '../../../../src/admission/decode/decode-review.ts';
import type { DecodedReview } from '../../../../src/admission/decode/decode-review.ts';
import type { AnyReview } from '../../../../src/policy/terms/review.ts';
import {
  bindingObject,
  namespaceObject,
  requestFor,
  reviewOf,
  roleObject,
  secretObject,
  testUid,
  type Json,
} from '../../../support/reviews.ts';

function decode(review: unknown, endpoint: 'validate' | 'mutate' = 'validate'): DecodedReview {
  return decodeReview(Buffer.from(JSON.stringify(review)), endpoint);
}

function decodeRequest(
  object: Json,
  changes: Json = {},
  endpoint: 'validate' | 'mutate' = 'validate',
): DecodedReview {
  return decode(reviewOf(requestFor(object, changes)), endpoint);
}

function reviewFrom(decoded: DecodedReview): AnyReview {
  if (decoded.kind !== 'review') throw new Error(JSON.stringify(decoded));
  return decoded.review;
}

const namespace = namespaceObject('team-a');

describe('a decoded review', () => {
  test('a CREATE of a Namespace is decoded', () => {
    const review = reviewFrom(decodeRequest(namespace));
    expect(review).toMatchObject({
      uid: testUid,
      resource: 'namespaces',
      subresource: '',
      operation: 'CREATE',
      name: 'team-a',
      namespace: 'team-a',
      requester: { username: 'alice', groups: ['developers', 'system:authenticated'] },
      dryRun: false,
      object: namespace,
    });
    expect(review.oldObject).toBeUndefined();
  });

  test('expressions can read the request without its objects and without fields that are null', () => {
    const review = reviewFrom(
      decodeRequest(namespace, { dryRun: undefined, options: null, subResource: 'status' }),
    );
    expect(Object.keys(review.attributes).toSorted()).toEqual([
      'dryRun',
      'kind',
      'name',
      'namespace',
      'operation',
      'requestKind',
      'requestResource',
      'resource',
      'subResource',
      'userInfo',
    ]);
    expect(review.attributes['dryRun']).toBe(false);
  });

  test('a deletecollection is decoded with the name from the old object', () => {
    const changes = { operation: 'DELETE', name: '', object: null, oldObject: secretObject() };
    const review = reviewFrom(decodeRequest(secretObject(), changes));
    expect(review).toMatchObject({ operation: 'DELETE', name: 'credentials', namespace: 'team-a' });
    expect(review.object).toBeUndefined();
  });

  test('an object without a namespace gets the namespace of the request', () => {
    const object = secretObject({}, { namespace: undefined });
    const review = reviewFrom(decodeRequest(object, { namespace: 'team-a' }));
    expect(review.object?.metadata.namespace).toBe('team-a');
  });

  test('the old object of a CREATE and the new object of a DELETE are ignored', () => {
    expect(reviewFrom(decodeRequest(namespace, { oldObject: 'x' })).oldObject).toBeUndefined();
    const changes = { operation: 'DELETE', object: 'x', oldObject: namespace };
    expect(reviewFrom(decodeRequest(namespace, changes)).object).toBeUndefined();
  });

  test.each(['labels', 'annotations', 'ownerReferences', 'finalizers', 'deletionTimestamp', 'generateName'])(
    'a null metadata.%s is absent',
    (field) => {
      const review = reviewFrom(decodeRequest(namespaceObject('team-a', { [field]: null })));
      expect(Object.keys(review.object?.metadata ?? {})).not.toContain(field);
    },
  );

  test('a null value in a Secret is empty, and a null map is absent', () => {
    const review = reviewFrom(
      decodeRequest(secretObject({ data: { a: null, b: 'Yg==' }, stringData: null, type: null })),
    );
    expect(review.object?.['data']).toEqual({ a: '', b: 'Yg==' });
    expect(Object.keys(review.object ?? {})).not.toContain('stringData');
    expect(Object.keys(review.object ?? {})).not.toContain('type');
  });

  test('keys that objects inherit in JavaScript are plain keys', () => {
    const keys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const map = `{${keys.map((key) => `"${key}":"eA=="`).join(',')},"n":null}`;
    const object = JSON.stringify(secretObject({ data: 'MAP' }, { labels: 'MAP' }));
    const body = JSON.stringify(reviewOf(requestFor(secretObject(), { object: 'OBJECT' })))
      .replace('"OBJECT"', object)
      .replace('"MAP"', map.replace(',"n":null', ''))
      .replace('"MAP"', map);
    const review = reviewFrom(decodeReview(Buffer.from(body), 'validate'));
    expect(Object.keys(review.object?.metadata.labels ?? {})).toEqual(keys);
    expect(Object.keys(review.object?.['data'] as Json)).toEqual([...keys, 'n']);
  });

  test('groups and uid may be missing, and extra holds lists', () => {
    const userInfo = { username: 'a', extra: { scopes: ['x'], none: null } };
    expect(reviewFrom(decodeRequest(namespace, { userInfo })).requester).toEqual({
      username: 'a',
      groups: [],
      extra: { scopes: ['x'], none: [] },
    });
  });
});

/** A name, an object, changes to the request, and the code of the answer if it is not 400. */
type Row = readonly [string, Json, Json, number?];

function withCode([name, object, changes, code = 400]: Row): readonly [string, Json, Json, number] {
  return [name, object, changes, code];
}

describe('requests that are refused inside the review', () => {
  const update = { operation: 'UPDATE', oldObject: namespace };
  const metadata = (fields: Json): Json => namespaceObject('team-a', fields);
  const rows: readonly Row[] = [
    ['no operation', namespace, { operation: undefined }],
    ['an operation in small letters', namespace, { operation: 'create' }],
    ['an operation of HTTP', namespace, { operation: 'PATCH' }],
    ['an operation that is a list', namespace, { operation: ['CREATE'] }],
    ['CONNECT', namespace, { operation: 'CONNECT' }],
    ['no resource', namespace, { resource: undefined }],
    ['a resource as text', namespace, { resource: 'namespaces' }],
    ['a resource with a number', namespace, { resource: { group: '', version: 'v1', resource: 5 } }],
    ['another resource', namespace, { resource: { group: '', version: 'v1', resource: 'pods' } }],
    ['another version', namespace, { resource: { group: '', version: 'v2', resource: 'namespaces' } }],
    ['another group', namespace, { resource: { group: 'x', version: 'v1', resource: 'namespaces' } }],
    [
      'a resource of Object.prototype',
      namespace,
      { resource: { group: '', version: 'v1', resource: 'constructor' } },
    ],
    ['a kind that is not of the resource', namespace, { kind: { group: '', version: 'v1', kind: 'Secret' } }],
    ['a kind as text', namespace, { kind: 'Namespace' }],
    ['a subresource as number', namespace, { subResource: 1 }],
    ['an unknown subresource', namespace, { subResource: 'scale' }, 403],
    ['a subresource in capitals', namespace, { subResource: 'Status' }, 403],
    ['a subresource of a Secret', secretObject(), { subResource: 'status' }, 403],
    ['no user', namespace, { userInfo: undefined }, 403],
    ['a user of null', namespace, { userInfo: null }, 403],
    ['a user as text', namespace, { userInfo: 'alice' }, 403],
    ['a user without a name', namespace, { userInfo: { groups: [] } }, 403],
    ['an empty user name', namespace, { userInfo: { username: '' } }, 403],
    ['a user name as number', namespace, { userInfo: { username: 5 } }, 403],
    ['groups as text', namespace, { userInfo: { username: 'a', groups: 'system:masters' } }, 403],
    ['groups as object', namespace, { userInfo: { username: 'a', groups: { 0: 'x' } } }, 403],
    ['groups with a number', namespace, { userInfo: { username: 'a', groups: [1] } }, 403],
    ['groups with null', namespace, { userInfo: { username: 'a', groups: [null] } }, 403],
    ['extra as text', namespace, { userInfo: { username: 'a', extra: { a: 'b' } } }, 403],
    ['dryRun as text', namespace, { dryRun: 'yes' }],
    ['dryRun as number', namespace, { dryRun: 1 }],
    ['a name as number', namespace, { name: 5 }],
    ['a namespace as list', namespace, { namespace: [] }],
    ['another name', namespace, { name: 'team-b', namespace: 'team-a' }],
    ['another namespace', namespace, { namespace: 'team-b' }],
    ['another namespace of a Secret', secretObject(), { namespace: 'team-b' }],
    ['no namespace at all', secretObject({}, { namespace: undefined }), { namespace: undefined }],
    ['object null on CREATE', namespace, { object: null }],
    ['object null on UPDATE', namespace, { ...update, object: null }],
    ['oldObject null on UPDATE', namespace, { operation: 'UPDATE', oldObject: null }],
    ['oldObject null on DELETE', namespace, { operation: 'DELETE', object: null, oldObject: null }],
    ['an object as list', namespace, { object: [] }],
    ['an object as text', namespace, { object: '{}' }],
    ['another old name', namespace, { operation: 'UPDATE', oldObject: namespaceObject('team-b') }],
    ['no name on UPDATE', namespaceObject('team-a', { name: undefined }), { ...update, name: 'team-a' }],
    ['another kind in the object', namespace, { object: { ...namespace, kind: 'Secret' } }],
    ['another apiVersion', { ...namespace, apiVersion: 'v2' }, {}],
    ['an apiVersion as number', { ...namespace, apiVersion: 1 }, {}],
    ['no metadata', namespace, { object: { ...namespace, metadata: undefined } }],
    ['metadata of null', namespace, { object: { ...namespace, metadata: null } }],
    ['metadata as list', namespace, { object: { ...namespace, metadata: [] } }],
    ['metadata as text', namespace, { object: { ...namespace, metadata: 'x' } }],
    ['the name of an object as number', namespace, { object: metadata({ name: 5 }) }],
    ['generateName as list', metadata({ generateName: [] }), {}],
    ['labels as list', metadata({ labels: [] }), {}],
    ['labels as text', metadata({ labels: 'a=b' }), {}],
    ['a label as number', metadata({ labels: { a: 1 } }), {}],
    ['a label as boolean', metadata({ labels: { a: true } }), {}],
    ['a label of null', metadata({ labels: { a: null } }), {}],
    ['a label as object', metadata({ labels: { a: {} } }), {}],
    ['annotations as list', metadata({ annotations: [] }), {}],
    ['an annotation as number', metadata({ annotations: { a: 1 } }), {}],
    ['ownerReferences as object', metadata({ ownerReferences: {} }), {}],
    ['an ownerReference as text', metadata({ ownerReferences: ['x'] }), {}],
    ['an ownerReference with a number', metadata({ ownerReferences: [{ uid: 5 }] }), {}],
    ['finalizers as text', metadata({ finalizers: 'x' }), {}],
    ['a finalizer as number', metadata({ finalizers: [1] }), {}],
    ['deletionTimestamp as number', metadata({ deletionTimestamp: 5 }), {}],
    ['deletionTimestamp as empty text', metadata({ deletionTimestamp: '' }), {}],
    ['deletionTimestamp as some text', metadata({ deletionTimestamp: 'now' }), {}],
    ['bad labels of the old object', namespace, { operation: 'UPDATE', oldObject: metadata({ labels: [] }) }],
    ['the type of a Secret as number', secretObject({ type: 5 }), {}],
    ['data as list', secretObject({ data: [] }), {}],
    ['data as text', secretObject({ data: 'eA==' }), {}],
    ['data with a number', secretObject({ data: { a: 5 } }), {}],
    ['data with an object', secretObject({ data: { a: {} } }), {}],
    ['stringData with a number', secretObject({ stringData: { a: 5 } }), {}],
    ['no roleRef', bindingObject({ roleRef: undefined }), {}],
    ['roleRef as text', bindingObject({ roleRef: 'view' }), {}],
    ['roleRef of another kind', bindingObject({ roleRef: { kind: 'clusterrole', name: 'view' } }), {}],
    ['roleRef without a name', bindingObject({ roleRef: { kind: 'ClusterRole' } }), {}],
    ['roleRef with an empty name', bindingObject({ roleRef: { kind: 'ClusterRole', name: '' } }), {}],
    ['roleRef of another group', bindingObject({ roleRef: { kind: 'Role', name: 'x', apiGroup: 'v1' } }), {}],
    ['subjects as object', bindingObject({ subjects: {} }), {}],
    ['a subject as text', bindingObject({ subjects: ['alice'] }), {}],
    ['a subject of null', bindingObject({ subjects: [null] }), {}],
    ['a subject with a name as number', bindingObject({ subjects: [{ kind: 'User', name: 5 }] }), {}],
    ['rules as object', roleObject({ rules: {} }), {}],
    ['a rule as text', roleObject({ rules: ['*'] }), {}],
    ['verbs as text', roleObject({ rules: [{ verbs: '*' }] }), {}],
    ['a verb as number', roleObject({ rules: [{ verbs: [1] }] }), {}],
  ];

  test.each(rows.map(withCode))('%s', (_name, object, changes, code) => {
    const decoded = decodeRequest(object, changes);
    expect(decoded).toMatchObject({ kind: 'malformed', problem: { code }, summary: { uid: testUid } });
  });
});

describe('requests that reach the engine', () => {
  const rows: readonly (readonly [string, Json, Json])[] = [
    ['no kind in the request', namespace, { kind: undefined }],
    [
      'no kind in the object',
      { ...namespace, kind: undefined, apiVersion: undefined },
      requestFor(namespace),
    ],
    ['options of null', namespace, { options: null }],
    [
      'generateName alone',
      namespaceObject('x', { name: undefined, generateName: 'team-' }),
      { name: '', namespace: '' },
    ],
    ['a name that is no name', namespaceObject('Not/A..Name'), {}],
    ['a very long name', namespaceObject('a'.repeat(300)), {}],
    ['data that is not base64', secretObject({ data: { a: '%%%' } }), {}],
    ['roleRef without a group', bindingObject({ roleRef: { kind: 'Role', name: 'x', apiGroup: '' } }), {}],
    ['subjects of null', bindingObject({ subjects: null }), {}],
    ['a subject of an unknown kind', bindingObject({ subjects: [{ kind: 'Robot', name: 'x' }] }), {}],
    ['rules of null', roleObject({ rules: null }), {}],
    ['lists of null in a rule', roleObject({ rules: [{ verbs: ['get'], resources: null }] }), {}],
    ['unknown fields', { ...namespace, more: { and: ['more'] } }, { more: 1 }],
  ];
  test.each(rows)('%s', (_name, object, changes) => {
    const { object: _object, ...others } = changes;
    expect(decodeRequest(object, others).kind).toBe('review');
  });
});

describe('the mutating endpoint', () => {
  const rows: readonly (readonly [string, Json, Json])[] = [
    ['another resource', namespace, { resource: { group: '', version: 'v1', resource: 'pods' } }],
    ['CONNECT', namespace, { operation: 'CONNECT' }],
    ['DELETE', namespace, { operation: 'DELETE', object: null, oldObject: namespace }],
  ];
  test.each(rows)('it passes %s', (_name, object, changes) => {
    expect(decodeRequest(object, changes, 'mutate').kind).toBe('passed');
  });

  test('it refuses malformed requests', () => {
    expect(decodeRequest(namespace, { operation: 'create' }, 'mutate').kind).toBe('malformed');
    expect(decodeRequest(namespace, { userInfo: null }, 'mutate').kind).toBe('malformed');
  });
});

describe('bodies that are refused by an HTTP status', () => {
  const good = JSON.stringify(reviewOf(requestFor(namespace)));
  const rows: readonly (readonly [string, string | Buffer])[] = [
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['nothing but blanks', ' \n'],
    ['half of it', good.slice(0, -5)],
    ['more after the end', `${good}x`],
    ['two of them', good + good],
    ['a byte order mark', `\uFEFF${good}`],
    ['UTF-16', Buffer.from(good, 'utf16le')],
    ['UTF-16 with its mark', Buffer.from(`\uFEFF${good}`, 'utf16le')],
    ['a broken character', Buffer.concat([Buffer.from(good.replace('alice', 'al')), Buffer.from([0xc3])])],
    ['an overlong slash', Buffer.from(good.replace('alice', 'al\xc0\xafce'), 'latin1')],
    ['half of a surrogate pair', Buffer.from(good.replace('alice', '\xed\xa0\x80'), 'latin1')],
    ['NaN', good.replace('false', 'NaN')],
    ['a comment', good.replace('{', '{/* */')],
    ['single quotes', good.replaceAll('"', "'")],
    ['a trailing comma', good.replace(/}$/, ',}')],
    ['a raw line break in a text', good.replace('alice', 'al\nice')],
    ['a NUL byte', good.replace('alice', 'al\0ice')],
    ['129 levels', good.replace('false', '['.repeat(127) + ']'.repeat(127))],
    ['10,000 levels', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['a million levels that never end', '{"a":'.repeat(1_000_000)],
    ['another kind', good.replace('AdmissionReview', 'Pod')],
    ['another version', good.replace('admission.k8s.io/v1', 'admission.k8s.io/v1beta1')],
    ['no request', JSON.stringify(reviewOf(undefined))],
    ['a request of null', JSON.stringify(reviewOf(null))],
    ['a request as list', JSON.stringify(reviewOf([]))],
    ['no uid', JSON.stringify(reviewOf(requestFor(namespace, { uid: undefined })))],
    ['an empty uid', JSON.stringify(reviewOf(requestFor(namespace, { uid: '' })))],
    ['a uid as number', JSON.stringify(reviewOf(requestFor(namespace, { uid: 5 })))],
    ['a uid as object', JSON.stringify(reviewOf(requestFor(namespace, { uid: {} })))],
    ['a uid of 129 characters', JSON.stringify(reviewOf(requestFor(namespace, { uid: 'x'.repeat(129) })))],
    ['a uid of half a surrogate pair', good.replace(testUid, '\\ud800')],
    ['too many values without a uid', `{"request":{"object":[${'1,'.repeat(160_000)}1]}}`],
  ];

  test.each(rows)('%s', (_name, body) => {
    expect(decodeReview(Buffer.from(body), 'validate')).toMatchObject({
      kind: 'unreadable',
      refusal: { code: 400 },
    });
  });

  test('an object with 128 levels is decoded', () => {
    const body = good.replace('false', '['.repeat(126) + ']'.repeat(126));
    expect(decodeReview(Buffer.from(body), 'validate').kind).toBe('malformed');
  });

  test('a uid of 128 characters is echoed', () => {
    const uid = 'é'.repeat(128);
    expect(decodeRequest(namespace, { uid })).toMatchObject({ kind: 'review', review: { uid } });
  });
});

test('200,000 members that look like indices are refused without being parsed', () => {
  const data = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [String(index), '']));
  expect(decodeRequest(secretObject({ data }))).toMatchObject({
    kind: 'malformed',
    summary: { uid: testUid },
    problem: { code: 400 },
  });
});

test('a decoding problem never quotes the request', () => {
  const canary = 'c4n4ry';
  const objects = [
    namespaceObject('team-a', { labels: { [canary]: 5 } }),
    secretObject({ data: { [canary]: [canary] } }),
    bindingObject({ roleRef: { kind: canary, name: canary } }),
    roleObject({ rules: [canary] }),
  ];
  for (const object of objects) {
    const decoded = decodeRequest(object);
    expect(decoded.kind).toBe('malformed');
    expect(JSON.stringify(decoded)).not.toContain(canary);
  }
});
