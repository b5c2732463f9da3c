// Plans for fields of ServiceAccounts, carried out by the server-side apply of the sandbox.
import { describe, expect, test } from 'vitest';
import { annotationsOf, type KubeObject, type StringMap } from '../../../../src/base/metadata.ts';
import type { FieldsClaim } from '../../../../src/policy/desired/desired.ts';
import { maxItems, observeAccount, oldMarkOf, pullSecretItem } from '../../../../src/policy/plan/account.ts';
import { planAccount, type AccountPlan, type FieldsFate } from '../../../../src/policy/plan/plan-account.ts';
import { objectKey, serviceAccountType } from '../../../../src/base/object-type.ts';
import { providerId, type ProviderId } from '../../../../src/policy/terms/provider-id.ts';
import { fieldsAnnotation, oldFieldsManager } from '../../../../src/schema/names.ts';
import { serviceAccountKind } from '../../../../src/sandbox/kinds/plain-kinds.ts';
import { applied, withManagedFields } from '../../../../src/sandbox/patch/managed-fields.ts';
import { mergePatched } from '../../../../src/sandbox/patch/merge-patch.ts';

const time = '2026-11-21T12:00:00Z';
const [a, b, c] = ['a', 'b', 'c'].map((name) => providerId('NamespacePolicy', name)) as [
  ProviderId,
  ProviderId,
  ProviderId,
];

function wants(provider: ProviderId, pullSecrets: readonly string[], automount?: boolean): FieldsClaim {
  const key = objectKey(serviceAccountType, 'default');
  const content = { kind: 'fields', fields: { pullSecrets, automount } } as const;
  return { provider, key, type: serviceAccountType, name: 'default', content };
}

interface Circumstances {
  readonly fates?: Readonly<Record<string, FieldsFate>>;
  readonly suspended?: readonly ProviderId[];
  readonly whole?: ProviderId;
}

/** One ServiceAccount, which users and Reeve write. */
class World {
  object: KubeObject = { ...serviceAccountType, metadata: { name: 'default', namespace: 'n', uid: 'u' } };
  /** The marks that this process knows. A new process knows those of managedFields only. */
  known: ReturnType<typeof observeAccount> | undefined;
  lastPlan: AccountPlan | undefined;

  constructor(given: object = {}) {
    this.object = { ...this.object, ...given };
  }

  user(patch: object, name = 'kubectl'): this {
    const next = mergePatched(this.object, patch);
    const manager = { name, subresource: undefined, time };
    this.object = withManagedFields(serviceAccountKind, next, this.object, manager);
    this.known = observeAccount(this.object, this.known);
    return this;
  }

  apply(name: string, fields: object, annotations?: StringMap): this {
    const metadata = {
      name: 'default',
      namespace: 'n',
      ...(annotations === undefined ? {} : { annotations }),
    };
    const config = { ...serviceAccountType, metadata, ...fields };
    const manager = { name, subresource: undefined, time };
    const sent = { resource: serviceAccountKind, stored: this.object, applied: config, manager, force: true };
    this.object = applied(sent);
    this.known = observeAccount(this.object);
    return this;
  }

  restart(): this {
    this.known = observeAccount(this.object);
    return this;
  }

  /** Plans until nothing is left to do, which takes one round. */
  reeve(claims: readonly FieldsClaim[], { fates = {}, suspended = [], whole }: Circumstances = {}): this {
    const plan = (): AccountPlan =>
      planAccount({
        live: observeAccount(this.object, this.known),
        claims,
        whole,
        providers: () => [a, b, c],
        freezeOf: (provider) =>
          suspended.includes(provider) ? { reason: 'Suspended', message: 'it is suspended' } : undefined,
        fateOf: (provider) => (suspended.includes(provider) ? 'kept' : (fates[provider] ?? 'removed')),
      });
    this.lastPlan = plan();
    for (const { manager, fields, annotations } of this.lastPlan.step?.applies ?? [])
      this.apply(manager, fields, annotations);
    if (plan().step !== undefined) throw new Error('a second round has something to do');
    return this;
  }

  get fields(): readonly unknown[] {
    const { pullSecrets, automount } = observeAccount(this.object);
    return automount === undefined ? pullSecrets : [...pullSecrets, automount];
  }

  get annotation(): string | undefined {
    return annotationsOf(this.object)[fieldsAnnotation];
  }

  get managers(): readonly string[] {
    return observeAccount(this.object).managers;
  }

  get results(): readonly string[] {
    return (this.lastPlan?.results ?? []).map(
      ({ provider, state, reason }) => `${provider} ${state} ${reason}`,
    );
  }
}

