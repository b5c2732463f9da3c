// Changed files are taken, bad ones are survived, and nothing is said twice.
import { execFile } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { watchServingPair } from '../../../../src/certs/files/pair-files.ts';
import type { ServingPair } from '../../../../src/certs/files/serving-pair.ts';
import { makeTestFolder, makeTestIssuer, pairOf, testNow } from './issuer.ts';
import type { TestFolder } from './issuer.ts';

type ServingPairReloader = ReturnType<typeof watchServingPair>;
type ReloadOptions = Parameters<typeof watchServingPair>[0];

let first: ServingPair;
let second: ServingPair;
let third: ServingPair;

beforeAll(async () => {
  // Two sets of keys: a certificate of one never fits a key of the other.
  const [issue, issueOther] = await Promise.all([makeTestIssuer(), makeTestIssuer()]);
  first = pairOf(await issue());
  second = pairOf(await issueOther());
  third = pairOf(await issue());
});

interface Watched {
  readonly reloader: ServingPairReloader;
  readonly applied: ServingPair[];
  readonly problems: string[];
}

function watchFolder(folder: TestFolder, options: Partial<ReloadOptions> = {}): Watched {
  const applied: ServingPair[] = [];
  const problems: string[] = [];
  const reloader = watchServingPair({
    certPath: folder.cert,
    keyPath: folder.key,
    current: first,
    apply: (pair) => applied.push(pair),
    onProblem: (text) => problems.push(text),
    clock: { now: () => testNow },
    pollMilliseconds: 20,
    settleMilliseconds: 5,
    ...options,
  });
  onTestFinished(() => reloader.close());
  return { reloader, applied, problems };
}

/** Counts readings by the clock they ask for, so that a test can wait until the files have been looked at again. */
function countReadings() {
  let readings = 0;
  return {
    count: () => readings,
    now: (): Date => {
      readings += 1;
      return testNow;
    },
    more: async (count: number): Promise<void> => {
      const wanted = readings + count;
      await until(() => readings >= wanted);
    },
  };
}

function until(condition: () => boolean): Promise<unknown> {
  return vi.waitUntil(condition, { timeout: 20_000, interval: 2 });
}

describe('a change of the files', () => {
  test.for([
    ['by the watch alone', { pollMilliseconds: 2_000_000_000 }],
    ['by the poll alone', { settleMilliseconds: 2_000_000_000 }],
  ] as const)('a change is noticed %s', async ([, timing]) => {
    await using folder = await makeTestFolder();
    folder.put(first);
    const { reloader, applied, problems } = watchFolder(folder, timing);
    for (const pair of [second, third]) {
      folder.put(pair);
      await until(() => reloader.current.fingerprint === pair.fingerprint);
    }
    expect([applied.at(-1), ...problems]).toEqual([third]);
  });

  test('a change before the watch began is applied', async () => {
    await using folder = await makeTestFolder();
    folder.put(second);
    const { applied } = watchFolder(folder, { pollMilliseconds: 2_000_000_000 });
    await until(() => applied.length > 0);
    expect(applied).toEqual([second]);
  });

  test('a change is applied once, and a write of the same content is not applied', async () => {
    await using folder = await makeTestFolder();
    const readings = countReadings();
    folder.put(first);
    const { applied } = watchFolder(folder, { clock: readings });
    folder.put(first);
    await readings.more(4);
    expect(applied).toEqual([]);
    folder.put({ cert: third.cert });
    await readings.more(4);
    expect(applied).toEqual([third]);
  });

  test('a change of a mounted Secret, which moves one symlink, is applied', async () => {
    await using folder = await makeTestFolder();
    const publish = async (version: string, pair: ServingPair): Promise<void> => {
      await mkdir(join(folder.path, version));
      await writeFile(join(folder.path, version, 'tls.crt'), pair.cert);
      await writeFile(join(folder.path, version, 'tls.key'), pair.key);
      await symlink(version, join(folder.path, '..data_tmp'));
      await rename(join(folder.path, '..data_tmp'), join(folder.path, '..data'));
    };
    await publish('..v1', first);
    await symlink('..data/tls.crt', folder.cert);
    await symlink('..data/tls.key', folder.key);
    const { applied, problems } = watchFolder(folder, { pollMilliseconds: 2_000_000_000 });
    await publish('..v2', second);
    await until(() => applied.length > 0);
    expect(applied).toEqual([second]);
    expect(problems).toEqual([]);
  });

  test('files in a folder that is created later are applied', async () => {
    await using folder = await makeTestFolder();
    const late = join(folder.path, 'late');
    const paths = { certPath: join(late, 'tls.crt'), keyPath: join(late, 'tls.key') };
    const { applied, problems } = watchFolder(folder, paths);
    await until(() => problems.length > 0);
    expect(problems).toEqual([`cannot read file ${paths.certPath} (ENOENT)`]);
    await mkdir(late);
    await writeFile(paths.certPath, second.cert);
    await writeFile(paths.keyPath, second.key);
    await until(() => applied.length > 0);
    expect(applied).toEqual([second]);
  });
});

