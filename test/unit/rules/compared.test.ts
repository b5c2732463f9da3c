// The values that each rule compared. Of a Secret nothing that could be a part of its payload is shown.
import { describe, expect, test } from 'vitest';
import { ruleIds } from '../../../src/rules/rules.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import type { Operation } from '../../../src/rules/rule.ts';
import { aPolicy } from '../../support/engine.ts';

const canary = 'canary-77aa';
const spec = {
  namespaces: {
    name: { pattern: '^team-' },
    required: { labels: { env: { values: ['dev'] } }, annotations: { contact: {} } },
    defaults: { labels: { size: 's' } },
    immutable: { labels: ['env'], annotations: ['contact'] },
    requesters: { groups: ['platform'] },
    quota: { label: 'env', max: 3 },
    deletion: { protect: true },
  },
  secrets: {
    forbiddenTypes: ['x/y'],
    maxBytes: 10,
    tls: {},
    dockerConfig: { allowedRegistries: ['r.example.com'] },
    defaults: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x' } },
  },
  rbac: {
    allowedRoleRefs: ['ClusterRole/view'],
    forbiddenSubjects: ['Group/all'],
    forbidWildcardRules: true,
  },
  validations: [{ name: 'short', expression: 'object.metadata.name.size() < 9' }],
};

function compared(
  id: string,
  sides: { object?: KubeObject; oldObject?: KubeObject },
  operation: Operation = 'CREATE',
  written: object = spec,
) {
  const rule = Object.values(aPolicy('p', written).rules)
    .flat()
    .find((each) => each.id === id);
  const write = { ...sides, operation, username: 'alice' };
  const values = rule?.compared(sides.object ?? sides.oldObject ?? { metadata: {} }, write) ?? [];
  return values.map(({ path, found, accepted }) => `${path}: ${found}; ${accepted}`);
}

const namespaceObject: KubeObject = {
  metadata: { name: 'team-a', labels: { env: 'dev', size: 'l' }, annotations: {} },
};
const secretObject: KubeObject = {
  metadata: {
    name: 's',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data": "${canary}"}` },
  },
  type: 'Opaque',
  data: { token: Buffer.from(canary).toString('base64') },
  stringData: { password: canary },
};
const bindingObject: KubeObject = {
  metadata: { name: 'b' },
  roleRef: { kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'User', name: 'alice' }, 'broken'],
  rules: [{}, {}],
};

describe('the rules on Namespaces', () => {
  test.each([
    ['namespaces.name', ['metadata.name: "team-a"; a name that matches ^team-']],
    [
      'namespaces.required',
      [
        'metadata.labels["env"]: "dev"; "dev"',
        'metadata.annotations["contact"]: nothing; any value that is not empty',
      ],
    ],
    ['namespaces.defaults', ['metadata.labels["size"]: "l"; a value']],
    ['namespaces.immutable', []],
    ['namespaces.requesters', ['request.userInfo: user "alice"; group "platform"']],
    ['namespaces.quota', ['metadata.labels["env"]: "dev"; at most 3 namespaces with one value']],
    ['namespaces.deletion', []],
    ['validations/short', ['object: true; true for object.metadata.name.size() < 9']],
    ['validations/other', []],
  ])('%s compare %j on CREATE', (rule, values) => {
    expect(compared(rule, { object: namespaceObject })).toEqual(values);
  });

  test('the rules on Namespaces that judge changes and deletions compare with the old object', () => {
    const sides = { object: namespaceObject, oldObject: namespaceObject };
    expect(compared('namespaces.immutable', sides, 'UPDATE')).toEqual([
      'metadata.labels["env"]: "dev"; "dev", which it was set to',
      'metadata.annotations["contact"]: nothing; any value',
    ]);
    expect(compared('namespaces.requesters', sides, 'UPDATE')).toEqual([]);
    expect(compared('namespaces.deletion', { oldObject: namespaceObject }, 'DELETE')).toEqual([
      'metadata.annotations["reeve.dev/allow-deletion"]: nothing; "team-a"',
    ]);
    const byUse = { namespaces: { deletion: { protect: true, releasedBy: 'use' } } };
    expect(compared('namespaces.deletion', { oldObject: namespaceObject }, 'DELETE', byUse)).toEqual([
      'request.userInfo: user "alice"; a user with the right to use the policy',
    ]);
  });
});

describe('the rules on other objects', () => {
  const keys = 'data: password, token';
  test.each([
    ['secrets.forbiddenTypes', secretObject, ['type: "Opaque"; a type other than "x/y"']],
    ['secrets.maxBytes', secretObject, ['data: 22 bytes; at most 10 bytes']],
    ['secrets.tls', secretObject, [`${keys}; in a Secret of type kubernetes.io/tls: a valid pair`]],
    ['secrets.dockerConfig', secretObject, [`${keys}; in a Docker configuration: r.example.com`]],
    [
      'secrets.defaults',
      secretObject,
      ['metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]: a value; a value'],
    ],
    ['rbac.allowedRoleRefs', bindingObject, ['roleRef: ClusterRole/view; ClusterRole/view']],
    [
      'rbac.forbiddenSubjects',
      bindingObject,
      [
        'subjects[0]: User/alice; a subject other than Group/all',
        'subjects[1]: undefined/undefined; a subject other than Group/all',
      ],
    ],
    ['rbac.forbidWildcardRules', bindingObject, ['rules: 2 without *; rules without *']],
  ])('%s compare values', (rule, object, values) => {
    expect(compared(rule, { object })).toEqual(values);
  });

  test('the rules on other objects with a list of allowed types compare the type', () => {
    const written = { secrets: { allowedTypes: ['Opaque', 'a/b'] } };
    expect(compared('secrets.allowedTypes', { object: secretObject }, 'CREATE', written)).toEqual([
      'type: "Opaque"; "Opaque" or "a/b"',
    ]);
  });
});

test('no rule shows a value of a Secret', () => {
  const rules = [...ruleIds, 'validations/short'];
  const shown = rules.flatMap((rule) =>
    compared(rule, { object: secretObject, oldObject: secretObject }, 'UPDATE'),
  );
  expect(shown.length).toBeGreaterThan(8);
  expect(shown.join('\n')).not.toContain(canary);
  expect(shown.join('\n')).not.toContain(Buffer.from(canary).toString('base64'));
});
