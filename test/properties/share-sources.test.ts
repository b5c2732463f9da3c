// Property of shares with several sources: the copies are those of a small model, whatever namespaces, sources and shares come and go.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../support/property-runs.ts';
import { arrive, lag } from '../support/reconcile-actions.ts';
import { Harness, refTo } from '../support/reconcile-harness.ts';

const [hub, first, second] = ['reeve-shared', 'login', 'host'];

/** Two shares join the same sources, so that they agree about every copy. */
const shares = ['one', 'two'] as const;
const sources = [first, second].map((name) => ({ namespace: hub, name }));
const specOf = (share: (typeof shares)[number]): object => ({
  sources: share === 'one' ? sources : sources.toReversed(),
  targets: { anyOf: [{ names: ['n1'] }, { namespaceSelector: { matchLabels: { a: 'yes' } } }] },
  target: {
    name: "url-${namespaceObject.metadata.labels['team']}",
    template: { url: '${data.user}@${data.host}' },
  },
  maxDeletions: 1000,
});

type Keys = Readonly<Record<string, string>>;

interface Copy {
  readonly name: string;
  readonly url: string;
  /** The share that wrote it last. */
  readonly owner: string;
}

interface World {
  /** The labels of each Namespace. */
  readonly namespaces: Map<string, { readonly isChosen: boolean; readonly team: string | undefined }>;
  /** The keys of each source that exists. */
  readonly sources: Map<string, Keys>;
  readonly shares: Set<string>;
  /** The copy in each namespace. */
  readonly copies: Map<string, Copy>;
}

/** Undefined while a source is missing, both have a key, or a key that the template reads is missing. */
function urlOf({ sources: known }: World): string | undefined {
  const [login, host] = [known.get(first), known.get(second)];
  if (login === undefined || host === undefined) return undefined;
  if (Object.keys(login).some((key) => Object.hasOwn(host, key))) return undefined;
  const { user, host: name } = { ...login, ...host };
  return user === undefined || name === undefined ? undefined : `${user}@${name}`;
}

/**
 * The first share by name writes a copy. A copy that cannot be built stays as it was: under its old name for the share that wrote
 * it, and under the wanted name for any share.
 */
function follow(world: World): void {
  const url = urlOf(world);
  const [owner] = [...world.shares].sort();
  for (const [namespace, { isChosen, team }] of world.namespaces) {
    const isTarget = owner !== undefined && (namespace === 'n1' || isChosen) && team !== undefined;
    if (!isTarget) {
      world.copies.delete(namespace);
      continue;
    }
    const name = `url-${team}`;
    const before = world.copies.get(namespace);
    if (url !== undefined) world.copies.set(namespace, { name, url, owner });
    else if (before?.name !== name && !world.shares.has(before?.owner ?? '')) world.copies.delete(namespace);
  }
}

function stored(h: Harness): ReadonlyMap<string, Omit<Copy, 'owner'>> {
  return new Map(
    h.memory
      .list('Secret')
      .filter(({ metadata }) => metadata.namespace !== hub)
      .map(({ metadata, ...rest }) => {
        const { url = '' } = rest['data'] as Keys;
        return [metadata.namespace ?? '', { name: metadata.name ?? '', url: atob(url) }];
      }),
  );
}

/** Everything exists in the beginning, so that most runs have copies. */
function begun(h: Harness): World {
  for (const name of ['n1', 'n2']) h.namespace(name, { a: 'yes', team: 'red' });
  h.secret(hub, first, { user: 'u' });
  h.secret(hub, second, { host: 'h' });
  for (const name of shares) h.share(name, specOf(name));
  return {
    namespaces: new Map(['n1', 'n2'].map((name) => [name, { isChosen: true, team: 'red' }])),
    sources: new Map<string, Keys>([
      [first, { user: 'u' }],
      [second, { host: 'h' }],
    ]),
    shares: new Set(shares),
    copies: new Map(),
  };
}

type Step = (h: Harness, world: World) => void | Promise<void>;

const namespace = fc.constantFrom('n1', 'n2', 'n3');
const team = fc.constantFrom('red', 'blue', undefined);
const keys = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Keys>({ user: 'u' }, { user: 'v', more: 'x' }) },
  { weight: 3, arbitrary: fc.constantFrom<Keys>({ host: 'h' }, { host: 'i' }) },
  { weight: 1, arbitrary: fc.constantFrom<Keys>({ user: 'u', host: 'h' }, {}) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(namespace, fc.boolean(), team).map(([name, isChosen, of]): Step => (h, world) => {
    h.namespace(name, { a: isChosen ? 'yes' : 'no', ...(of === undefined ? {} : { team: of }) });
    world.namespaces.set(name, { isChosen, team: of });
  }),
  fc.tuple(namespace).map(([name]): Step => (h, world) => {
    if (h.get('Namespace', name) === undefined) return;
    h.memory.delete(refTo('Namespace', name));
    h.memory.finishNamespace(name);
    world.namespaces.delete(name);
    world.copies.delete(name);
  }),
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(first, second), keys).map(([name, data]): Step => (h, world) => {
      h.secret(hub, name, data);
      world.sources.set(name, data);
    }),
  },
  fc.constantFrom(first, second).map((name): Step => (h, world) => {
    h.memory.delete(refTo('Secret', name, hub));
    world.sources.delete(name);
  }),
  fc.constantFrom(...shares).map((name): Step => (h, world) => {
    // A share that is being deleted cannot be created again yet.
    if (h.get('SecretShare', name)?.metadata.deletionTimestamp !== undefined) return;
    h.share(name, specOf(name));
    world.shares.add(name);
  }),
  fc.constantFrom(...shares).map((name): Step => (h, world) => {
    h.memory.delete(refTo('SecretShare', name));
    world.shares.delete(name);
  }),
  fc.constant<Step>(async (h) => {
    await h.stop();
    h.start();
  }),
);

test('the copies are those of the model, whatever comes, changes and goes, with restarts between', async () => {
  const steps = fc.array(fc.record({ step, how: lag, seed: fc.nat(1000) }), {
    minLength: 1,
    maxLength: 25,
    size: 'max',
  });
  let copies = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const h = new Harness();
      h.memory.isLagging = true;
      h.namespace(hub);
      h.start();
      const world = begun(h);
      for (const { step: run, how, seed } of all) {
        await run(h, world);
        await arrive(h, how, seed);
        await h.settle(130_000);
        follow(world);
        const wanted = [...world.copies].map(([each, { name, url }]) => [each, { name, url }] as const);
        expect(stored(h)).toEqual(new Map(wanted));
        copies += world.copies.size;
      }
      await h.end();
    }),
    { numRuns: propertyRuns(100) },
  );
  expect(copies).toBeGreaterThan(0);
});
