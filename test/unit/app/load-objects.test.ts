// Objects from files are created in the order of the files; what is wrong with them is said with its place.
import { beforeEach, describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { loadObjects } from '../../../src/app/up.ts';
import { StartError } from '../../../src/base/start-error.ts';
import { folderOf } from '../../support/serve-process.ts';

const configMap = (name: string): string => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}}`;

let created: string[];
let refused: string;

beforeEach(() => {
  created = [];
  refused = '';
});

async function load(
  files: Readonly<Record<string, string>>,
  leftOut?: readonly string[],
): Promise<readonly KubeObject[]> {
  await using folder = await folderOf(files);
  const create = (object: KubeObject): Promise<KubeObject> => {
    const { name = '' } = object.metadata;
    if (name === refused) {
      return Promise.reject(new KubeError({ code: 409, reason: 'AlreadyExists', retryable: false }));
    }
    created.push(name);
    return Promise.resolve({ ...object, metadata: { ...object.metadata, uid: name } });
  };
  const no = (): Promise<never> => Promise.reject(new Error('it only creates'));
  return await loadObjects(
    folder.path,
    { writer: { create, read: no, apply: no, mergePatch: no, remove: no } },
    leftOut,
  );
}

describe('the objects of a folder', () => {
  it('objects are created in the order of files and documents, and returned as created', async () => {
    const loaded = await load({
      'b.yaml': configMap('three'),
      'a.yaml': `${configMap('one')}\n---\n${configMap('two')}`,
    });
    expect(created).toEqual(['one', 'two', 'three']);
    expect(loaded.map(({ metadata }) => metadata.uid)).toEqual(['one', 'two', 'three']);
  });

  it('objects of given kinds are left out', async () => {
    const files = {
      'a.yaml': `{apiVersion: v1, kind: Service, metadata: {name: s}}\n---\n${configMap('one')}`,
    };
    expect(await load(files, ['Service'])).toHaveLength(1);
    expect(created).toEqual(['one']);
  });

  it('no object is created if one file is invalid, and all problems are reported at once', async () => {
    const policy =
      'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: {name: p}\nspec: {mtch: {}}\n';
    const loading = load({ 'a.yaml': configMap('one'), 'b.yaml': 'a: [', 'c.yaml': policy });
    await expect(loading).rejects.toThrow(StartError);
    await expect(loading).rejects.toThrow(/b\.yaml:1:\d+: .*\n.*c\.yaml:4:\d+: policy p: spec\.mtch/);
    expect(created).toEqual([]);
  });

  it.each([
    ['what the API refuses', configMap('taken'), 'a.yaml:1: the API server answered 409 (AlreadyExists)'],
    ['what is no object', '- one\n', 'a.yaml:1: this is no object of Kubernetes'],
  ])('a problem names the place of %s', async (_, text, message) => {
    refused = 'taken';
    await expect(load({ 'a.yaml': text })).rejects.toThrow(message);
  });
});
