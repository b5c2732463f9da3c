// What a file of authorities may hold, and that nothing else of it is taken over.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderOf } from '../../../support/serve-process.ts';
import { makeTestIssuer } from './issuer.ts';
import { readAuthority } from '../../../../src/certs/files/serving-pair.ts';

describe('a file with an authority', () => {
  test('the certificate is read, and other content of the file is left out', async () => {
    const { ca } = await (await makeTestIssuer())();
    await using folder = await folderOf({});
    const path = join(folder.path, 'ca.crt');
    await writeFile(path, `# ours\n${ca.certPem}\n${ca.keyPem}\n${ca.certPem}`);
    const reading = await readAuthority(path);
    expect(reading).toEqual({
      ok: true,
      value: expect.stringMatching(/^(-----BEGIN CERT[^#]*){2}$/) as unknown,
    });
    expect(JSON.stringify(reading)).not.toContain('PRIVATE KEY');
  });

  test('a serving certificate is refused as an authority', async () => {
    const { serving } = await (await makeTestIssuer())();
    await using folder = await folderOf({ 'ca.crt': serving.certPem });
    const path = join(folder.path, 'ca.crt');
    expect(await readAuthority(path)).toEqual({
      ok: false,
      problem: `${path} must hold certificates of authorities in PEM`,
    });
  });

  test.each([
    ['test/fixtures/pki/README.md', 'must hold certificates of authorities in PEM'],
    ['test/fixtures/pki', 'not a regular file'],
    ['test/fixtures/pki/none', 'ENOENT'],
  ])('an authority is not read from %s', async (path, problem) => {
    expect(await readAuthority(path)).toEqual({
      ok: false,
      problem: expect.stringContaining(problem) as unknown,
    });
  });
});