describe('a bad pair', () => {
  test('the last good pair stays in use, and each problem is reported once', async () => {
    await using folder = await makeTestFolder();
    const readings = countReadings();
    folder.put(first);
    const { reloader, applied, problems } = watchFolder(folder, { clock: readings });
    folder.put({ cert: second.cert });
    await readings.more(8);
    expect(problems).toEqual([
      `the key in ${folder.key} does not belong to the certificate in ${folder.cert}`,
    ]);
    expect(reloader.current).toEqual(first);

    folder.put({ cert: 'rubbish' });
    await readings.more(8);
    expect(problems.slice(1)).toEqual([`${folder.cert} is not a PEM certificate`]);
    folder.put({ cert: second.cert });
    await readings.more(8);
    expect(problems).toHaveLength(2);
    expect(applied).toEqual([]);

    folder.put(second);
    await until(() => applied.length > 0);
    expect(applied).toEqual([second]);
    await rm(folder.cert);
    await until(() => problems.length > 2);
    expect(problems.slice(2)).toEqual([`cannot read file ${folder.cert} (ENOENT)`]);
    expect(reloader.current).toEqual(second);
  });

  test('the same problem is reported again after a good pair', async () => {
    await using folder = await makeTestFolder();
    const readings = countReadings();
    folder.put(first);
    const { problems } = watchFolder(folder, { clock: readings });
    for (const count of [1, 2]) {
      folder.put({ key: '' });
      await until(() => problems.length === count);
      folder.put(first);
      await readings.more(3);
    }
    expect(problems).toEqual(Array.from({ length: 2 }, () => `${folder.key} is not a PEM private key`));
  });

  test('a pair that is half written at first is not reported', async () => {
    await using folder = await makeTestFolder();
    folder.put({ cert: second.cert, key: first.key });
    let readings = 0;
    const { applied, problems } = watchFolder(folder, {
      clock: {
        // The first reading finds the new certificate beside the old key; the second, both new.
        now: () => {
          readings += 1;
          if (readings === 2) folder.put({ key: second.key });
          return testNow;
        },
      },
    });
    await until(() => applied.length > 0);
    expect(applied).toEqual([second]);
    expect(problems).toEqual([]);
  });

  test('a pair that the server rejects is reported', async () => {
    await using folder = await makeTestFolder();
    const readings = countReadings();
    folder.put(second);
    const apply = (): never => {
      throw new Error('canary');
    };
    const { reloader, problems } = watchFolder(folder, { apply, clock: readings });
    await readings.more(8);
    expect(problems).toEqual([`the server does not take the certificate in ${folder.cert}`]);
    expect(reloader.current).toEqual(first);
  });

  test('the pair in use is reported when it expires', async () => {
    await using folder = await makeTestFolder();
    folder.put(first);
    let now = testNow;
    const { reloader, problems } = watchFolder(folder, { clock: { now: () => now } });
    now = new Date('2028-01-01T00:00:00Z');
    await until(() => problems.length > 0);
    expect(problems).toEqual([`the certificate in ${folder.cert} expired on 2027-06-01T12:00:00.000Z`]);
    expect(reloader.current).toEqual(first);
  });
});

describe('close', () => {
  test('the files are not read after close', async () => {
    await using folder = await makeTestFolder();
    const [closed, open] = [countReadings(), countReadings()];
    folder.put(first);
    watchFolder(folder, { clock: closed }).reloader.close();
    const { applied } = watchFolder(folder, { clock: open });
    folder.put(second);
    await until(() => applied.length > 0);
    await open.more(4);
    expect(closed.count()).toBe(0);
  });

  test('the process can end without close', async () => {
    const program = `
      const { watchServingPair } = await import(${JSON.stringify(new URL('../../../../src/certs/files/pair-files.ts', import.meta.url).href)});
      const current = { cert: '', key: '', notAfter: new Date(), fingerprint: '' };
      watchServingPair({ certPath: './a', keyPath: './b', current, apply() {}, onProblem() {} });
      console.log('watching');`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 30_000,
    });
    expect(stdout).toBe('watching\n');
  });
});
