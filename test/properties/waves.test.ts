// Waves over namespaces that come, change and go, with restarts between: what they may move, and when.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileWaves } from '../../src/rules/waves.ts';
import {
  mayMove,
  nextRecord,
  waveFields,
  waveRecordOf,
  type WaveMember,
  type WaveRecord,
} from '../../src/policy/plan/waves.ts';
import { propertyRuns } from '../support/property-runs.ts';

const values = 'v';
const pauseMs = 600_000;

const member = fc.record({ isBehind: fc.boolean(), isReady: fc.boolean(), place: fc.nat({ max: 999 }) });

/** What happens between two looks at the policy. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant('moved' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant('came' as const), member }),
  fc.record({ kind: fc.constant('went' as const), index: fc.nat() }),
  fc.record({ kind: fc.constant('ready' as const), index: fc.nat(), isReady: fc.boolean() }),
  fc.record({ kind: fc.constant('passed' as const), seconds: fc.nat({ max: 900 }) }),
  fc.record({ kind: fc.constant('restarted' as const) }),
);

interface World {
  members: WaveMember[];
  record: WaveRecord | undefined;
  now: number;
}

const aMember = (
  { isBehind, isReady, place }: { isBehind: boolean; isReady: boolean; place: number },
  n: number,
) =>
  ({
    name: `n${n}`,
    position: `1${String(place).padStart(3, '0')}${n}`,
    isBehind,
    isReady,
  }) satisfies WaveMember;

/** Moves some of the namespaces that the stored record allows, as the reconciler would. */
function move(world: World, share: number): void {
  const open = world.members.filter(
    ({ isBehind, position }) => isBehind && mayMove(world.record, values, position),
  );
  const moved = new Set(open.slice(0, Math.ceil(open.length * share)));
  world.members = world.members.map((each) => (moved.has(each) ? { ...each, isBehind: false } : each));
}

function replace(world: World, index: number, by: readonly WaveMember[]): void {
  if (world.members.length > 0) world.members.splice(index % world.members.length, 1, ...by);
}

test('a wave opens for at most its percentage, after the pause, and only while enough namespaces are ready', () => {
  fc.assert(
    fc.property(
      fc.array(member, { maxLength: 12 }),
      fc.array(happening, { maxLength: 40 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 100 }),
      (start, happenings, percent, minReady) => {
        const waves = compileWaves({ percent, minReady, pause: '10m' });
        const world: World = { members: start.map(aMember), record: undefined, now: 0 };
        let wasComplete: number | undefined;
        const look = (): void => {
          const before = world.record;
          const after = nextRecord(before, world.members, { waves, values, now: world.now });
          const isOpened = after.wave > (before?.wave ?? 0);
          if (isOpened) {
            const opened = world.members.filter(
              ({ isBehind, position }) => isBehind && mayMove(after, values, position),
            );
            expect(opened.length).toBeLessThanOrEqual(
              Math.max(1, Math.ceil((world.members.length * percent) / 100)),
            );
            expect(after.isStopped).toBe(false);
            if (before !== undefined && before.wave > 0)
              expect(world.now - (wasComplete ?? Infinity)).toBeGreaterThanOrEqual(pauseMs);
          }
          const has = world.members.filter(({ isBehind }) => !isBehind);
          if (after.state === 'Moving' && has.length > 0)
            expect(has.filter(({ isReady }) => isReady).length * 100).toBeGreaterThanOrEqual(
              minReady * has.length,
            );
          if (after.state !== 'Pausing') wasComplete = undefined;
          else wasComplete ??= world.now;
          world.record = after;
        };
        for (const [index, each] of happenings.entries()) {
          look();
          if (each.kind === 'moved') move(world, each.share);
          else if (each.kind === 'came') world.members.push(aMember(each.member, 100 + index));
          else if (each.kind === 'went') replace(world, each.index, []);
          else if (each.kind === 'ready') {
            const one = world.members[each.index % Math.max(1, world.members.length)];
            if (one !== undefined) replace(world, each.index, [{ ...one, isReady: each.isReady }]);
          } else if (each.kind === 'passed') world.now += each.seconds * 1000;
          else world.record = waveRecordOf(world.record && { waves: waveFields(world.record) });
        }
        // Once all namespaces are ready, every namespace gets the value.
        world.members = world.members.map((each) => ({ ...each, isReady: true }));
        for (let looks = 0; looks < 3 * (world.members.length + 2); looks += 1) {
          look();
          move(world, 1);
          world.now += pauseMs;
        }
        expect(world.members.filter(({ isBehind }) => isBehind)).toEqual([]);
        expect(world.record?.state).toBe('Done');
      },
    ),
    { numRuns: propertyRuns(2000) },
  );
});
