// The recipe for a kind in CONTRIBUTING.md, followed in a copy of the tree: the compiler names the places that need the kind.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownMember } from '../../../src/base/json.ts';

const root = resolve(import.meta.dirname, '../../..');

const kind = `// Defines the kind TeamPolicy.
import { specification } from '../schema/schema.ts';
import { defineKind } from './kind.ts';
import { matchOf } from './namespace-policy/match.ts';
import { providerFields, sharedColumns } from './provider-fields.ts';

export const teamPolicy = defineKind({
  kind: 'TeamPolicy',
  plural: 'teampolicies',
  shortName: 'tpol',
  word: 'team-policy',
  scope: 'Cluster',
  mayBeMissing: true,
  description: 'Names the namespaces of a team.',
  spec: specification({
    description: 'Which namespaces the team has.',
    fields: {
      match: matchOf('policy'),
      ...providerFields({ provider: 'policy', provided: 'contents', whileSuspended: '.' }),
    },
    required: ['match'],
  }),
  columns: [sharedColumns.age],
});
`;

const compiler = `  TeamPolicy: (value, { cluster }) =>
    andThen(kinds.TeamPolicy.parse(value), ({ metadata, spec }) => {
      const form = { validationActions: ['Deny'], existing: 'Report', ...spec } as const;
      const object = { apiVersion: ownVersion, kind: 'NamespacePolicy', metadata, spec: form } as const;
      const policy = compilePolicy(object, cluster, providerId('TeamPolicy', metadata.name));
      return mapped(policy, (each) => ({ kind: 'NamespacePolicy', object, compiled: each }));
    }),
`;

/** Prints the CustomResourceDefinition, what a loaded state has of the kind, and what the watches of a new process feed. */
const script = `
import { watchCluster } from './src/app/cluster-view.ts';
import { crdOf, kinds } from './src/api/kinds.ts';
import { loadState } from './src/inspect/input/loaded-state.ts';
import { stateOfFiles } from './src/inspect/input/file-state.ts';
import { anyInstall } from './src/policy/terms/install.ts';

const metadata = { name: 'a', uid: '1', resourceVersion: '1', generation: 1 };
const object = { apiVersion: 'reeve.dev/v1alpha1', kind: 'TeamPolicy', metadata, spec: { match: { names: ['a-*'] } } };
const loaded = loadState(stateOfFiles([object], anyInstall));

const watched = [];
const start = ({ path }, sink) => {
  watched.push(path);
  sink.replaced(path.endsWith('/teampolicies') ? [object] : [], '1');
};
const discovery = { find: async (version, kind) => kinds[kind], refresh: async () => undefined };
const connection = { discovery, writer: { read: async () => undefined } };
const view = watchCluster(anyInstall, { start }, { connection, log: { debug: () => undefined }, fail: (error) => { throw error; } });
await view.enginesAsked;
await new Promise(setImmediate);
view.stop();

const shown = (cluster) => ({ isSynced: cluster.isSynced, counts: cluster.providerCounts().TeamPolicy });
console.log(JSON.stringify({ crd: crdOf(kinds.TeamPolicy), loaded: shown(loaded), live: shown(view.cluster), watched }));
`;

test('a kind in one file, in one line of the list and in the places that the compiler names is watched and loaded', () => {
  const copy = mkdtempSync(join(tmpdir(), 'reeve-recipe-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const each of ['src', 'package.json', 'tsconfig.json'])
    cpSync(join(root, each), join(copy, each), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const insert = (path: string, before: string, text: string): void => {
    const file = join(copy, path);
    const source = readFileSync(file, 'utf8');
    expect(source.split(before)).toHaveLength(2);
    writeFileSync(
      file,
      source.replace(before, () => `${text}${before}`),
    );
  };
  const tsc = join(root, 'node_modules/.bin/tsc');
  const errors = () =>
    spawnSync(tsc, ['--noEmit', '--pretty', 'false'], { cwd: copy, encoding: 'utf8' }).stdout;

  writeFileSync(join(copy, 'src/api/team-policy.ts'), kind);
  const list = 'src/api/kinds.ts';
  insert(list, 'import type { KindDefinition }', "import { teamPolicy } from './team-policy.ts';\n");
  insert(list, '  [securityIntent.kind]: securityIntent,\n', '  [teamPolicy.kind]: teamPolicy,\n');
  const files = [...errors().matchAll(/^(\S+\.ts)\(\d+,\d+\): error/gm)].map(([, file = '']) => file);
  expect([...new Set(files)].sort()).toEqual([
    // These two read the labels of `src/schema/names.ts`.
    'src/app/object-readers.ts',
    'src/policy/compile/load-provider.ts',
    'src/policy/plan/desired-object.ts',
  ]);

  const label = '  TeamPolicy: `${group}/teampolicy`,\n';
  insert('src/schema/names.ts', '  SecretShare: `${group}/secretshare`,\n', label);
  insert('src/policy/compile/load-provider.ts', '  SecurityIntent: readIntent,\n', compiler);
  expect(errors()).toBe('');

  const node = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: copy,
    encoding: 'utf8',
  });
  expect(node.stderr).toBe('');
  const synced = { isSynced: true, counts: { loaded: 1, 'last-good': 0, refused: 0 } };
  const answer: unknown = JSON.parse(node.stdout);
  expect(answer).toMatchObject({
    crd: { spec: { names: { kind: 'TeamPolicy' } } },
    loaded: synced,
    live: synced,
  });
  expect(ownMember(answer, 'watched')).toContain('/apis/reeve.dev/v1alpha1/teampolicies');
});
