// Which files of the cache are removed after a build.
import { expect, test } from 'vitest';
import { oldBuilds, type CacheEntry } from '../../cluster/build-cache.ts';

const hour = 60 * 60 * 1000;
const now = 1000 * hour;
const usedBefore = (hours: number, name: string): CacheEntry => ({ name, usedAt: now - hours * hour });
const key = (digit: number): string => String(digit).repeat(16);

test('the three newest builds of each kind stay, however old they are', () => {
  const images = [1, 2, 3, 4, 5].map((digit) => usedBefore(100 + digit, `image-${key(digit)}.tar`));
  const programs = [1, 2, 3].map((digit) => usedBefore(900, `helm3-${key(digit)}`));
  const others = [1, 2].flatMap((digit) => [
    usedBefore(900, `pause-${key(digit)}`),
    usedBefore(900, `pause-${key(digit)}.tar`),
  ]);
  expect(oldBuilds([...programs, ...images, ...others], now)).toEqual([
    `image-${key(4)}.tar`,
    `image-${key(5)}.tar`,
  ]);
});

test('a build that was used within a day stays, because another process may still need it', () => {
  const images = [1, 2, 3, 4, 5].map((digit) => usedBefore(19 + digit, `image-${key(digit)}.tar`));
  expect(oldBuilds(images, now)).toEqual([`image-${key(5)}.tar`]);
});

test('what a killed build has left behind is removed after a day', () => {
  const left = [`image-${key(1)}.tar.0123456789ab.tmp`, `pause-${key(1)}.tar.Xy12Zq`, 'image-store.aB3dE9'];
  expect(
    oldBuilds(
      left.map((name) => usedBefore(30, name)),
      now,
    ),
  ).toEqual(left);
  expect(
    oldBuilds(
      left.map((name) => usedBefore(20, name)),
      now,
    ),
  ).toEqual([]);
});

test('the folders of clusters and of unpacked packages stay', () => {
  const names = ['cluster-0123456789ab', 'rig-0123456789ab', 'debian-prometheus', 'npmrc'];
  expect(
    oldBuilds(
      names.map((name) => usedBefore(900, name)),
      now,
    ),
  ).toEqual([]);
});
