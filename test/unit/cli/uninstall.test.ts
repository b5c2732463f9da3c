// The texts of `reeve uninstall`: the numbers in its plan, and the list of what is left.
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../../src/cli/commands.ts';
import { observeObject } from '../../../src/policy/plan/observed.ts';
import { outcomeText, planText } from '../../../src/cli/commands/uninstall.ts';

const object = (namespace: string) =>
  observeObject({ apiVersion: 'v1', kind: 'ConfigMap' }, { metadata: { name: 'c', namespace } });

const plan = {
  providers: [
    {
      provider: 'NamespacePolicy/apps',
      fate: 'delete',
      reason: '',
      objects: [object('a'), object('a'), object('b')],
    },
    {
      provider: 'SecretShare/registry',
      fate: 'release',
      reason: 'it is suspended',
      objects: [object('a')],
    },
  ],
  accounts: 0,
  grants: 0,
  foreign: [],
} as const;
const intent = {
  description: 'https://x (context y)',
  namespace: 'reeve-system',
  sharedNamespace: ['s', 't'],
  deleteShared: false,
  keepContents: false,
};

test('the plan lists each provider with its number of objects, and the sum', () => {
  expect(planText(plan, intent)).toBe(
    [
      'Reeve will be removed from https://x (context y).',
      '  NamespacePolicy/apps: 3 objects in 2 namespaces will be deleted',
      '  SecretShare/registry: 1 object in 1 namespace will stay (it is suspended)',
      'In all, 3 objects will be deleted, and 1 object will stay without the label and annotation of Reeve.',
      'Namespace reeve-system will be deleted, with everything in it, if the installation created it.',
      'The Secrets in s, t will stay.',
      '',
    ].join('\n'),
  );
});

test('the plan says what happens to fields of ServiceAccounts', () => {
  const lines = planText({ ...plan, accounts: 2 }, intent).split('\n');
  expect(lines).toContain(
    'The fields that policies added to 2 ServiceAccounts will be taken back, unless their policy leaves its objects behind.',
  );
  expect(planText({ ...plan, accounts: 1 }, { ...intent, keepContents: true })).toContain(
    'The fields that policies added to 1 ServiceAccount will stay.',
  );
});

test.for([
  [1, false, '1 RoleBinding of temporary access will be deleted now, because nothing would end it later.'],
  [2, false, '2 RoleBindings of temporary access will be deleted now, because nothing would end them later.'],
  [2, true, '2 RoleBindings of temporary access will stay, and nothing will end them.'],
] as const)(
  'the plan of %i grants, which %s keeps, says what happens to them',
  ([grants, keepContents, line]) => {
    expect(planText({ ...plan, grants }, { ...intent, keepContents }).split('\n')).toContain(line);
  },
);

test('the plan announces in capitals that Secrets of users will be deleted', () => {
  expect(planText(plan, { ...intent, deleteShared: true })).toContain(
    '\nALL SECRETS in s, t will be deleted.\n',
  );
  expect(planText(plan, { ...intent, sharedNamespace: [] })).not.toContain('Secrets');
});

test('the result says that nothing is left', () => {
  expect(outcomeText({ notDone: [], left: [], notes: ['n'] })).toBe(
    'note: n\nReeve is removed. Nothing is left that could block a request.\n',
  );
});

test('the result lists problems and leftovers', () => {
  expect(outcomeText({ notDone: ['p'], left: ['l'], notes: [] })).toBe(
    'not done: p\nleft: l\nReeve is not completely removed: see above, and run this command again.\n',
  );
});

describe('the command line', () => {
  test('uninstall keeps the Secrets of users by default, and asks before it deletes', async () => {
    expect(await readCommand(['uninstall'], { KUBECONFIG: 'k' })).toMatchObject({
      kind: 'uninstall',
      settings: {
        kubeconfig: undefined,
        installNamespace: 'reeve-system',
        sharedNamespace: ['reeve-shared'],
        keepContents: false,
        deleteShared: false,
        onlyWebhooks: false,
        yes: false,
        timeout: 120_000,
      },
      positionals: [],
      environment: { KUBECONFIG: 'k' },
      mayColor: true,
    });
  });

  test('the help states the order of the deletions, and that Reeve does not need to run', async () => {
    const help = await readCommand(['uninstall', '--help'], {});
    expect(help.kind === 'help' && help.text).toMatch(
      /the webhook configurations.*the guard.*Reeve does not need to run/s,
    );
  });
});
