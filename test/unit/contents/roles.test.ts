// Roles of policies: what a namespace gets, what the author needs, and how two versions differ.
import { describe, expect, test } from 'vitest';
import { settle } from '../../../src/policy/decide/settle.ts';
import { unlimitedBudget } from '../../../src/policy/terms/budget.ts';
import { compareWhole } from '../../../src/policy/plan/plan-claim.ts';
import { askedRights, rightKey, type Right } from '../../../src/policy/terms/review.ts';
import {
  aNamespace,
  aPolicy,
  aSnapshot,
  problemsOf,
  providerObject,
  writeDecision,
} from '../../support/engine.ts';

const pods = { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] };
const settings = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: ['a', 'b'],
  verbs: ['patch'],
};
const role = (more: object = {}) => ({ name: 'reader', rules: [pods], ...more });
const binding = (more: object = {}) => ({
  name: 'readers',
  roleRef: { kind: 'Role', name: 'reader' },
  subjects: [{ kind: 'Group', name: 'devs' }],
  ...more,
});

function rendered(contents: object, name = 'shop') {
  const namespaceObject = aNamespace({ name, labels: { team: 'red' } });
  return aPolicy('p', { contents }).contents.flatMap((content) =>
    content
      .render(namespaceObject, unlimitedBudget)
      .map((each) => (each.kind === 'present' ? each.value.form : each.message)),
  );
}

