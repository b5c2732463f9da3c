// The program calls nobody but the API server: what could call somebody is in one file, and nothing takes a URL from users.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const files = globSync('src/**/*.ts', { cwd: root }).filter(
  // The API server that `reeve up` embeds calls webhooks, as API servers do; nothing of it is loaded by `reeve run`.
  (file) => !file.startsWith('src/sandbox/'),
);
const code = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

function filesWith(pattern: RegExp): readonly string[] {
  return [...code]
    .filter(([, text]) => pattern.test(text))
    .map(([file]) => file)
    .sort();
}

/** Imports of values from a built-in module; types call nobody. */
function imports(module: string): RegExp {
  return new RegExp(`^import (?!type)[^;]*from 'node:${module}(?:/[a-z]+)?'`, 'm');
}

test('one file sends requests', () => {
  expect(
    filesWith(/\bimport \{[^}]*\b(?:request|get|connect|createConnection)\b[^}]*\} from 'node:/),
  ).toEqual(['src/kube/http/http-exchange.ts']);
  expect(filesWith(imports('http'))).toEqual([
    'src/admission/http/client-errors.ts',
    'src/kube/http/answers.ts',
    'src/observe/probes.ts',
  ]);
  expect(filesWith(imports('net'))).toEqual([
    'src/admission/http/client-errors.ts',
    'src/certs/issue/names.ts',
    'src/kube/auth/find-api-server.ts',
  ]);
});

test.for(['dns', 'dgram', 'http2', 'child_process', 'inspector', 'cluster'])(
  'nobody imports %s',
  (module) => {
    expect(filesWith(imports(module))).toEqual([]);
  },
);

test('nobody has another way to call out, or to run what comes from outside', () => {
  expect(
    filesWith(/\bfetch\(|new (?:WebSocket|EventSource|Socket)\(|from 'undici'|\beval\(|new Function\(/),
  ).toEqual([]);
});

test('nothing that users write is a URL to be called', () => {
  const kinds = [...code].filter(([file]) => /^src\/api\/(?:namespace-policy|secret-share)/.test(file));
  expect(kinds.length).toBeGreaterThan(5);
  // As a field; the words may stand in what is said about another one.
  for (const [file, text] of kinds) expect(text, file).not.toMatch(/^\s*\w*(?:url|uri|endpoint|proxy)\w*:/im);
});
