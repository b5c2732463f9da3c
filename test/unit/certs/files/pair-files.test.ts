// A bundle from a file: read again each time, and what it held before as long as it is no good.
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { issueAuthority } from '../../../../src/certs/issue/issue.ts';
import { foreignBundle, openFileBundle } from '../../../../src/certs/files/pair-files.ts';
import { StartError } from '../../../../src/base/start-error.ts';
import { folderOf } from '../../../support/serve-process.ts';

const signal = new AbortController().signal;
let authorities: readonly string[];

beforeAll(async () => {
  const issued = await Promise.all([1, 2].map(() => issueAuthority(3_600_000, new Date())));
  authorities = issued.map(({ certPem }) => certPem);
});

async function opened(content: string) {
  const folder = await folderOf({ 'ca.crt': content });
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const path = join(folder.path, 'ca.crt');
  const warnings: unknown[] = [];
  const notReloaded = (what: string, problem: string): void => void warnings.push([what, problem]);
  return { path, warnings, bundle: await openFileBundle(path, { notReloaded }) };
}

test('the bundle follows its file, and keeps the last good content of a bad file with one warning', async () => {
  const [first = '', second = ''] = authorities;
  const { bundle, path, warnings } = await opened(first);
  expect(await bundle.wanted(signal)).toBe(first);
  await writeFile(path, first + second);
  expect(await bundle.wanted(signal)).toBe(first + second);
  await writeFile(path, 'rubbish');
  for (let times = 0; times < 3; times += 1) expect(await bundle.wanted(signal)).toBe(first + second);
  const problem = `${path} must hold certificates of authorities in PEM`;
  expect(warnings).toEqual([['certificate authority', problem]]);
  await writeFile(path, second);
  expect(await bundle.wanted(signal)).toBe(second);
});

test('a bundle file that is bad at the start prevents the start', async () => {
  await expect(opened('rubbish')).rejects.toBeInstanceOf(StartError);
});

test('a bundle that another program writes has no wanted content', async () => {
  expect(await foreignBundle.wanted(signal)).toBeUndefined();
});