describe('what a namespace gets', () => {
  test('a Role comes before the RoleBinding that names it', () => {
    expect(rendered({ roleBindings: [binding()], roles: [role()] })).toMatchObject([
      { body: { kind: 'Role', metadata: { name: 'reader' }, rules: [pods] } },
      { body: { kind: 'RoleBinding', roleRef: { kind: 'Role', name: 'reader' } } },
    ]);
  });

  test('the templates of a name, of labels and of a roleRef are rendered alike', () => {
    const name = 'reader-${namespaceObject.metadata.name}';
    const labels = { team: "${namespaceObject.metadata.labels['team']}" };
    const contents = {
      roles: [role({ name, labels })],
      roleBindings: [binding({ roleRef: { kind: 'Role', name } })],
    };
    expect(rendered(contents)).toMatchObject([
      { body: { metadata: { name: 'reader-shop', labels: { team: 'red' } } } },
      { body: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader-shop' } } },
    ]);
  });

  test('a list gives a Role and a RoleBinding for each item', () => {
    const forEach = "['a', 'b']";
    const contents = {
      roles: [role({ name: 'reader-${item}', forEach })],
      roleBindings: [
        binding({ name: '${item}', forEach, roleRef: { kind: 'Role', name: 'reader-${item}' } }),
      ],
    };
    expect(rendered(contents)).toMatchObject([
      { body: { metadata: { name: 'reader-a' } } },
      { body: { metadata: { name: 'reader-b' } } },
      { body: { roleRef: { name: 'reader-a' } } },
      { body: { roleRef: { name: 'reader-b' } } },
    ]);
  });
});

test('a Role with more than 500 combinations is refused', () => {
  const names = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const rule = { apiGroups: [''], resources: names(25, 'r'), resourceNames: names(20, 'n') };
  const problems = (verbs: readonly string[]) =>
    problemsOf('p', { contents: { roles: [role({ rules: [{ ...rule, verbs }] })] } }).join();
  expect(problems(['get'])).toBe('');
  expect(problems(['get', 'list'])).toContain('at most 500 combinations');
});

describe('the rights of the author', () => {
  const decisionOn = (contents: object, oldContents?: object) =>
    writeDecision(
      {
        object: providerObject('NamespacePolicy', 'p', { contents }),
        ...(oldContents && { oldObject: providerObject('NamespacePolicy', 'p', { contents: oldContents }) }),
      },
      aSnapshot([]),
    );
  const shown = ({ verb, resource, group, name }: Right) =>
    `${verb} ${resource}${group === '' ? '' : `.${group.split('.')[0]}`}${name === undefined ? '' : ` ${name}`}`;
  const ofRole = ['create roles.rbac', 'patch roles.rbac', 'delete roles.rbac'];
  const ofRules = ['get pods', 'list pods', 'get pods/log', 'list pods/log'];
  const ofBinding = ['create rolebindings.rbac', 'patch rolebindings.rbac', 'delete rolebindings.rbac'];

  test('the author of a Role needs each verb on each resource and name', () => {
    const { rights } = decisionOn({ roles: [role({ rules: [pods, settings] })] });
    expect(rights.map(shown)).toEqual([...ofRole, ...ofRules, 'patch configmaps a', 'patch configmaps b']);
  });

  test('a wildcard is asked for as itself', () => {
    const rule = { apiGroups: ['apps'], resources: ['*', '*/scale'], verbs: ['*'] };
    const { rights } = decisionOn({ roles: [role({ rules: [rule] })] });
    expect(rights.map(shown)).toEqual([...ofRole, '* *.apps', '* */scale.apps']);
  });

  test('a RoleBinding to a Role needs the rules again, because the verb escalate does not permit to bind', () => {
    const { rights } = decisionOn({ roles: [role()], roleBindings: [binding()] });
    expect(rights.map(shown)).toEqual([...ofRole, ...ofRules, ...ofBinding, ...ofRules]);
    const others = rights.flatMap(({ instead }) => (instead === undefined ? [] : [shown(instead)]));
    expect([...new Set(others)]).toEqual(['escalate roles.rbac', 'bind roles.rbac']);
  });

  const writes = [...ofRole, ...ofBinding];
  test.each<readonly [title: string, held: readonly string[], missing: readonly string[]]>([
    ['each rule', [...writes, ...ofRules], []],
    ['escalate and bind', [...writes, 'escalate roles.rbac', 'bind roles.rbac'], []],
    [
      'escalate alone',
      [...writes, 'escalate roles.rbac'],
      [
        'spec.contents.roleBindings[0].roleRef: user "alice" may not bind Role reader (verbs "get" and "list" on pods, cluster-wide, or verb "bind" on roles.rbac.authorization.k8s.io, cluster-wide)',
        'spec.contents.roleBindings[0].roleRef: user "alice" may not bind Role reader (verbs "get" and "list" on pods/log, cluster-wide, or verb "bind" on roles.rbac.authorization.k8s.io, cluster-wide)',
      ],
    ],
    [
      'all but one verb, and bind',
      [...writes, ...ofRules.slice(0, 3), 'bind roles.rbac'],
      [
        'spec.contents.roles[0].rules[0]: user "alice" may not hand out Role reader (verb "list" on pods/log, cluster-wide, or verb "escalate" on roles.rbac.authorization.k8s.io, cluster-wide)',
      ],
    ],
  ])('an author with %s is refused what is missing', (_, held, missing) => {
    const decision = decisionOn({ roles: [role()], roleBindings: [binding()] });
    const all = askedRights(decision).flatMap((right) => [right, right.instead ?? right]);
    const answers = new Map(
      all.map((right) => [rightKey(right), held.includes(shown(right)) ? 'yes' : 'no'] as const),
    );
    const review = {
      uid: '',
      resource: 'namespacepolicies',
      subresource: '',
      operation: 'CREATE',
      name: 'p',
      namespace: '',
      requester: { username: 'alice', groups: [] },
      dryRun: false,
      attributes: {},
      object: { metadata: {} },
    } as const;
    const { denials, allowed } = settle(decision, answers, review);
    expect(denials.map(({ message }) => message)).toEqual(missing);
    expect(allowed).toBe(missing.length === 0);
  });

  test.each<readonly [title: string, before: object, after: object, isReduced: boolean]>([
    ['a rule less', { rules: [pods, settings] }, { rules: [pods] }, true],
    ['a verb less', { rules: [pods] }, { rules: [{ ...pods, verbs: ['get'] }] }, true],
    ['a name less', { rules: [settings] }, { rules: [{ ...settings, resourceNames: ['a'] }] }, true],
    [
      'names where it had none',
      { rules: [{ ...settings, resourceNames: undefined }] },
      { rules: [settings] },
      true,
    ],
    ['all names', { rules: [settings] }, { rules: [{ ...settings, resourceNames: undefined }] }, false],
    ['another verb', { rules: [pods] }, { rules: [{ ...pods, verbs: ['get', 'watch'] }] }, false],
    ['another label', { labels: { a: 'b' } }, { labels: { a: 'c' } }, false],
  ])('a Role that gets %s needs the rights that it should', (_, before, after, isReduced) => {
    const plain = (more: object) => JSON.parse(JSON.stringify({ roles: [role(more)] })) as object;
    expect(decisionOn(plain(after), plain(before)).rights.length === 0).toBe(isReduced);
  });
});

test('a change of rules is an update, and the same rules need no write', () => {
  const stored = (rules: unknown) => ({ metadata: { name: 'reader' }, rules });
  expect(compareWhole(stored([pods]), stored([settings]))).toBe('update');
  expect(compareWhole(stored([pods]), stored([{ ...pods }]))).toBe('none');
});
