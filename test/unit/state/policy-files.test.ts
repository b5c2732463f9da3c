// Loading policies and shares from files: the fixtures, places of problems, and that a bad one harms no other.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ruleIds } from '../../../src/rules/rules.ts';
import { renderFileProblem, UnreadablePathError } from '../../../src/state/yaml-files.ts';
import { loadPolicyFiles } from '../../../src/state/file-cluster.ts';

const fixtures = 'test/fixtures/policies';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-policies-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** One file with this text, loaded; messages without the folder. */
async function load(text: string) {
  const file = join(folder, 'policies.yaml');
  await writeFile(file, text);
  const { policies, problems } = await loadPolicyFiles(file);
  return {
    names: policies.map(({ policy }) => policy.metadata.name),
    problems: problems.map((problem) => renderFileProblem(problem).replaceAll(`${folder}/`, '')),
  };
}

function policyText(name: string, spec = '{}'): string {
  return `apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
}

describe('the valid fixtures', () => {
  it('all valid fixtures load without a problem', async () => {
    const { policies, problems } = await loadPolicyFiles(join(fixtures, 'valid'));
    expect(problems).toEqual([]);
    expect(
      policies.map(
        ({ policy: { metadata }, file, line, column }) => `${file}:${line}:${column} ${metadata.name}`,
      ),
    ).toEqual([
      `${fixtures}/valid/everything.yaml:2:1 team-namespaces`,
      `${fixtures}/valid/from-the-cluster.yaml:2:1 from-the-cluster`,
      `${fixtures}/valid/json.json:1:1 json`,
      `${fixtures}/valid/minimal.yaml:1:1 minimal`,
      `${fixtures}/valid/nulls-are-absent.yaml:1:1 nulls-are-absent`,
      `${fixtures}/valid/several.yaml:4:1 several-first`,
      `${fixtures}/valid/several.yaml:9:1 several-second`,
      `${fixtures}/valid/several.yaml:20:5 several-third`,
      `${fixtures}/valid/several.yaml:24:5 several-fourth`,
    ]);
  });

  it('each loaded policy has its compiled form', async () => {
    const { policies } = await loadPolicyFiles(join(fixtures, 'valid/minimal.yaml'));
    expect(policies).toMatchObject([
      { compiled: { name: 'minimal' }, policy: { spec: { maxDeletions: 20 } } },
    ]);
  });
});

describe('the invalid fixtures', async () => {
  const names = await readdir(join(fixtures, 'invalid'));

  it.each(names)('%s has the problems that its comments name', async (name) => {
    const file = join(fixtures, 'invalid', name);
    const { policies, problems } = await loadPolicyFiles(file);
    // A new rule must not change a fixture.
    const text = (await readFile(file, 'utf8')).replaceAll('<rule ids>', ruleIds.join(', '));
    const expected = [...text.matchAll(/^# expect (.*)$/gm)].map(([, line]) => line);
    expect(problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual(expected);
    expect(problems.length).toBeGreaterThan(0);
    expect(policies).toEqual([]);
  });
});

describe('a bad document', () => {
  it('a bad document does not stop the others from loading', async () => {
    const text = [
      policyText('first'),
      policyText('second', '{ suspend: 3 }'),
      'a: [\n',
      'kind: ConfigMap\n',
      '',
      policyText('last'),
    ].join('---\n');
    expect(await load(text)).toEqual({
      names: ['first', 'last'],
      problems: [
        'policies.yaml:9:18: policy second: spec.suspend: found 3; accepted: true or false',
        'policies.yaml:12:1: invalid YAML: wrong indentation, or a bracket above is not closed',
        'policies.yaml:13:7: kind: found "ConfigMap"; accepted: NamespacePolicy, SecretShare, ConfigMapShare, ClusterSecurityIntentBinding, SecurityIntentBinding, SecurityIntent or NamespaceClaim of reeve.dev/v1alpha1, or a List of them',
      ],
    });
  });

  it('a problem names the number of its document', async () => {
    const file = join(folder, 'numbered.yaml');
    await writeFile(file, `${policyText('one')}---\n---\n${policyText('Two')}`);
    const { problems } = await loadPolicyFiles(file);
    expect(problems).toMatchObject([{ file, document: 3, about: 'policy Two', line: 9, column: 19 }]);
  });

  it('a bad item of a List does not stop the other items from loading', async () => {
    const item = (name: string): string => `- ${policyText(name).trimEnd().replaceAll('\n', '\n  ')}\n`;
    const text = `apiVersion: v1\nkind: List\nitems:\n${item('one')}${item('Two')}- 5\n${item('three')}`;
    expect(await load(text)).toEqual({
      names: ['one', 'three'],
      problems: [
        expect.stringMatching(
          /^policies.yaml:10:21: policy Two: metadata.name: found "Two"; accepted: a name/,
        ),
        'policies.yaml:12:3: the object: found 5; accepted: NamespacePolicy, SecretShare, ConfigMapShare, ClusterSecurityIntentBinding, SecurityIntentBinding, SecurityIntent or NamespaceClaim of reeve.dev/v1alpha1, or a List of them',
      ],
    });
  });
});

describe('two policies with the same name', () => {
  it('the second policy is refused with both places', async () => {
    expect(await load(`${policyText('twin')}---\n${policyText('other')}---\n${policyText('twin')}`)).toEqual({
      names: ['twin', 'other'],
      problems: ['policies.yaml:11:1: policy twin: the name twin is taken by the one at policies.yaml:1:1'],
    });
  });

  it('the second policy loads if the first one is invalid', async () => {
    const { names } = await load(`${policyText('twin', '{ suspend: 3 }')}---\n${policyText('twin')}`);
    expect(names).toEqual(['twin']);
  });

  it('a policy may have a name that objects inherit in JavaScript', async () => {
    expect((await load(`${policyText('constructor')}---\n${policyText('valueof')}`)).names).toEqual([
      'constructor',
      'valueof',
    ]);
  });
});

describe('shares', () => {
  const good = '{ source: { namespace: shared, name: a }, targets: { names: [a] } }';

  function shareText(name: string, spec = good): string {
    return policyText(name, spec).replace('NamespacePolicy', 'SecretShare');
  }

  async function loadBoth(text: string) {
    const file = join(folder, 'both.yaml');
    await writeFile(file, text);
    return loadPolicyFiles(file);
  }

  it('a share and a policy may have the same name', async () => {
    const text = [shareText('a'), policyText('a'), shareText('b')].join('---\n');
    const { policies, shares, problems } = await loadBoth(text);
    expect(problems).toEqual([]);
    expect(policies).toMatchObject([{ policy: { metadata: { name: 'a' } }, line: 6 }]);
    expect(shares).toMatchObject([
      { share: { metadata: { name: 'a' } }, compiled: { name: 'a', copy: { name: 'a' } }, line: 1 },
      { share: { metadata: { name: 'b' } }, line: 11 },
    ]);
  });

  it('a problem of a share says that it is a share', async () => {
    const text = [shareText('a'), shareText('b', '{ source: {} }'), shareText('a')].join('---\n');
    const { shares, problems } = await loadBoth(text);
    expect(shares.map(({ share }) => share.metadata.name)).toEqual(['a']);
    expect(problems.map((problem) => renderFileProblem({ ...problem, file: 'both.yaml' }))).toEqual([
      expect.stringContaining('both.yaml:9:1: share b: spec.targets: found nothing; accepted: '),
      expect.stringContaining('both.yaml:9:9: share b: spec.source.namespace: found nothing; accepted: '),
      expect.stringContaining('both.yaml:9:9: share b: spec.source.name: found nothing; accepted: '),
      expect.stringContaining('both.yaml:11:1: share a: the name a is taken by the one at '),
    ]);
    expect(problems.map(({ about }) => about)).toEqual(['share b', 'share b', 'share b', 'share a']);
  });

  it('a share is not listed as a policy', async () => {
    expect((await load(`${shareText('a')}---\n${policyText('b')}`)).names).toEqual(['b']);
  });
});

describe('problems of compilation', () => {
  function validation(expression: string): string {
    return `apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: { name: x }\nspec:\n  validations:\n    - name: x\n      expression: ${expression}\n`;
  }

  const problem =
    'found a character that CEL does not know; accepted: CEL over object, oldObject and request that gives a bool';

  it.each([
    ['plain text', 'a == @', '7:24'],
    ['single quotes', "'''a'' @'", '7:26'],
    ['double quotes', '"\\"a\\" @"', '7:26'],
    ['a literal block', '|\n        a ==\n          @\n', '9:11'],
  ])('a problem points to the character in %s', async (_title, expression, place) => {
    expect(await load(validation(expression))).toEqual({
      names: [],
      problems: [`policies.yaml:${place}: policy x: spec.validations[0].expression: ${problem}`],
    });
  });

  it('a problem in a folded text points to the right character', async () => {
    const { problems } = await load(validation('>\n        a ==\n        @\n'));
    expect(problems).toEqual([
      `policies.yaml:7:19: policy x: spec.validations[0].expression: ${problem} (character 6 of the text)`,
    ]);
  });

  it('a problem in an alias points to the anchor', async () => {
    const text = policyText(
      'x',
      '\n  match: { matchConditions: [{ name: a, expression: &e "a @" }] }\n  validations: [{ name: a, expression: *e }]',
    );
    const { problems } = await load(text);
    expect(problems).toEqual([
      expect.stringContaining('policies.yaml:5:59: policy x: spec.match.matchConditions[0].expression: '),
      expect.stringContaining('policies.yaml:5:59: policy x: spec.validations[0].expression: '),
    ]);
  });

  it('all problems are reported at once, in order', async () => {
    // Matching is compiled first, and stands last.
    const text = policyText(
      'x',
      '\n  validations: [{ name: a, expression: "@" }]\n  match: { matchConditions: [{ name: a, expression: "@" }] }',
    );
    const { problems } = await load(text);
    expect(problems).toEqual([
      expect.stringContaining('policies.yaml:5:41: policy x: spec.validations[0].expression: '),
      expect.stringContaining('policies.yaml:6:54: policy x: spec.match.matchConditions[0].expression: '),
    ]);
  });
});

test('an unreadable path is thrown as an error with a message for the operator', async () => {
  await expect(loadPolicyFiles(join(folder, 'no-such'))).rejects.toThrow(UnreadablePathError);
  await expect(loadPolicyFiles('no-such')).rejects.toThrow(
    'no-such cannot be read: there is no such file or folder',
  );
});
