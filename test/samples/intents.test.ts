// The adapter of docs/intents.md compiles, and gives the object that the page shows.
import { anyInstall } from '../../src/policy/terms/install.ts';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadProvider } from '../../src/policy/compile/load-provider.ts';
import { desired } from '../../src/policy/desired/desired.ts';
import type { Intent, IntentAdapter } from '../../src/policy/intents/adapter.ts';
import {
  adapterSettings,
  adapterStates,
  type IntentContext,
} from '../../src/policy/intents/intent-context.ts';
import { aSnapshot, knownNamespace } from '../support/engine.ts';
import { blocksOf } from './markdown.ts';
import { copyProject } from './project-copy.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/intents.md'), 'utf8');
const chapter = blocksOf(page.slice(page.indexOf('## How to write an adapter')));
const program = chapter.find(({ language }) => language === 'ts')?.text ?? '';
const shown: unknown = parse(chapter.find(({ language }) => language === 'yaml')?.text ?? '');

describe('the adapter of docs/intents.md', () => {
  let copy = '';
  let file = '';
  beforeAll(() => {
    copy = copyProject(root);
    file = join(copy, 'src/policy/intents/adapters/cilium.ts');
    writeFileSync(file, program);
  });
  afterAll(() => {
    if (copy !== '') rmSync(copy, { recursive: true });
  });

  test('the page names the file where the adapter belongs', () => {
    expect(page).toContain('`src/policy/intents/adapters/cilium.ts`');
  });

  test('the adapter compiles without a problem', () => {
    const config = { extends: join(root, 'tsconfig.json'), include: [], files: [file] };
    writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, ['--project', copy], { cwd: copy, encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });

  test('a binding gives the object that the page shows, where the kind is served', () => {
    const { ciliumAdapter } = createRequire(file)(file) as { readonly ciliumAdapter: IntentAdapter };
    expect(objectsWith(ciliumAdapter, true)).toEqual([shown]);
    expect(objectsWith(ciliumAdapter, false)).toEqual([]);
  });
});

const inside: Intent = { name: 'inside', id: 'denyExternalNetworkAccess', action: 'Block', severity: 'Low' };

/** Returns the objects that the engine wants in the namespace of a binding. */
function objectsWith(adapter: IntentAdapter, isServed: boolean): readonly unknown[] {
  const context: IntentContext = {
    intents: new Map([[inside.name, inside]]),
    adapters: adapterStates([adapter], anyInstall, () => isServed),
    settings: adapterSettings(anyInstall),
    cluster: undefined,
  };
  const binding = {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'SecurityIntentBinding',
    metadata: { name: 'any', namespace: 'shop' },
    spec: { intents: [inside.name], workloads: { matchLabels: { app: 'web' } } },
  };
  const loaded = loadProvider('SecurityIntentBinding', binding, context);
  if (!loaded.ok || loaded.value.kind !== 'NamespacePolicy') throw new Error(JSON.stringify(loaded));
  const shop = knownNamespace('shop');
  const { claims } = desired(shop, aSnapshot([loaded.value.compiled], [shop]), new Date(0));
  return [...claims.values()]
    .flat()
    .flatMap(({ content }) => (content.kind === 'object' ? [content.body] : []));
}
