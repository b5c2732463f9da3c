// Property of lists: whatever namespaces, lists and policies come, change and go, the cluster has what a model of a few lines says.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../support/property-runs.ts';
import { arrive, lag } from '../support/reconcile-actions.ts';
import { Harness, refTo } from '../support/reconcile-harness.ts';

const [policy, annotation] = ['lists', 'example.com/items'];

const spec = {
  match: { namespaceSelector: { matchLabels: { a: 'yes' } } },
  maxDeletions: 1000,
  contents: {
    roleBindings: [
      {
        name: 'edit-${item}',
        forEach: `namespaceObject.metadata.annotations['${annotation}'].split(',')`,
        roleRef: { kind: 'ClusterRole', name: 'edit' },
        subjects: [{ kind: 'Group', name: '${item}' }],
      },
      {
        name: 'viewers',
        roleRef: { kind: 'ClusterRole', name: 'view' },
        subjects: [
          {
            kind: 'Group',
            name: '${item}',
            forEach: `namespaceObject.metadata.annotations['${annotation}'].split(',').filter(i, i != 'a')`,
          },
        ],
      },
    ],
  },
};

interface World {
  /** The labels and the list of each Namespace. */
  readonly namespaces: Map<string, { readonly isMatched: boolean; readonly items: string | undefined }>;
  /** The RoleBindings, as `n1/edit-a: a`. */
  readonly objects: Map<string, readonly string[]>;
  isProvided: boolean;
}

type Objects = readonly (readonly [name: string, subjects: readonly string[]])[];

/** Undefined for an error: an empty item, or two objects of one name. */
function objectsOf(list: string): Objects | undefined {
  const items = list.split(',');
  if (items.includes('') || new Set(items).size < items.length) return undefined;
  const viewers = items.filter((item) => item !== 'a');
  return [
    ...items.map((item) => [`edit-${item}`, [item]] as const),
    ...(viewers.length === 0 ? [] : [['viewers', viewers] as const]),
  ];
}

/** An error keeps all objects of the policy as they are. A missing annotation gives none. */
function follow({ namespaces, objects, isProvided }: World): void {
  for (const [namespace, { isMatched, items }] of namespaces) {
    const now = isProvided && isMatched && items !== undefined ? objectsOf(items) : [];
    if (now === undefined) continue;
    for (const key of objects.keys()) if (key.startsWith(`${namespace}/`)) objects.delete(key);
    for (const [name, subjects] of now) objects.set(`${namespace}/${name}`, subjects);
  }
}

function stored(h: Harness): ReadonlyMap<string, readonly string[]> {
  return new Map(
    h.memory.list('RoleBinding').map(({ metadata, ...rest }) => {
      const { subjects } = rest as unknown as { readonly subjects: readonly { readonly name: string }[] };
      return [`${metadata.namespace ?? ''}/${metadata.name ?? ''}`, subjects.map(({ name }) => name)];
    }),
  );
}

const namespace = fc.constantFrom('n1', 'n2', 'n3');
const list = fc.option(
  fc
    .array(fc.constantFrom('a', 'b', 'c', 'd', ''), { minLength: 1, maxLength: 4 })
    .map((each) => each.join(',')),
  { nil: undefined },
);

type Step = (h: Harness, world: World) => void | Promise<void>;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(namespace, fc.boolean(), list).map(([name, isMatched, items]): Step => (h, world) => {
    h.namespace(name, { a: isMatched ? 'yes' : 'no' }, items === undefined ? {} : { [annotation]: items });
    world.namespaces.set(name, { isMatched, items });
  }),
  fc.tuple(namespace).map(([name]): Step => (h, world) => {
    if (h.get('Namespace', name) === undefined) return;
    h.memory.delete(refTo('Namespace', name));
    h.memory.finishNamespace(name);
    world.namespaces.delete(name);
    for (const key of world.objects.keys()) if (key.startsWith(`${name}/`)) world.objects.delete(key);
  }),
  fc.constant<Step>((h, world) => {
    if (h.get('NamespacePolicy', policy) !== undefined) return;
    h.policy(policy, spec);
    world.isProvided = true;
  }),
  fc.constant<Step>((h, world) => {
    h.memory.delete(refTo('NamespacePolicy', policy));
    world.isProvided = false;
  }),
  fc.constant<Step>(async (h) => {
    await h.stop();
    h.start();
  }),
);

test('the RoleBindings of lists are those of the model, whatever comes, changes and goes, with restarts between', async () => {
  const steps = fc.array(fc.record({ step, how: lag, seed: fc.nat(1000) }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const h = new Harness();
      h.memory.isLagging = true;
      h.start();
      const world: World = { namespaces: new Map(), objects: new Map(), isProvided: false };
      for (const { step: run, how, seed } of all) {
        await run(h, world);
        await arrive(h, how, seed);
        // An error keeps what was there, so the model must see each state that the reconciler sees.
        await h.settle(130_000);
        follow(world);
        expect(stored(h)).toEqual(world.objects);
      }
      await h.end();
    }),
    { numRuns: propertyRuns(200) },
  );
});
