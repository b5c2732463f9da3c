import { describe, expect, test } from 'vitest';
import { appliedAnnotation, managedByLabel, ownerAnnotation } from '../../../../src/api/names.ts';
import {
  compareCopy,
  compareResource,
  compareRoleBinding,
  foreignFields,
} from '../../../../src/policy/plan/compare.ts';
import { copyOf } from '../../../../src/policy/plan/copy.ts';
import { observeSecret, observeSecretMetadata } from '../../../../src/policy/plan/observed.ts';
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
    ['as it should be', {}, 'none'],
    [
      'with what others have added to its metadata',
      { metadata: { ...marks, labels: { ...marks.labels, x: 'y' } } },
      'none',
    ],
    ['without our label', { metadata: { ...marks, labels: {} } }, 'update'],
    [
      'of another owner',
      { metadata: { ...marks, annotations: { [ownerAnnotation]: 'NamespacePolicy/q' } } },
      'update',
    ],
    ['with a subject more', { subjects: [...wanted.subjects, { kind: 'User', name: 'x' }] }, 'update'],
    ['without subjects', { subjects: undefined }, 'update'],
    ['to another role', { roleRef: { ...wanted.roleRef, name: 'view' } }, 'replace'],
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
    ['with everything that is wanted', {}, 'none'],
    [
      'made from something else',
      { metadata: { ...marks, annotations: { ...annotations, [appliedAnnotation]: 'old' } } },
      'update',
    ],
    [
      'with another value, which may be another form of the same',
      { spec: { ...live.spec, hard: { pods: '5000m' } } },
      'maybe',
    ],
    ['with a field too few', { spec: { hard: { pods: '5' } } }, 'maybe'],
    ['with a list of another length', { spec: { ...live.spec, list: [{ a: 1 }, { a: 1 }] } }, 'maybe'],
    ['with a text for an object', { spec: 'x' }, 'maybe'],
  ])('%s', (_what, fields, expected) => {
    expect(compareResource(wanted, { ...live, ...fields })).toBe(expected);
  });

  test('a field of the name of what every object inherits is a plain field', () => {
    const hostile = { ...wanted, spec: JSON.parse('{"constructor":{"name":"Object"}}') as object };
    expect(compareResource(hostile, { ...wanted, spec: {} })).toBe('maybe');
  });
});

describe('what an object that is handed over has beyond what is wanted', () => {
  const wanted = {
    metadata: marks,
    spec: { podSelector: {}, policyTypes: ['Ingress'], limits: { cpu: '1' }, ports: [{ port: 1 }] },
  };
  test.each<readonly [string, object, object]>([
    ['is nothing', { spec: wanted.spec }, {}],
    ['is not its metadata or status', { metadata: { labels: { x: 'y' } }, status: { a: 1 } }, {}],
    ['is a field', { spec: { ...wanted.spec, ingress: [{}] } }, { spec: { ingress: null } }],
    [
      'is a field further down',
      { spec: { limits: { cpu: '2', memory: '1' } } },
      { spec: { limits: { memory: null } } },
    ],
    ['is a whole field of the object', { data: { a: 'b' }, __proto__: { c: 'd' } }, { data: null }],
    [
      'is an item of a list',
      { spec: { ports: [{ port: 1 }, { port: 2 }] } },
      { spec: { ports: [{ port: 1 }] } },
    ],
    ['is not what an item has by default', { spec: { ports: [{ port: 1, protocol: 'TCP' }] } }, {}],
    ['is not what it has in another form', { spec: { limits: 'none' } }, {}],
  ])('%s', (_what, fields, expected) => {
    expect(foreignFields(wanted, { metadata: {}, ...fields })).toEqual(expected);
  });
});

describe('a copy of a Secret', () => {
  const data = { k: 'djE=' };
  const share = aShare('s', { source: { namespace: 'src', name: 'x' }, targets: { names: ['*'] } });
  const copy = copyOf(share, { metadata: {}, type: 'Opaque', data });
  const wanted = { metadata: marks, type: 'Opaque', data };
  const payloadOf = () => {
    if (copy.kind !== 'ready') throw new Error('no copy');
    return copy.payload;
  };
  test.each<readonly [string, object, string]>([
    ['as it should be', {}, 'none'],
    ['with keys in another order', { data: { ...data } }, 'none'],
    ['with another value', { data: { k: 'djI=' } }, 'update'],
    ['with a key more', { data: { ...data, l: '' } }, 'update'],
    ['of another type', { type: 'example.com/x' }, 'replace'],
    ['that is immutable', { immutable: true }, 'replace'],
    [
      'of another owner',
      { metadata: { ...marks, annotations: { [ownerAnnotation]: 'SecretShare/t' } } },
      'update',
    ],
  ])('%s', (_what, fields, expected) => {
    expect(compareCopy(wanted, payloadOf(), observeSecret({ ...wanted, ...fields }))).toBe(expected);
  });

  test('of which only the metadata are known', () => {
    expect(compareCopy(wanted, payloadOf(), observeSecretMetadata(wanted))).toBe('update');
  });
});
