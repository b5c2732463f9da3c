// What counts as growth of a process, and what as its usual ups and downs.
import { expect, test } from 'vitest';
import { trendsOf, type Measure } from '../../soak/flatness.ts';
import type { VitalSigns } from '../../soak/vital-signs.ts';

const usual = { rss: 2e8, heap: 5e7, external: 2e7, descriptors: 40, sockets: 20, timers: 10, handles: 20 };

/** One every four seconds for six minutes. */
function samples(valueAt: (index: number) => Partial<VitalSigns>): readonly VitalSigns[] {
  return Array.from({ length: 90 }, (_, index) => ({ age: 5 + index * 4, ...usual, ...valueAt(index) }));
}

function growing(series: readonly VitalSigns[]): readonly Measure[] {
  return trendsOf('p', series).flatMap(({ measure, isFlat }) => (isFlat ? [] : [measure]));
}

test.each<[string, (index: number) => Partial<VitalSigns>, readonly Measure[]]>([
  ['stays the same', () => ({}), []],
  ['a leak of sockets', (index) => ({ sockets: 20 + index * 2 }), ['sockets']],
  ['a leak of heap', (index) => ({ heap: 5e7 + index * 4e5 }), ['heap']],
  ['a leak of timers', (index) => ({ timers: 10 + index }), ['timers']],
  ['grows while it begins', (index) => ({ heap: index < 15 ? 2e7 : 5e7 }), []],
  ['a peak at the end', (index) => ({ heap: index > 86 ? 2e8 : 5e7 }), []],
  ['up and down', (index) => ({ sockets: index % 2 === 0 ? 5 : 60 }), []],
  ['falls', (index) => ({ rss: 4e8 - index * 1e6 }), []],
])('%s', (_, valueAt, measures) => {
  expect(growing(samples(valueAt))).toEqual(measures);
});

test('a life that was too short says nothing', () => {
  expect(trendsOf('p', samples(() => ({})).slice(0, 8))).toEqual([]);
});
