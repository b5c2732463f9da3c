// Each rule of the list shows the values that it compared. A rule without a row here does not compile.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { compileRules, rules } from '../../../src/rules/rules.ts';
import type { Operation } from '../../../src/rules/rule.ts';

type Row = readonly [value: unknown, operation?: Operation];

const rows: Readonly<Record<(typeof rules)[number]['id'], Row>> = {
  'namespaces.name': [{ pattern: '^a' }],
  'namespaces.required': [{ labels: { team: {} } }],
  'namespaces.defaults': [{ labels: { team: 'a' } }],
  'namespaces.enforced': [{ labels: { team: 'a' } }],
  'namespaces.immutable': [{ labels: ['team'] }, 'UPDATE'],
  'namespaces.requesters': [{ users: ['alice'] }],
  'namespaces.quota': [{ label: 'team', max: 1 }],
  'namespaces.deletion': [{ protect: true }, 'DELETE'],
  'secrets.forbiddenTypes': [['Opaque']],
  'secrets.allowedTypes': [['Opaque']],
  'secrets.maxBytes': [1],
  'secrets.tls': [{ keyMatchesCertificate: true }],
  'secrets.dockerConfig': [{}],
  'secrets.defaults': [{ labels: { team: 'a' } }],
  'rbac.allowedRoleRefs': [['Role/*']],
  'rbac.forbiddenSubjects': [['User/a']],
  'rbac.forbidWildcardRules': [true],
  validations: [[{ name: 'a', expression: 'true' }]],
};

function specOf(id: string, value: unknown): JsonObject {
  return id.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as JsonObject;
}

test.each(rules.map(({ id }) => id))('%s shows the values that it compared', (id) => {
  const [value, operation = 'CREATE'] = rows[id];
  const [rule] = Object.values(
    compileRules(specOf(id, value), { variables: [], cluster: undefined, compiled: { nodes: 0 } }).on,
  ).flat();
  const object = { metadata: { name: 'a' }, subjects: [{ kind: 'User', name: 'b' }] };
  const sides = operation === 'CREATE' ? { object } : { oldObject: object };
  const write = { operation, username: 'alice', ...sides, ...(operation === 'UPDATE' && { object }) };
  expect(rule?.compared(object, write)).not.toEqual([]);
  for (const each of rule?.compared(object, write) ?? [{ path: '', found: '', accepted: '' }])
    expect(Object.values(each)).not.toContain('');
});
