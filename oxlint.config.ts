// The rules of the code: the linter's own, which folder may import which, and the one door of every library.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'oxlint';
import type { ImportTables } from './test/checks/import-fault.ts';

const folders = readdirSync(join(import.meta.dirname, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** What each folder of src may import beside itself. `cli` and `wire` join, as the files at the root of src do. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  api: [],
  policy: ['api'],
  state: ['api', 'policy'],
  admission: ['api', 'policy', 'state'],
  reconcile: ['api', 'policy', 'state'],
  kube: ['api'],
  certs: ['api'],
  observe: ['api'],
  sandbox: ['api', 'policy'],
  cli: folders,
  wire: folders,
};

/** Only the edges talk to the world: the pure folders have these of the built-in modules, and no clock and no chance. */
const mayUse: Readonly<Record<string, readonly string[]>> = {
  api: [],
  policy: ['node:crypto', 'node:util'],
};

/** The only file of src that imports each library; null while there is none. */
const doors: Readonly<Record<string, string | null>> = {
  '@kubernetes/client-node': 'src/kube/kubeconfig.ts',
  express: 'src/admission/webhook-app.ts',
  'node-forge': 'src/certs/encode.ts',
  pino: 'src/observe/log.ts',
  'prom-client': 'src/observe/registry.ts',
  re2js: 'src/policy/regex.ts',
  yaml: 'src/api/yaml.ts',
};

/** For a folder inside a folder: the only file of it that the rest of src imports. */
const entrances: Readonly<Record<string, string>> = { 'src/policy/cel': 'src/policy/cel/expression.ts' };

function dependencies(): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, 'package.json'), 'utf8');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- npm would not have installed us with another form
  return Object.keys((JSON.parse(text) as { dependencies: object }).dependencies);
}

/** A folder or a library that nobody has thought about must not go unjudged. */
function checkedTables(): ImportTables {
  const folder = folders.find((name) => !Object.hasOwn(mayImport, name));
  if (folder !== undefined) throw new Error(`mayImport has no row for src/${folder}`);
  const library = dependencies().find((name) => !Object.hasOwn(doors, name));
  if (library !== undefined) throw new Error(`doors has no row for ${library}`);
  return { mayImport, mayUse, doors, entrances };
}

const impureGlobals = [
  'process',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'fetch',
  'performance',
  'crypto',
  // With these at hand, every other one could be reached.
  'globalThis',
  'global',
];

// oxlint-disable-next-line import/no-default-export -- oxlint reads its configuration from the default export
export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'promise', 'node', 'oxc', 'vitest'],
  jsPlugins: ['./test/checks/lint-plugin.ts'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  ignorePatterns: ['dist', 'node_modules'],
  rules: {
    complexity: ['error', 12],
    eqeqeq: 'error',
    'max-depth': ['error', 3],
    'max-lines': ['error', { max: 250 }],
    'max-lines-per-function': ['error', { max: 50 }],
    'max-params': ['error', 5],
    'no-console': 'error',
    'no-param-reassign': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'design/imports': ['error', checkedTables()],
    // A cycle of types is one as well: none of its files can be understood alone.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'import/no-mutable-exports': 'error',
    'import/no-self-import': 'error',
    'import/no-unassigned-import': 'error',
    'typescript/await-thenable': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unnecessary-condition': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/require-await': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    // The compiler's noImplicitReturns says the same, and knows `satisfies never`.
    'typescript/consistent-return': 'off',
    // Beside `expect` itself, what polls an expectation, and what states a property.
    'vitest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*', 'eventually', 'assert'] }],
    'vitest/no-focused-tests': 'error',
    'vitest/no-disabled-tests': 'error',
    // The second argument says what was seen when the first was not as it should be.
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    'vitest/no-conditional-expect': 'off',
    // The rounds of a retry or a drain happen one after the other on purpose.
    'no-await-in-loop': 'off',
    // toSorted copies; where a fresh array is sorted there is nothing to protect.
    'unicorn/no-array-sort': 'off',
    'unicorn/prefer-set-has': 'off',
    'oxc/no-map-spread': 'off',
  },
  overrides: [
    { files: ['src/**'], rules: { 'design/module-state': 'error' } },
    {
      files: Object.keys(mayUse).map((folder) => `src/${folder}/**`),
      rules: {
        'design/no-clock': 'error',
        'no-restricted-globals': ['error', ...impureGlobals],
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now' },
          { object: 'Math', property: 'random' },
        ],
      },
    },
    {
      // Plain JavaScript, which runs before there is a compiler, has no types that could be unsafe.
      files: ['*.mjs'],
      rules: {
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
      },
    },
    {
      // A table of cases is long and flat, and reads best in one piece.
      files: ['test/**'],
      rules: {
        'max-lines': ['error', { max: 400 }],
        'max-lines-per-function': 'off',
        'max-params': 'off',
        // Answers of the server under test are read as what they should be: a wrong one fails its test.
        'typescript/no-unsafe-type-assertion': 'off',
        'unicorn/consistent-function-scoping': 'off',
      },
    },
  ],
});
