// Property of the shared authority: no replica serves a certificate that an API server cannot verify.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthorityWorld } from '../support/authority-world.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Returns random numbers that are the same in every run with the same seed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const minute = 60_000;
const skew = fc.integer({ min: -10_000, max: 10_000 });

type Event = (world: AuthorityWorld) => void;

/** Kills a replica, but never the last one that serves: without any there is no key left to keep. */
const kill: Event = (world) => {
  const [first, ...others] = world.serving;
  if (first !== undefined && others.length > 0) world.kill(first);
};
const cutOff: Event = ({ living, time }) => {
  const [first] = living.toReversed();
  if (first === undefined) return;
  first.isCutOff = true;
  void time.sleep(20_000).then(() => (first.isCutOff = false));
};
const event = fc.oneof(
  fc.record({ name: fc.constant('start'), skew }).map(({ skew: ms }): Event => (world) => {
    if (world.living.length < 4) world.start(ms);
  }),
  fc.constantFrom<Event>(
    kill,
    cutOff,
    (world) => world.changeLeader(),
    (world) => world.tamper(undefined),
    (world) => world.tamper({ kind: 'corrupt' }),
    // The new replica knows nothing and is faster than all replicas that watch.
    (world) => {
      world.tamper(undefined);
      world.start(0);
    },
    () => undefined,
  ),
);

async function begun(seed: number, skews: readonly number[]): Promise<AuthorityWorld> {
  const world = new AuthorityWorld(chance(seed));
  for (const each of skews) world.start(each);
  await world.pass(minute);
  return world;
}

describe('the certificates of all replicas', () => {
  test('each served certificate can be verified, while authorities are rotated, lost and corrupted, and replicas start and stop', async () => {
    const plan = fc.array(fc.record({ event, pause: fc.integer({ min: 60_000, max: 240_000 }) }), {
      minLength: 4,
      maxLength: 10,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(skew, { minLength: 2, maxLength: 3 }),
        plan,
        async (seed, skews, steps) => {
          const world = await begun(seed, skews);
          for (const step of steps) {
            step.event(world);
            await world.pass(step.pause);
          }
          expect([...world.failures]).toEqual([]);
          expect(world.serving.length).toBeGreaterThan(0);
          for (const replica of world.living) world.kill(replica);
        },
      ),
      { numRuns: propertyRuns(40) },
    );
  });
});

test('replicas that start without a Secret agree on one authority, and each rotation is in time', async () => {
  const world = await begun(1, [0, 5000, -5000, 0, 0]);
  expect(world.signers.size).toBe(1);
  expect(world.serving).toHaveLength(5);
  await world.pass(60 * minute);
  // An authority is valid for 18 minutes, so each is rotated after 12.
  expect(world.signers.size).toBe(6);
  expect([...world.failures]).toEqual([]);
  for (const replica of world.living) world.kill(replica);
});

test('after a full stop without a signing key, new replicas do not wait for ever', async () => {
  const world = await begun(2, [0, 0]);
  world.tamper(undefined);
  await world.pass(3000);
  for (const replica of world.living) world.kill(replica);
  expect(world.state?.signing).toBeUndefined();
  const [first, second] = [world.start(0), world.start(0)];
  await world.pass(2 * minute);
  expect(first.signer).toBe(second.signer);
  expect(world.state?.signing?.certPem).toBe(first.signer);
  for (const replica of world.living) world.kill(replica);
});

test('a Secret restored from an old copy does not stop the serving replicas', async () => {
  const world = await begun(3, [0, 0, 0]);
  const old = world.state;
  if (old === undefined) throw new Error('there is a state');
  world.tamper(undefined);
  // Wait until no replica trusts the old authority.
  await world.pass(9 * minute);
  expect(JSON.stringify(world.state)).not.toContain(old.signing?.certPem);
  world.tamper({ kind: 'whole', state: old });
  await world.pass(4 * minute);
  expect([...world.failures]).toEqual([]);
  const signing = world.state?.signing?.certPem;
  expect(world.serving.map(({ signer }) => signer)).toEqual([signing, signing, signing]);
  for (const replica of world.living) world.kill(replica);
});

test('a Secret that is deleted again and again does not stop any replica', async () => {
  const world = await begun(4, [0, 0]);
  const before = world.serving.map(({ signer }) => signer);
  // More deletions than the list of trusted authorities has places.
  for (let deletions = 0; deletions < 24; await world.pass(500)) {
    if (world.state === undefined) continue;
    world.tamper(undefined);
    deletions += 1;
  }
  await world.pass(4 * minute);
  expect([...world.failures]).toEqual([]);
  const signing = world.state?.signing?.certPem;
  expect(before).not.toContain(signing);
  expect(world.serving.map(({ signer }) => signer)).toEqual([signing, signing]);
  for (const replica of world.living) world.kill(replica);
});
