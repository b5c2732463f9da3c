// What `reeve plan`, `reeve explain` and `reeve test` say of contents that stand for the items of a list.
import { expect, test } from 'vitest';
import { namespacePolicy, planObjects } from '../support/plan-command.ts';
import { runCommand } from '../support/run-command.ts';
import { SuiteFolder } from '../support/suite-folder.ts';

const policy = namespacePolicy('lists', {
  match: { names: ['crew-*'] },
  contents: {
    roleBindings: [
      {
        name: 'edit-${item}',
        forEach: "namespaceObject.metadata.annotations['ad/edit'].split(',')",
        roleRef: { kind: 'ClusterRole', name: 'edit' },
        subjects: [{ kind: 'Group', name: 'ad-${item}' }],
      },
    ],
  },
});
const crew = (name: string, list?: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, annotations: list === undefined ? {} : { 'ad/edit': list } },
});
const namespaces = [crew('crew-1', 'red,blue'), crew('crew-2', 'red,,blue'), crew('crew-3')];

test('a plan shows the object of each item, what is kept after an error, and what is skipped', async () => {
  const { stdout } = await planObjects([policy], namespaces);
  expect(stdout.slice(stdout.indexOf('namespace crew-1'))).toBe(`namespace crew-1
  + create  RoleBinding/edit-blue  NamespacePolicy/lists
  + create  RoleBinding/edit-red   NamespacePolicy/lists

namespace crew-2
  ! kept    NamespacePolicy/lists
      RoleBinding edit-\${item}: forEach (from annotation ad/edit) has an empty item; accepted: items that are not empty

namespace crew-3
  . skipped  RoleBinding/edit-\${item}  NamespacePolicy/lists
      annotation ad/edit is missing
`);
});

test.each([
  ['rolebinding/edit-red', 'crew-1', 'NamespacePolicy/lists provides it, and Reeve is about to create it'],
  ['rolebinding/edit-green', 'crew-1', 'could provide it, and does not provide it here'],
  ['rolebinding/edit-red', 'crew-2', 'forEach (from annotation ad/edit) has an empty item'],
  ['rolebinding/edit-red', 'crew-3', 'leaves it out here, because annotation ad/edit is missing'],
])('an explanation of %s in %s says why it exists or not', async (object, namespace, why) => {
  const stdin = [policy, ...namespaces].map((each) => JSON.stringify(each)).join('\n---\n');
  const { stdout } = await runCommand(['explain', object, '-n', namespace, '-f', '-'], { stdin });
  expect(stdout).toContain(why);
});

test('a suite sees the objects of a list, and that a longer list needs the right to use the policy', async () => {
  using folder = new SuiteFolder();
  folder.write('policy.yaml', JSON.stringify(policy));
  folder.write('objects.yaml', JSON.stringify(crew('crew-1', 'red')));
  const set = { metadata: { annotations: { 'ad/edit': 'red,blue' } } };
  const suite = {
    apiVersion: 'cli.reeve.dev/v1',
    kind: 'Suite',
    policies: ['policy.yaml'],
    objects: ['objects.yaml'],
    tests: [
      {
        name: 'an administrator makes the list longer',
        request: { as: 'root', groups: ['system:masters'], update: 'namespace/crew-1', set },
        expect: { verdict: 'allowed', contents: ['RoleBinding/edit-red', 'RoleBinding/edit-blue'] },
      },
      {
        name: 'another user does not',
        request: { as: 'bob', update: 'namespace/crew-1', set },
        expect: { verdict: 'refused', rule: 'steering' },
      },
    ],
  };
  folder.write('suite.yaml', JSON.stringify(suite));
  expect(await folder.run('suite.yaml')).toMatchObject({ code: 0, stderr: '' });
});
