// Loading Namespaces from files: what a cluster holds, for running without one.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderFileProblem } from '../../../src/state/yaml-files.ts';
import { loadNamespaceFiles } from '../../../src/state/file-cluster.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-namespaces-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function load(text: string) {
  const file = join(folder, 'cluster.yaml');
  await writeFile(file, text);
  const { namespaces, problems } = await loadNamespaceFiles(file);
  return {
    namespaces,
    problems: problems.map((problem) => renderFileProblem(problem).replaceAll(`${folder}/`, '')),
  };
}

function namespace(name: string): string {
  return `{ apiVersion: v1, kind: Namespace, metadata: { name: ${name} } }`;
}

describe('loadNamespaceFiles', () => {
  it('the reader keeps every field of a Namespace', async () => {
    const text = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'a',
        labels: { team: 'x' },
        annotations: { note: 'y\nz' },
        uid: 'u',
        deletionTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Terminating' },
    });
    expect(await load(text)).toEqual({ namespaces: [JSON.parse(text) as unknown], problems: [] });
  });

  it.each([
    ['several documents', `${namespace('a')}\n---\n${namespace('b')}\n`],
    ['a List', `apiVersion: v1\nkind: List\nitems: [${namespace('a')}, ${namespace('b')}]\n`],
    [
      'a NamespaceList',
      `apiVersion: v1\nkind: NamespaceList\nitems: [${namespace('a')}, ${namespace('b')}]\n`,
    ],
    [
      'other kinds among them',
      `${namespace('a')}\n---\nkind: ConfigMap\n---\n5\n---\n{ apiVersion: x.io/v1, kind: Namespace }\n---\n${namespace('b')}\n`,
    ],
  ])('the reader reads %s', async (_title, text) => {
    const { namespaces, problems } = await load(text);
    expect(namespaces.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(problems).toEqual([]);
  });

  it('the reader accepts as many labels and annotations as a cluster does', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`example.com/k${index}`, 'v']),
    );
    const text = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a', labels: many, annotations: many },
    });
    expect((await load(text)).problems).toEqual([]);
  });

  it('the reader reports invalid documents, and loads the others', async () => {
    const text = [
      namespace('a'),
      namespace('B'),
      '{ apiVersion: v1, kind: Namespace, metadata: {} }',
      '{ apiVersion: v1, kind: Namespace, metadata: { name: c, labels: { a: 1 } } }',
      '{ apiVersion: v1,',
      namespace('a'),
      namespace('d'),
    ].join('\n---\n');
    const { namespaces, problems } = await load(text);
    expect(namespaces.map(({ metadata }) => metadata.name)).toEqual(['a', 'd']);
    expect(problems).toEqual([
      expect.stringMatching(
        /^cluster.yaml:3:54: metadata.name: found "B"; accepted: the name of a namespace/,
      ),
      expect.stringMatching(
        /^cluster.yaml:5:36: metadata.name: found nothing; accepted: the name of a namespace/,
      ),
      'cluster.yaml:7:70: metadata.labels.a: found 1; accepted: text',
      expect.stringMatching(/^cluster.yaml:10:1: invalid YAML: /),
      'cluster.yaml:11:1: the name a is taken by the one at cluster.yaml:1:1',
    ]);
  });
});