const pull = (...names: readonly string[]) => ({ imagePullSecrets: names.map((name) => ({ name })) });
const gone: Circumstances = {};

describe('adding fields', () => {
  test('Secrets of several policies are added in the order of the policies, each once', () => {
    const world = new World().reeve([wants(a, ['one', 'two']), wants(b, ['two', 'three'])]);
    expect(world.fields).toEqual(['one', 'two', 'three']);
    expect(world.managers).toHaveLength(1);
  });

  test('what others put there stays in front', () => {
    expect(new World(pull('theirs')).reeve([wants(a, ['one'], false)]).fields).toEqual([
      'theirs',
      'one',
      false,
    ]);
  });

  test('an account that has everything already is not written', () => {
    const world = new World({ ...pull('one'), automountServiceAccountToken: false });
    expect(world.reeve([wants(a, ['one'], false)]).managers).toEqual([]);
    expect(world.results).toEqual([`${a} synced Synced`]);
  });

  test('false wins over true, in either order, and the other policy has a conflict', () => {
    const first = new World().reeve([wants(a, [], false), wants(b, ['two'], true)]);
    expect(first.fields).toEqual(['two', false]);
    expect(first.results).toEqual([`${b} conflict ProvidedByAnother`]);
    const second = new World().reeve([wants(a, [], true), wants(b, [], false)]);
    expect(second.fields).toEqual([false]);
    expect(second.results).toEqual([`${a} conflict ProvidedByAnother`]);
  });

  test('a missing account is reported and not created', () => {
    const input = { live: undefined, claims: [wants(a, ['one'])], whole: undefined };
    const fates = { providers: () => [], freezeOf: () => undefined, fateOf: () => 'removed' as const };
    const plan = planAccount({ ...input, ...fates });
    expect(plan.step).toBeUndefined();
    expect(plan.results).toMatchObject([{ provider: a, state: 'failed', reason: 'NotCreatedYet' }]);
  });

  test('an account that is being deleted is left alone', () => {
    const world = new World();
    world.object = { ...world.object, metadata: { ...world.object.metadata, deletionTimestamp: time } };
    expect(world.reeve([wants(a, ['one'])]).fields).toEqual([]);
    expect(world.results).toEqual([`${a} failed Terminating`]);
  });

  test('an account that a policy provides as a whole gets no fields, and loses those it had', () => {
    const world = new World().reeve([wants(a, ['one'])]).reeve([wants(a, ['one'])], { whole: b });
    expect(world.fields).toEqual([]);
    expect(world.results).toEqual([`${a} conflict ProvidedByAnother`]);
  });

  test('a policy with more fields than one account may get gets none of them', () => {
    const many = Array.from({ length: maxItems }, (_, index) => `s${index}`);
    const world = new World().reeve([wants(a, many), wants(b, ['more'])]);
    expect(world.fields).toEqual(many);
    expect(world.results).toEqual([`${b} failed TooManyPullSecrets`]);
    expect(world.annotation?.length).toBeLessThan(10_000);
  });

  test('what a suspended policy added takes no room from a policy that comes before it, and stays', () => {
    const many = Array.from({ length: maxItems }, (_, index) => `s${index}`);
    const suspended = [b];
    const world = new World().reeve([wants(b, many)]);
    world.reeve([wants(a, ['first'], false), wants(b, many)], { suspended });
    expect(world.fields).toEqual([...many, 'first', false]);
    world.reeve([wants(b, many)], { suspended });
    expect(world.fields).toEqual(many);
  });

  test('what a suspended policy added takes room from a policy that comes after it', () => {
    const many = Array.from({ length: maxItems }, (_, index) => `s${index}`);
    const world = new World().reeve([wants(a, many)]);
    world.reeve([wants(a, many), wants(b, ['more'])], { suspended: [a] });
    expect(world.results).toContain(`${b} failed TooManyPullSecrets`);
  });
});

