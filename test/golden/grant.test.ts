// What `reeve grant use` prints, in each format, and what it refuses.
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/run-command.ts';

async function grant(...args: readonly string[]) {
  return await runCommand(['grant', 'use', ...args]);
}

describe('the objects of a grant', () => {
  test.each([
    ['policy.yaml', ['policy/team-namespaces', '--group', 'red', '--user', 'alice@example.com']],
    [
      'policy.json',
      ['policy/team-namespaces', '--group', 'red', '--user', 'alice@example.com', '-o', 'json'],
    ],
    [
      'binding.yaml',
      ['binding/no-egress', '-n', 'shop', '--service-account', 'ci/deployer', '--group', 'cn=a,ou=b'],
    ],
  ])('the objects of a grant are the same as in the file %s', async (name, args) => {
    const { code, stdout } = await grant(...args);
    expect(code).toBe(0);
    await expect(stdout).toMatchFileSnapshot(`../fixtures/commands/grant-${name}`);
  });

  test('the objects of a grant are said in one line for each holder, on standard error', async () => {
    const { stderr } = await grant('share/regcred', '--group', 'red', '--service-account', 'ci/deployer');
    expect(stderr.split('\n')).toEqual([
      'Group/red may decide which namespaces SecretShare/regcred matches',
      'ServiceAccount/ci/deployer may decide which namespaces SecretShare/regcred matches',
      '',
    ]);
  });

  test('the objects of a grant have the same names for the same holders in another order, and other names for other holders', async () => {
    const namesFor = async (...args: readonly string[]) =>
      [...(await grant('policy/a', ...args)).stdout.matchAll(/^ {2}name: (.*)$/gm)]
        .map(([, name]) => name)
        .join();
    const both = await namesFor('--group', 'a', '--user', 'b');
    expect(await namesFor('--user', 'b', '--group', 'a')).toBe(both);
    expect(await namesFor('--user', 'a', '--group', 'b')).not.toBe(both);
  });
});

describe('a grant is refused', () => {
  test.each([
    [['policy/a'], '--group, --user or --service-account is missing'],
    [
      ['polcy/a', '--group', 'g'],
      '"polcy/a" is not valid; accepted: KIND/NAME, such as policy/team, share/regcred or binding/no-egress; did you mean policy?',
    ],
    [
      ['policy/a/b', '--group', 'g'],
      '"policy/a/b" is not valid; accepted: KIND/NAME, such as policy/team, share/regcred or binding/no-egress',
    ],
    [
      ['policy/', '--group', 'g'],
      '"policy/" is not valid; accepted: KIND/NAME, such as policy/team, share/regcred or binding/no-egress',
    ],
    [['sib/a', '--group', 'g'], '"sib/a" is in a namespace: add -n NAMESPACE'],
    [['policy/a', '-n', 'b', '--group', 'g'], 'NamespacePolicy/a is in no namespace: leave out -n'],
    [['policy/a', '--group', ''], '--group: "" is not valid; accepted: the name of a group'],
    [
      ['policy/a', '--service-account', 'ci'],
      '--service-account: "ci" is not valid; accepted: the namespace and name of a ServiceAccount',
    ],
  ])('a grant is refused with the arguments %j', async (args, problem) => {
    expect(await grant(...args)).toEqual({ code: 2, stdout: '', stderr: problem });
  });

  test.each([
    ['--group', 'system:authenticated', 'Group/system:authenticated stands for every user of the cluster'],
    [
      '--group',
      'system:serviceaccounts',
      'Group/system:serviceaccounts stands for every ServiceAccount, and so every Pod',
    ],
    ['--user', 'system:anonymous', 'User/system:anonymous stands for every caller without credentials'],
  ])('a grant is refused to all users without --yes: %s %s', async (flag, name, line) => {
    const refused = await grant('policy/a', flag, name);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`${line}\nnothing was granted (--yes grants it to all of them)\n`);
    expect(await grant('policy/a', flag, name, '--yes')).toMatchObject({ code: 0 });
  });
});

test('a subject that is named twice stands in the binding once', async () => {
  const twice = await grant('policy/a', '--group', 'g', '--group', 'g');
  expect(twice.stdout).toBe((await grant('policy/a', '--group', 'g')).stdout);
});
