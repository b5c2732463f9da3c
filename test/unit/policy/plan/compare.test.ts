import { describe, expect, test } from 'vitest';
import { appliedAnnotation, managedByLabel, ownerAnnotation } from '../../../../src/schema/names.ts';
import {
  compareCopy,
  compareResource,
  compareRoleBinding,
  foreignFields,
} from '../../../../src/policy/plan/plan-claim.ts';
import { copyOf } from '../../../../src/policy/plan/copy.ts';
import { secretObjectType } from '../../../../src/base/object-type.ts';
import { observeObject, observeSecretMetadata } from '../../../../src/policy/plan/observed.ts';
import { aShare } from '../../../support/engine.ts';

const marks = {
  labels: { [managedByLabel]: 'reeve' },
  annotations: { [ownerAnnotation]: 'NamespacePolicy/p' },
};

describe('a RoleBinding', () => {
  const wanted = {
    metadata: marks,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }],
  };
  test.each<readonly [string, object, string]>([
    ['a RoleBinding in sync needs no write', {}, 'none'],
    [
      'labels of other writers need no write',
      { metadata: { ...marks, labels: { ...marks.labels, x: 'y' } } },
      'none',
    ],
    ['a missing label of Reeve needs an update', { metadata: { ...marks, labels: {} } }, 'update'],
    [
      'an object of another provider needs an update',
      { metadata: { ...marks, annotations: { [ownerAnnotation]: 'NamespacePolicy/q' } } },
      'update',
    ],
    [
      'an added subject needs an update',
      { subjects: [...wanted.subjects, { kind: 'User', name: 'x' }] },
      'update',
    ],
    ['missing subjects need an update', { subjects: undefined }, 'update'],
    ['another role needs a replacement', { roleRef: { ...wanted.roleRef, name: 'view' } }, 'replace'],
  ])('%s', (_what, fields, expected) => {
    expect(compareRoleBinding(wanted, { ...wanted, ...fields })).toBe(expected);
  });
});

describe('an object of another kind', () => {
  const annotations = { ...marks.annotations, [appliedAnnotation]: 'hash' };
  const wanted = {
    metadata: { ...marks, annotations },
    spec: { hard: { pods: '5' }, list: [{ a: 1 }], nothing: null },
  };
  const live = {
    ...wanted,
    spec: { hard: { pods: '5', more: '1' }, list: [{ a: 1, filled: 'in' }] },
    status: {},
  };
  test.each<readonly [string, object, string]>([
    ['an object with all wanted fields needs no write', {}, 'none'],
    [
      'an object made from another body needs an update',
      { metadata: { ...marks, annotations: { ...annotations, [appliedAnnotation]: 'old' } } },
      'update',
    ],
    [
      'another value, which may be the same in another form, needs a dry run',
      { spec: { ...live.spec, hard: { pods: '5000m' } } },
      'dry-run',
    ],
    ['a missing field needs a dry run', { spec: { hard: { pods: '5' } } }, 'dry-run'],
    [
      'a list of another length needs a dry run',
      { spec: { ...live.spec, list: [{ a: 1 }, { a: 1 }] } },
      'dry-run',
    ],
    ['a text in place of an object needs a dry run', { spec: 'x' }, 'dry-run'],
  ])('%s', (_what, fields, expected) => {
    expect(compareResource(wanted, { ...live, ...fields })).toBe(expected);
  });

  test('a field named constructor is compared like any other', () => {
    const hostile = { ...wanted, spec: JSON.parse('{"constructor":{"name":"Object"}}') as object };
    expect(compareResource(hostile, { ...wanted, spec: {} })).toBe('dry-run');
  });
});

describe('fields that an adopted object must lose', () => {
  const wanted = {
    metadata: marks,
    spec: { podSelector: {}, policyTypes: ['Ingress'], limits: { cpu: '1' }, ports: [{ port: 1 }] },
  };
  test.each<readonly [string, object, object]>([
    ['an object with only wanted fields loses nothing', { spec: wanted.spec }, {}],
    ['metadata and status stay', { metadata: { labels: { x: 'y' } }, status: { a: 1 } }, {}],
    [
      'a field that is not wanted is removed',
      { spec: { ...wanted.spec, ingress: [{}] } },
      { spec: { ingress: null } },
    ],
    [
      'a nested field that is not wanted is removed',
      { spec: { limits: { cpu: '2', memory: '1' } } },
      { spec: { limits: { memory: null } } },
    ],
    [
      'a top-level field that is not wanted is removed',
      { data: { a: 'b' }, __proto__: { c: 'd' } },
      { data: null },
    ],
    [
      'a list with an item too many is set again',
      { spec: { ports: [{ port: 1 }, { port: 2 }] } },
      { spec: { ports: [{ port: 1 }] } },
    ],
    ['a default inside a list item stays', { spec: { ports: [{ port: 1, protocol: 'TCP' }] } }, {}],
    ['a value in another form stays', { spec: { limits: 'none' } }, {}],
  ])('%s', (_what, fields, expected) => {
    expect(foreignFields(wanted, { metadata: {}, ...fields })).toEqual(expected);
  });
});

describe('a copy of a Secret', () => {
  const data = { k: 'djE=' };
  const share = aShare('s', { source: { namespace: 'src', name: 'x' }, targets: { names: ['*'] } });
  const copy = copyOf(share, [{ metadata: {}, type: 'Opaque', data }], new Date(0));
  const wanted = { metadata: marks, type: 'Opaque', data };
  const payloadOf = () => {
    if (copy.kind !== 'ready') throw new Error('no copy');
    return copy.payload;
  };
  test.each<readonly [string, object, string]>([
    ['a copy in sync needs no write', {}, 'none'],
    ['keys in another order need no write', { data: { ...data } }, 'none'],
    ['another value needs an update', { data: { k: 'djI=' } }, 'update'],
    ['an added key needs an update', { data: { ...data, l: '' } }, 'update'],
    ['another type needs a replacement', { type: 'example.com/x' }, 'replace'],
    ['an immutable copy needs a replacement', { immutable: true }, 'replace'],
    [
      'an object of another provider needs an update',
      { metadata: { ...marks, annotations: { [ownerAnnotation]: 'SecretShare/t' } } },
      'update',
    ],
  ])('%s', (_what, fields, expected) => {
    expect(compareCopy(wanted, payloadOf(), observeObject(secretObjectType, { ...wanted, ...fields }))).toBe(
      expected,
    );
  });

  test('a copy whose payload is unknown needs an update', () => {
    expect(compareCopy(wanted, payloadOf(), observeSecretMetadata(wanted))).toBe('update');
  });
});
