// The rules of the code: the linter's own, which folder may import which, and the one door of every library.
import { defineConfig, type OxlintConfig } from 'oxlint';

/** What each folder of src may import beside itself. `wire`, `cli` and `main` join, so they may import everything. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  api: [],
  policy: ['api'],
  state: ['api', 'policy'],
  admission: ['api', 'policy', 'state'],
  certs: ['api'],
  observe: ['api'],
};
const folders = ['admission', 'api', 'certs', 'cli', 'observe', 'policy', 'state', 'wire'];

/** The only file of src that imports each library. */
const doors: Readonly<Record<string, string>> = {
  '@kubernetes/client-node': 'src/kube/client.ts',
  express: 'src/admission/webhook-app.ts',
  'node-forge': 'src/certs/issue.ts',
  pino: 'src/observe/log.ts',
  'prom-client': 'src/observe/metrics.ts',
  re2js: 'src/policy/regex.ts',
  yaml: 'src/api/yaml.ts',
};
/** Only the edges talk to the world; the pure folders may hash and read certificates, and nothing else. */
const pureFolders = ['api', 'policy'];
const allowedNodeModules = ['node:crypto', 'node:util', 'node:net'];

type Rules = NonNullable<OxlintConfig['rules']>;

function importsOf(folder: string, libraries: readonly string[]): Rules {
  const forbidden = folders.filter(
    (other) => other !== folder && mayImport[folder]?.includes(other) === false,
  );
  const patterns = [
    ...forbidden.map((other) => ({
      group: [`**/${other}/**`],
      message: `${folder} does not import ${other}`,
    })),
    ...(pureFolders.includes(folder)
      ? [{ group: ['node:*', ...allowedNodeModules.map((name) => `!${name}`)], message: `${folder} is pure` }]
      : []),
  ];
  const paths = libraries.map((name) => ({
    name,
    message: `it is imported in ${doors[name] ?? 'one file'} only`,
  }));
  return { 'no-restricted-imports': ['error', { patterns, paths }] };
}

function folderOf(file: string): string {
  return file.split('/')[1] ?? '';
}

const libraries = Object.keys(doors);
const imports = [
  ...folders.map((folder) => ({ files: [`src/${folder}/**`], rules: importsOf(folder, libraries) })),
  { files: ['src/*.ts'], rules: importsOf('', libraries) },
  ...Object.entries(doors).map(([library, file]) => ({
    files: [file],
    rules: importsOf(
      folderOf(file),
      libraries.filter((other) => other !== library),
    ),
  })),
];

// oxlint-disable-next-line import/no-default-export -- oxlint reads its configuration from the default export
export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'promise', 'node', 'oxc', 'vitest'],
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
    'import/no-cycle': 'error',
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
    ...imports,
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
