// The generator of the soak: the same choices for the same seed, and every choice within its bounds.
import { expect, test } from 'vitest';
import { Random } from '../../soak/random.ts';

const draw = (seed: number): readonly number[] => {
  const random = new Random(seed);
  return Array.from({ length: 1000 }, () => random.below(10));
};

test('a seed makes the same choices again, another one others', () => {
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
});

test('every number below the limit comes about as often', () => {
  const counts = Map.groupBy(draw(3), (value) => value);
  expect([...counts.keys()].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const { length } of counts.values()) expect(length).toBeGreaterThan(50);
});

test('weights decide how often something is chosen; what weighs nothing never is', () => {
  const random = new Random(4);
  const chosen = Array.from({ length: 1000 }, () => random.weighted({ often: 9, seldom: 1, never: 0 }));
  const counts = Map.groupBy(chosen, (each) => each);
  expect(counts.has('never')).toBe(false);
  expect(counts.get('often')?.length).toBeGreaterThan(800);
  expect(counts.get('seldom')?.length).toBeGreaterThan(50);
});

test('a shuffle keeps everything', () => {
  expect(new Random(5).shuffled([1, 2, 3, 4]).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
});