describe('keeping fields', () => {
  test.each([
    ['removes a Secret', { imagePullSecrets: null }, ['one', false]],
    ['replaces the list', pull('theirs'), ['theirs', 'one', false]],
    ['adds a Secret', pull('one', 'theirs'), ['one', 'theirs', false]],
    ['mounts the token', { automountServiceAccountToken: true }, ['one', false]],
  ])('a user who %s changes nothing of what the policy wants', (_, patch, expected) => {
    const claims = [wants(a, ['one'], false)];
    const world = new World().reeve(claims).user(patch).reeve(claims);
    expect(world.fields).toEqual(expected);
    expect(world.reeve([], gone).fields).toEqual(expected.filter((each) => each === 'theirs'));
    expect(world.managers).toEqual([]);
  });

  test('a new process knows what Reeve has added', () => {
    const world = new World(pull('theirs')).reeve([wants(a, ['one'], false)]);
    expect(world.restart().reeve([]).fields).toEqual(['theirs']);
  });

  test('a Secret that a user rewrote while Reeve runs is still the one of Reeve', () => {
    const world = new World().reeve([wants(a, ['one'])]).user(pull('one', 'theirs'));
    expect(world.reeve([]).fields).toEqual(['theirs']);
  });

  test('a Secret that a user rewrote while no process ran counts as the one of the user', () => {
    const world = new World().reeve([wants(a, ['one'])]).user(pull('one', 'theirs'));
    expect(world.restart().reeve([]).fields).toEqual(['one', 'theirs']);
  });

  test('a suspended policy keeps what it added and adds nothing', () => {
    const suspended = [a];
    const world = new World().reeve([wants(a, ['one'], false)]);
    world.reeve([wants(a, ['other'], false)], { suspended });
    expect(world.fields).toEqual(['one', false]);
    expect(world.results).toEqual([`${a} failed Suspended`]);
    expect(world.reeve([wants(a, ['one'], false)], { suspended }).results).toEqual([`${a} synced Synced`]);
    expect(world.reeve([wants(a, ['other'])]).fields).toEqual(['other']);
  });

  test('what a suspended policy keeps survives changes of another policy', () => {
    const world = new World().reeve([wants(a, ['one'], false), wants(b, ['two'])]);
    world.reeve([wants(b, ['three'], true)], { fates: { [a]: 'kept' } });
    expect(world.fields).toEqual(['one', 'three', false]);
    expect(world.results).toEqual([`${b} conflict ProvidedByAnother`]);
    expect(world.reeve([wants(b, ['three'], true)]).fields).toEqual(['three', true]);
  });
});

describe('taking fields back', () => {
  test('a Secret stays while another policy wants it', () => {
    const world = new World().reeve([wants(a, ['one']), wants(b, ['one', 'two'])]);
    expect(world.reeve([wants(b, ['one', 'two'])]).fields).toEqual(['one', 'two']);
    expect(world.reeve([wants(b, ['two'])]).fields).toEqual(['two']);
    expect(world.reeve([]).fields).toEqual([]);
    expect(world.object.metadata['managedFields']).toBeUndefined();
  });

  test('Secrets of others get another manager, so that the API server keeps them', () => {
    const world = new World(pull('theirs')).reeve([wants(a, ['one'])]).reeve([]);
    expect(world.fields).toEqual(['theirs']);
    expect(world.managers).toEqual([]);
    expect(world.reeve([wants(b, ['two'])]).reeve([]).fields).toEqual(['theirs']);
  });

  test('one field is taken back while the other stays', () => {
    const world = new World(pull('theirs')).reeve([wants(a, ['one'], false)]);
    expect(world.reeve([wants(a, [], false)]).fields).toEqual(['theirs', false]);
    expect(world.reeve([wants(a, ['one'])]).fields).toEqual(['theirs', 'one']);
  });

  test('released fields stay, and Reeve no longer owns them', () => {
    const world = new World(pull('theirs')).reeve([wants(a, ['one'], false)]);
    world.reeve([], { fates: { [a]: 'released' } });
    expect(world.fields).toEqual(['theirs', 'one', false]);
    expect(world.managers).toEqual([]);
    expect(world.reeve([wants(b, ['one', 'two'])]).reeve([]).fields).toEqual(['theirs', 'one', false]);
  });

  test('a list that another program applies stays as it is', () => {
    const world = new World().reeve([wants(a, ['one'])]).apply('gitops', pull('one', 'theirs'));
    expect(world.reeve([]).fields).toEqual(['one', 'theirs']);
    expect(world.managers).toEqual([]);
    const same = new World().reeve([wants(a, ['one'])]).apply('gitops', pull('one'));
    expect(same.reeve([]).fields).toEqual(['one']);
    expect(same.apply('gitops', {}).fields).toEqual([]);
  });

  test('fields of a policy that no longer exists stay, because nothing says whose they are', () => {
    const unknown = providerId('NamespacePolicy', 'unknown');
    const world = new World().reeve([wants(unknown, ['one'])]);
    expect(world.reeve([]).fields).toEqual(['one']);
    expect(world.managers).toEqual([]);
  });
});

