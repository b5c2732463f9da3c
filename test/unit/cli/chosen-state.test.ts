// Which state a command looks at, by its flags, and what stops it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ClusterState } from '../../../src/inspect/input/cluster-state.ts';
import { namespaceType } from '../../../src/inspect/input/loaded-state.ts';
import { withState } from '../../../src/cli/input/chosen-state.ts';

type StateFlags = Parameters<typeof withState>[0];

async function chosen(flags: Partial<StateFlags>, text = '') {
  const seen: ClusterState[] = [];
  let stderr = '';
  const code = await withState(
    { filename: ['-'], state: [], kubeconfig: undefined, context: undefined, cluster: false, ...flags },
    { KUBECONFIG: 'nowhere' },
    { needs: ['namespaces'] },
    { stderr: (part) => (stderr += part), stdin: () => Promise.resolve(text) },
    (state) => {
      seen.push(state);
      return 7;
    },
  );
  return { code, stderr, state: seen[0] };
}

const namespaceText = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n';
const otherText = namespaceText.replace('name: a', 'name: b');
const assumed = 'the files have no Deployment of Reeve, so its default flags count\n';

test('files alone are the whole state, and default flags of an install are said', async () => {
  const { code, stderr, state } = await chosen({}, namespaceText);
  expect({ code, stderr }).toEqual({ code: 7, stderr: assumed });
  expect(state?.origin).toBe('files');
  expect(state?.objects(namespaceType)).toHaveLength(1);
});

test('the flags of an install in the files are no assumption', async () => {
  const { stderr, state } = await chosen({ filename: ['manifests/install'] });
  expect([stderr, state?.install.isAssumed]).toEqual(['', false]);
});

test('a problem in a file stops the command, with its place', async () => {
  expect(await chosen({}, `${namespaceText}---\nkind: X\n`)).toEqual({
    code: 3,
    stderr:
      'stdin:5:1: apiVersion: found nothing; accepted: text that is not empty\n' +
      'stdin:5:1: metadata: found nothing; accepted: an object\n',
    state: undefined,
  });
});

test('a problem with JSON that is nested too deeply says what is wrong', async () => {
  const data = '['.repeat(150) + ']'.repeat(150);
  const { code, stderr } = await chosen(
    {},
    `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": ${data}}`,
  );
  expect(code).toBe(3);
  expect(stderr).toMatch(/^stdin:1:1: data(?:\[0\])+: found deeper nesting; accepted: at most 64 levels\n$/);
});

test('objects of files are applied to the state beside them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const stored = join(folder, 'state.yaml');
  writeFileSync(stored, namespaceText.replace('name: a', 'name: a, labels: {team: red}'));
  const { code, stderr, state } = await chosen({ state: [stored] }, `${namespaceText}---\n${otherText}`);
  expect({ code, stderr }).toEqual({ code: 7, stderr: assumed });
  const labels = state?.objects(namespaceType).map(({ metadata }) => [metadata.name, metadata.labels]);
  expect(labels).toEqual([
    ['a', { team: 'red' }],
    ['b', undefined],
  ]);
});

test('a state without files beside it is the whole state', async () => {
  const { code, state } = await chosen({ filename: [], state: ['-'] }, namespaceText);
  expect([code, state?.objects(namespaceType).length]).toEqual([7, 1]);
});

test.each([{ filename: [] }, { cluster: true }, { context: 'x' }, { kubeconfig: 'nowhere' }])(
  'the flags %j choose the cluster, which must be there',
  async (flags) => {
    const { code, stderr, state } = await chosen(flags, namespaceText);
    expect([code, state]).toEqual([3, undefined]);
    expect(stderr).toContain('nowhere');
  },
);
