// The simulation of clusters that are too large to run.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { recordedCosts as costs, writeMsBeside } from '../../bench/scale/costs.ts';
import { Fleet, type FleetOptions } from '../../bench/scale/fleet.ts';
import { sizeRow } from '../../bench/scale/scale-page.ts';
import { atRest, fanOut, memoryMiB, restart, takeOver } from '../../bench/scale/scenarios.ts';
import { Station, Timeline } from '../../bench/scale/timeline.ts';

const situation = {
  namespaces: 2000,
  leaders: 1,
  apiServer: 1,
  order: 'by urgency',
  changesPerSecond: 10,
  objects: 3,
} as const;

describe('virtual time', () => {
  test('events happen at their time, and in the order of their arrival when they have the same time', () => {
    const timeline = new Timeline();
    const seen: string[] = [];
    const delays = [5, 1, 3, 1, 9, 3, 0];
    for (const [index, delay] of delays.entries())
      timeline.after(delay, () => seen.push(`${timeline.now}: ${index}`));
    timeline.run();
    expect(seen).toEqual(['0: 6', '1: 1', '1: 3', '3: 2', '3: 5', '5: 0', '9: 4']);
  });

  test('a station serves as many jobs at once as it has places', () => {
    const timeline = new Timeline();
    const station = new Station(timeline, 2);
    const ends: number[] = [];
    for (let job = 0; job < 5; job += 1)
      station.serve(
        () => 10,
        () => ends.push(timeline.now),
      );
    timeline.run();
    expect([ends, station.busyMs]).toEqual([[10, 10, 20, 20, 30], 50]);
  });
});

describe('the recorded costs', () => {
  test.each([
    [1, 3.8],
    [16, 25.6],
    [24, 28.5],
    [64, 43.9],
    [128, 68.9],
    [0.25, 3.8],
  ])('beside %d writes, a write takes %d ms', (inProgress, ms) => {
    expect(writeMsBeside(costs, inProgress)).toBeCloseTo(ms, 1);
  });

  test('the simulation of the recorded run with 5,000 namespaces takes at least two thirds of the real 48 s', () => {
    const fleet = new Fleet({ ...situation, namespaces: 5000 }, costs);
    let seconds = 0;
    fleet.forAll(4, (at) => (seconds = at / 1000));
    fleet.timeline.run();
    expect(seconds).toBeGreaterThan(32);
    expect(seconds).toBeLessThan(48);
  });
});

describe('a fleet of leaders', () => {
  test.each([1, 3])('%d leaders handle every namespace once', (leaders) => {
    const fleet = new Fleet({ ...situation, namespaces: 100, leaders }, costs);
    let calls = 0;
    fleet.forAll(2, () => (calls += 1));
    fleet.timeline.run();
    expect(calls).toBe(1);
  });

  test('a leader writes in no more namespaces at once than its concurrency', () => {
    let most = 0;
    const options: FleetOptions = { ...situation, namespaces: 200 };
    const fleet = new Fleet(options, { ...costs, planMs: 0, writeProcessorMs: 0 });
    let [writing, left] = [0, 200];
    const write = fleet.write.bind(fleet);
    fleet.write = (done) => {
      writing += 1;
      most = Math.max(most, writing);
      write(() => {
        writing -= 1;
        done();
      });
    };
    for (let namespace = 0; namespace < 200; namespace += 1) fleet.change(namespace, 1, 0, () => (left -= 1));
    fleet.timeline.run();
    expect([most, left]).toEqual([costs.concurrency, 0]);
  });

  test('a change does not wait for one Secret that goes to all namespaces', () => {
    expect(fanOut(situation, costs).p99).toBeLessThan(500);
    expect(fanOut({ ...situation, order: 'by arrival' }, costs).p99).toBeGreaterThan(2000);
  });

  test('two leaders look at all namespaces in half the time, and need as much memory each', () => {
    const two = { ...situation, leaders: 2 };
    const looks = (each: typeof situation | typeof two): number =>
      takeOver(each, costs).seconds - costs.leaseMs / 1000;
    expect(looks(two) / looks(situation)).toBeLessThan(0.6);
    expect(memoryMiB(two, costs)).toBe(memoryMiB(situation, costs));
  });

  test('a change during a restart waits for the lists, and not for the look at all namespaces', () => {
    const lists = costs.startMs + 2000 * 4 * costs.listMs;
    const { longest, seconds } = restart(situation, costs);
    expect(longest).toBeGreaterThan(lists);
    expect(longest).toBeLessThan(lists + 200);
    expect(seconds * 1000).toBeGreaterThan(lists);
  });
});

describe('the decision against several leaders', () => {
  test('one leader is enough for 20,000 namespaces with 10 changes a second', () => {
    const large = { ...situation, namespaces: 20_000 };
    expect(atRest(large, costs).load).toBeLessThan(0.1);
    expect(atRest(large, costs).p99).toBeLessThan(1000);
    expect(takeOver(large, costs).seconds).toBeLessThan(60);
    expect(memoryMiB(large, costs)).toBeLessThan(4096);
  });

  // `npm run bench -- --scale` compares all tables of the page. The larger rows take seconds.
  test.each([1000, 5000])('docs/operate/scale.md has the figures for %d namespaces', (namespaces) => {
    const rows = readFileSync('docs/operate/scale.md', 'utf8')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(rows).toContainEqual(['', ...sizeRow(namespaces, costs), '']);
  });
});