describe('the annotation', () => {
  test('the annotation names each field that Reeve has added, and the policy that wants it', () => {
    const world = new World(pull('theirs')).reeve([wants(a, ['one', 'two'], false), wants(b, ['two'])]);
    expect(world.annotation).toBe(
      `${a}: automountServiceAccountToken, imagePullSecrets/one, imagePullSecrets/two\n${b}: imagePullSecrets/two`,
    );
    expect(world.managers).toEqual(['reeve-fields']);
    expect(world.reeve([]).annotation).toBeUndefined();
  });

  test.each([
    ['deletes', null],
    ['rewrites', `${b}: imagePullSecrets/theirs`],
    ['empties', ''],
  ])('an annotation that a user %s while Reeve runs is written again', (_, value) => {
    const claims = [wants(a, ['one'])];
    const world = new World(pull('theirs')).reeve(claims);
    world.user({ metadata: { annotations: { [fieldsAnnotation]: value } } }).reeve(claims);
    expect(world.annotation).toBe(`${a}: imagePullSecrets/one`);
    expect(world.reeve([]).fields).toEqual(['theirs']);
  });

  test.each([
    ['deletes', null],
    ['rewrites', `${a}: imagePullSecrets/theirs`],
  ])('an annotation that a user %s while no process runs counts no more, so all Secrets stay', (_, value) => {
    const world = new World(pull('theirs')).reeve([wants(a, ['one'])]);
    world.user({ metadata: { annotations: { [fieldsAnnotation]: value } } }).restart();
    expect(world.reeve([]).fields).toEqual(['theirs', 'one']);
    expect(world.managers).toEqual([]);
  });

  test('an annotation that a user copies from another account takes nothing from this one', () => {
    const annotations = { [fieldsAnnotation]: `${a}: imagePullSecrets/theirs, automountServiceAccountToken` };
    const copied = new World({ ...pull('theirs'), automountServiceAccountToken: false });
    copied.user({ metadata: { annotations } }).restart();
    expect(copied.reeve([]).fields).toEqual(['theirs', false]);
    copied.apply('gitops', pull('theirs'), annotations);
    expect(copied.reeve([]).fields).toEqual(['theirs', false]);
    expect(copied.reeve([wants(b, [], true)]).reeve([]).fields).toEqual(['theirs']);
  });

  test('a Secret that is called as the other field is not taken for it', () => {
    const world = new World(pull('automountServiceAccountToken')).reeve([wants(a, ['one'], false)]);
    expect(world.reeve([]).fields).toEqual(['automountServiceAccountToken']);
  });
});

describe('marks of versions before the annotation', () => {
  /** An account as such a version left it: the marks are in the name of its manager. */
  function stored(...marks: readonly string[]): World {
    const manager = `${oldFieldsManager}/${[...marks].sort().join('')}`;
    const world = new World(pull('theirs'));
    return world.apply(manager, { ...pull('theirs', 'one'), automountServiceAccountToken: false }).restart();
  }

  const oldMarks = [
    oldMarkOf(a, pullSecretItem('one')),
    oldMarkOf(a, 'automountServiceAccountToken'),
    oldMarkOf(b, pullSecretItem('one')),
  ];

  test('such marks are the hashes that those versions wrote', () => {
    expect(oldMarks.slice(0, 2)).toEqual(['N_ezDQ', 'gU_3o2']);
  });

  test.each<readonly [string, readonly FieldsClaim[], Circumstances, readonly unknown[], string | undefined]>(
    [
      [
        'stay where all policies still want them, and the annotation replaces them',
        [wants(a, ['one'], false), wants(b, ['one'])],
        {},
        ['theirs', 'one', false],
        `${a}: automountServiceAccountToken, imagePullSecrets/one\n${b}: imagePullSecrets/one`,
      ],
      [
        'take back what one policy no longer wants',
        [wants(b, ['one'])],
        {},
        ['theirs', 'one'],
        `${b}: imagePullSecrets/one`,
      ],
      ['take back what no policy wants', [], {}, ['theirs'], undefined],
      [
        'keep what a suspended policy added',
        [wants(a, ['one'], false)],
        { suspended: [a] },
        ['theirs', 'one', false],
        `${a}: automountServiceAccountToken, imagePullSecrets/one`,
      ],
      [
        'leave what a policy releases',
        [],
        { fates: { [a]: 'released' } },
        ['theirs', 'one', false],
        undefined,
      ],
    ],
  )('old marks %s', (_, claims, circumstances, fields, annotation) => {
    const world = stored(...oldMarks).reeve(claims, circumstances);
    expect(world.fields).toEqual(fields);
    expect(world.annotation).toBe(annotation);
    expect(world.managers).toEqual(annotation === undefined ? [] : ['reeve-fields']);
    expect(world.restart().reeve(claims, circumstances).lastPlan?.step).toBeUndefined();
  });
});
