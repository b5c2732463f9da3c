// The recipe for a kind of content in CONTRIBUTING.md, followed in a copy of the tree: one file, and its line in the list.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

const kind = `// The kind of content \`notes\`: Notes, each with one text.
import { ownMember } from '../base/json.ts';
import { list, object } from '../schema/schema.ts';
import { subdomain, templateText } from './content-fields.ts';
import { contentKind, keeping, writing } from './content.ts';

const type = { apiVersion: 'example.com/v1', kind: 'Note' };

export const notes = contentKind({
  name: 'notes',
  field: list({
    description: 'Notes for the owners of the namespace.',
    items: object({
      description: 'A note.',
      fields: { name: templateText('Its name.', 99), body: templateText('Its text.', 99) },
      required: ['name', 'body'],
    }),
    maxItems: 9,
    unique: { key: 'name' },
  }),
  ownership: 'object',
  type,
  namePath: ['name'],
  template: (value) => ({
    value,
    isFixed: () => false,
    checks: ([field]) => (field === 'name' ? subdomain : undefined),
  }),
  render: {
    build: (rendered) => ({
      kind: 'object',
      body: { ...type, metadata: { name: String(ownMember(rendered, 'name')) }, spec: rendered },
    }),
  },
  rights: () => [
    {
      verbs: writing,
      group: 'example.com',
      resource: 'notes',
      effect: 'write Notes',
      field: undefined,
      own: { purpose: 'reconciler', verbs: keeping },
    },
  ],
  compare: 'by-field',
});
`;

const policy = `apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: { name: p }
spec:
  match: { names: [shop] }
  contents:
    notes:
      - { name: welcome, body: 'Team \${namespaceObject.metadata.labels.team}' }
      - { name: rules, body: 'Be kind' }
`;

const namespace = `{ apiVersion: v1, kind: Namespace, metadata: { name: shop } }`;

test('a kind of content in one file and in one line of the list compiles, is in the CRD, and is planned', () => {
  const copy = mkdtempSync(join(tmpdir(), 'reeve-recipe-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const each of ['src', 'package.json', 'tsconfig.json'])
    cpSync(join(root, each), join(copy, each), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'src/contents/notes.ts'), kind);
  const list = join(copy, 'src/contents/contents.ts');
  const lines = readFileSync(list, 'utf8')
    .replace('import { resources }', "import { notes } from './notes.ts';\n$&")
    .replace('  resources,\n', '$&  notes,\n');
  writeFileSync(list, lines);
  writeFileSync(join(copy, 'p.yaml'), policy);
  writeFileSync(join(copy, 'n.yaml'), namespace);
  const run = (command: string, ...args: readonly string[]) =>
    spawnSync(command, args, { cwd: copy, encoding: 'utf8' });

  const tsc = join(root, 'node_modules/.bin/tsc');
  expect(run(tsc, '--noEmit', '--pretty', 'false')).toMatchObject({ status: 0, stdout: '' });

  const node = process.execPath;
  const planned = run(node, 'src/main.ts', 'plan', 'p.yaml', '--state', 'n.yaml');
  expect(planned.stdout).toContain(`namespace shop
  + create   Note/rules    NamespacePolicy/p
  . skipped  Note/welcome  NamespacePolicy/p
      label team is missing
`);

  const crd = "import('./src/api/kinds.ts').then(({ kinds }) => console.log(JSON.stringify(kinds)))";
  expect(run(node, '-e', crd).stdout).toContain('Notes for the owners of the namespace.');
});
