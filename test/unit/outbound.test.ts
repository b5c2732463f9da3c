// Checks that Reeve calls only the API server, and a collector of traces if a flag names one; no field of users is a URL.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const files = globSync('src/**/*.ts', { cwd: root }).filter(
  // The embedded API server of `reeve up` calls webhooks, as API servers do. `reeve run` loads none of its files.
  (file) => !file.startsWith('src/sandbox/'),
);
const code = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

function filesWith(pattern: RegExp): readonly string[] {
  return [...code]
    .filter(([, text]) => pattern.test(text))
    .map(([file]) => file)
    .sort();
}

/** Matches imports of values from a built-in module; imports of types open no connection. */
function imports(module: string): RegExp {
  return new RegExp(`^import (?!type)[^;]*from 'node:${module}(?:/[a-z]+)?'`, 'm');
}

test('one file sends requests to the API server, and one to the collector of traces', () => {
  expect(
    filesWith(/\bimport \{[^}]*\b(?:request|get|connect|createConnection)\b[^}]*\} from 'node:/),
  ).toEqual(['src/kube/http/http-exchange.ts', 'src/observe/tracer.ts']);
  expect(filesWith(imports('http'))).toEqual([
    'src/admission/http/webhook-server.ts',
    'src/kube/http/answers.ts',
    'src/observe/probes.ts',
    'src/observe/tracer.ts',
  ]);
  expect(filesWith(imports('net'))).toEqual([
    'src/admission/http/webhook-server.ts',
    'src/certs/issue/names.ts',
    'src/kube/auth/find-api-server.ts',
  ]);
});

test.for(['dns', 'dgram', 'http2', 'child_process', 'inspector', 'cluster'])(
  'no file imports %s',
  (module) => {
    expect(filesWith(imports(module))).toEqual([]);
  },
);

test('no file uses another way to open connections, or to run code from outside', () => {
  expect(
    filesWith(/\bfetch\(|new (?:WebSocket|EventSource|Socket)\(|from 'undici'|\beval\(|new Function\(/),
  ).toEqual([]);
});

test('no field that users write is a URL to call', () => {
  const kinds = [...code].filter(([file]) =>
    /^src\/(?:api\/(?:namespace-policy|secret-share)|rules)\//.test(file),
  );
  expect(kinds.length).toBeGreaterThan(5);
  // Only field names count; descriptions may have these words.
  for (const [file, text] of kinds) expect(text, file).not.toMatch(/^\s*\w*(?:url|uri|endpoint|proxy)\w*:/im);
});
