// Property of objects that are created once: whatever comes, changes and goes, the cluster has what a model of a few lines says.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { failure } from '../support/memory-objects.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { arrive, lag } from '../support/reconcile-actions.ts';
import { Harness, refTo } from '../support/reconcile-harness.ts';

const policy = 'p';
type Mode = 'Keep' | 'CreateOnce';

const specOf = (mode: Mode) => ({
  match: { namespaceSelector: { matchLabels: { a: 'yes' } } },
  maxDeletions: 1000,
  contents: {
    resources: ['one', 'two'].map((name) => ({ ...quotaOf(name, '5'), mode })),
  },
});

function quotaOf(name: string, pods: string) {
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard: { pods } } };
}

/** `kept`: has the marks of Reeve. `left`: as Reeve created it. `theirs`: as a user created or changed it. */
type State = 'kept' | 'left' | 'theirs';

interface World {
  readonly namespaces: Map<string, { readonly isMatched: boolean; readonly given: Set<string> }>;
  readonly objects: Map<string, State>;
  mode: Mode | undefined;
}

function follow({ namespaces, objects, mode }: World): void {
  for (const [namespace, { isMatched, given }] of namespaces) {
    for (const name of ['one', 'two']) {
      const key = `${namespace}/${name}`;
      const before = objects.get(key);
      const after =
        isMatched && mode !== undefined ? wantedAs(mode, before, given.has(name)) : without(before);
      if (after === undefined) objects.delete(key);
      else objects.set(key, after);
      if (isMatched && mode === 'CreateOnce') given.add(name);
    }
  }
}

function wantedAs(mode: Mode, before: State | undefined, isGiven: boolean): State | undefined {
  if (mode === 'Keep') return before ?? 'kept';
  return before === 'kept' || (before === undefined && !isGiven) ? 'left' : before;
}

function without(before: State | undefined): State | undefined {
  return before === 'kept' ? undefined : before;
}

function stored(h: Harness): World['objects'] {
  return new Map(
    h.memory.list('ResourceQuota').map(({ metadata, ...rest }) => {
      const { spec } = rest as unknown as ReturnType<typeof quotaOf>;
      const state = metadata.labels?.['app.kubernetes.io/managed-by'] === 'reeve' ? 'kept' : 'left';
      const key = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
      return [key, spec.hard.pods === '9' ? 'theirs' : state];
    }),
  );
}

const namespace = fc.constantFrom('n1', 'n2');
const name = fc.constantFrom('one', 'two');

type Step = (h: Harness, world: World) => void;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(namespace, fc.boolean()).map(([each, isMatched]): Step => (h, world) => {
    h.namespace(each, { a: isMatched ? 'yes' : 'no' }, h.get('Namespace', each)?.metadata.annotations);
    world.namespaces.set(each, { isMatched, given: world.namespaces.get(each)?.given ?? new Set() });
  }),
  namespace.map((each): Step => (h, world) => {
    if (h.get('Namespace', each) === undefined) return;
    h.memory.delete(refTo('Namespace', each));
    h.memory.finishNamespace(each);
    world.namespaces.delete(each);
    for (const key of world.objects.keys()) if (key.startsWith(`${each}/`)) world.objects.delete(key);
  }),
  fc.constantFrom<Mode>('Keep', 'CreateOnce').map((mode): Step => (h, world) => {
    h.policy(policy, specOf(mode));
    world.mode = mode;
  }),
  fc.constant<Step>((h, world) => {
    h.memory.delete(refTo('NamespacePolicy', policy));
    world.mode = undefined;
  }),
  fc.tuple(namespace, name).map(([space, each]): Step => (h, world) => {
    h.memory.delete(refTo('ResourceQuota', each, space));
    world.objects.delete(`${space}/${each}`);
  }),
  fc.tuple(namespace, name).map(([space, each]): Step => (h, world) => {
    const key = `${space}/${each}`;
    // The guard lets no user change what Reeve keeps.
    if (!world.namespaces.has(space) || world.objects.get(key) === 'kept') return;
    const object = quotaOf(each, '9');
    h.memory.put({ ...object, metadata: { name: each, namespace: space } });
    world.objects.set(key, 'theirs');
  }),
);

/** After so many requests, the API server answers none, until another process starts. */
function dieAfter(h: Harness, requests: number): void {
  let left = requests;
  h.memory.fault = () => ((left -= 1) < 0 ? failure(503) : undefined);
}

test('what is created once is as the model says, whatever comes, changes and goes, with processes that die between', async () => {
  const dies = fc.option(fc.nat(12), { nil: undefined });
  const steps = fc.array(fc.record({ step, how: lag, seed: fc.nat(1000), dies }), {
    minLength: 1,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const h = new Harness();
      h.memory.isLagging = true;
      h.start();
      const world: World = { namespaces: new Map(), objects: new Map(), mode: undefined };
      for (const { step: run, how, seed, dies: requests } of all) {
        if (requests !== undefined) dieAfter(h, requests);
        run(h, world);
        await arrive(h, how, seed);
        if (requests !== undefined) {
          await h.quiet();
          await h.stop();
          h.memory.fault = () => undefined;
          h.start();
        }
        await h.settle(130_000);
        follow(world);
        expect(stored(h)).toEqual(world.objects);
      }
      await h.end();
    }),
    { numRuns: propertyRuns(200) },
  );
});
