// The rules of the code: the linter's own, which folder may import which, and the one door of every library.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'oxlint';
import type { ImportTables } from './test/checks/import-fault.ts';

const rooms = readdirSync(join(import.meta.dirname, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** What each room of src may import beside itself. `cli` and `app` join rooms, as `main.ts` does. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  cel: ['base'],
  schema: ['base'],
  rules: ['base', 'cel', 'schema'],
  contents: ['base', 'cel', 'schema', 'rules'],
  api: ['base', 'cel', 'schema', 'rules', 'contents'],
  policy: ['base', 'cel', 'schema', 'rules', 'contents', 'api'],
  state: ['base', 'cel', 'schema', 'rules', 'contents', 'api', 'policy'],
  admission: ['base', 'cel', 'schema', 'rules', 'contents', 'api', 'policy', 'state'],
  reconcile: ['base', 'cel', 'schema', 'rules', 'contents', 'api', 'policy', 'state'],
  kube: ['base', 'schema'],
  certs: ['base', 'schema'],
  // Each room that reports has a file here, which knows the ports of that room.
  observe: ['base', 'schema', 'policy', 'admission', 'reconcile', 'certs', 'registration'],
  registration: ['base', 'schema', 'api', 'policy', 'state'],
  // It is given custom kinds, and knows none of Reeve.
  sandbox: ['base', 'cel', 'schema'],
  // Commands on files must not load the client of the API server.
  inspect: ['base', 'cel', 'schema', 'rules', 'contents', 'api', 'policy', 'state', 'admission', 'reconcile'],
  importers: ['base', 'cel', 'schema', 'rules', 'contents', 'api', 'policy', 'state', 'inspect'],
  check: rooms,
  uninstall: rooms,
  app: rooms,
  cli: rooms,
};

/** Inside these rooms each folder imports only itself and the folders to its left. */
const ordered: Readonly<Record<string, readonly string[]>> = {
  policy: ['terms', 'intents', 'compile', 'desired', 'decide', 'plan', 'authors', 'status'],
  inspect: ['output-schemas', 'input', 'plan', 'checks', 'explain', 'report', 'suites', 'actions'],
};

/** Only the edges talk to the world: the pure folders have these of the built-in modules, and no clock and no chance. */
const mayUse: Readonly<Record<string, readonly string[]>> = {
  cel: [],
  schema: [],
  rules: ['node:crypto'],
  contents: ['node:util'],
  api: [],
  policy: ['node:crypto', 'node:util'],
  importers: [],
};

/** The only file of src that imports each library; null while there is none. */
const doors: Readonly<Record<string, string | null>> = {
  '@kubernetes/client-node': 'src/kube/auth/kubeconfig.ts',
  express: 'src/admission/http/webhook-server.ts',
  'node-forge': 'src/certs/issue/encode.ts',
  pino: 'src/observe/log.ts',
  'prom-client': 'src/observe/registry.ts',
  re2js: 'src/cel/regex.ts',
  yaml: 'src/base/yaml.ts',
};

/** For a room with entrances: the only files of it that other rooms import. */
const entrances: Readonly<Record<string, readonly string[]>> = {
  'src/cel': ['src/cel/expression.ts', 'src/cel/regex.ts', 'src/cel/regex.ts', 'src/cel/template.ts'],
};

/** Each folder needs a row, or its imports would go unjudged. A library without a door may not be imported at all. */
function checkedTables(): ImportTables {
  const room = rooms.find((name) => !Object.hasOwn(mayImport, name));
  if (room !== undefined) throw new Error(`mayImport has no row for src/${room}`);
  return { mayImport, ordered, mayUse, doors, entrances };
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
    'max-lines': ['error', { max: 350 }],
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
      // One file knows the flags and variables of all commands.
      files: ['src/**'],
      excludeFiles: ['src/cli/commands.ts'],
      rules: {
        'no-restricted-properties': [
          'error',
          { object: 'process', property: 'argv' },
          { object: 'process', property: 'env' },
        ],
      },
    },
    {
      // Commands have one preview of the webhooks, so no two of them disagree.
      files: ['src/inspect/**'],
      excludeFiles: ['src/inspect/input/judged-write.ts'],
      rules: {
        'no-restricted-imports': [
          'error',
          {
            patterns: [
              { group: ['**/judge-review.ts', '**/decide/decide.ts', '**/decide-provider.ts'] },
              { group: ['**/decide/*.ts'], importNames: ['mutate', 'settle'] },
            ],
          },
        ],
      },
    },
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
