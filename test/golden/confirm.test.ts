// What `reeve confirm` shows before it asks, in each format, and the number that it would confirm.
import { describe, expect, test } from 'vitest';
import { jsonText } from '../../src/cli/output/data-text.ts';
import { readCommand } from '../../src/cli/commands.ts';
import { findConfirmation, confirmationText } from '../../src/inspect/actions/confirmation.ts';
import { withObjects } from '../../src/inspect/input/cluster-state.ts';
import type { ConfirmationOutput } from '../../src/inspect/output-schemas/confirmation.ts';
import { stateIn } from '../support/file-states.ts';

const state = await stateIn('test/fixtures/commands/held');
const id = 'NamespacePolicy/team';
const stored = state.objects({ apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy' })[0];
if (stored === undefined) throw new Error('the fixture has no policy');
const { metadata } = stored;

interface Given {
  readonly spec?: object;
  readonly annotation?: string;
  readonly meta?: object;
  readonly status?: object;
  readonly isForDeletion?: boolean;
}

async function confirmation({
  spec,
  annotation,
  meta,
  status,
  isForDeletion = false,
}: Given = {}): Promise<ConfirmationOutput> {
  const annotations =
    annotation === undefined ? {} : { annotations: { 'reeve.dev/confirm-deletions': annotation } };
  const policy = {
    ...stored,
    spec: { ...(stored?.['spec'] as object), ...spec },
    metadata: { ...metadata, ...annotations, ...meta },
    ...(status === undefined ? {} : { status }),
  };
  const base = withObjects(state, [policy]);
  const output = await findConfirmation({ base, id, isForDeletion, now: new Date('2026-11-23T08:00:00Z') });
  if (output === undefined) throw new Error('there is no policy');
  return output;
}

describe('the deletions that wait', () => {
  test.each([
    ['held', {}],
    ['deletion', { isForDeletion: true }],
  ])('the deletions that wait are the same as in the files, for %s', async (name, given) => {
    const output = await confirmation(given);
    await expect(confirmationText(output, false)).toMatchFileSnapshot(
      `../fixtures/commands/confirm-${name}.text`,
    );
    await expect(jsonText(output)).toMatchFileSnapshot(`../fixtures/commands/confirm-${name}.json`);
  });

  test('the deletions that wait are cut after twenty, unless all are asked for', async () => {
    const output = await confirmation();
    const [one] = output.objects;
    const many = {
      ...output,
      objects: Array.from({ length: 23 }, () => one).filter((each) => each !== undefined),
    };
    const lines = (isWhole: boolean) => confirmationText(many, isWhole).split('\n');
    expect(lines(false).slice(-2)).toEqual(['  and 3 more (--all lists them)', '']);
    expect(lines(false)).toHaveLength(23);
    expect(lines(true)).toHaveLength(25);
  });
});

describe('the outcome', () => {
  test.each([
    [{}, 'not confirmed', '03'],
    [{ annotation: '2' }, 'not confirmed', '03'],
    [{ annotation: '03' }, 'confirmed before', '03'],
    [{ annotation: '40' }, 'confirmed before', '40'],
    [{ annotation: 'yes' }, 'not confirmed', '03'],
    [{ spec: { maxDeletions: 3 } }, 'not needed', undefined],
    [{ isForDeletion: true }, 'not confirmed', '4'],
    [{ isForDeletion: true, annotation: '4' }, 'confirmed before', '4'],
    [{ spec: { deletionPolicy: 'Orphan' } }, 'nothing to delete', undefined],
    [{ spec: { suspend: true } }, 'nothing to delete', undefined],
    [{ spec: { match: { names: ['*'] } } }, 'nothing to delete', undefined],
    [{ spec: { match: 'all' } }, 'nothing to delete', undefined],
    [{ meta: { deletionTimestamp: '2026-11-23T07:00:00Z' } }, 'nothing to delete', undefined],
  ])('the outcome of %j is %s with the annotation %s', async (given, outcome, annotation) => {
    expect(await confirmation(given)).toMatchObject({ outcome, ...(annotation && { annotation }) });
  });

  test('the outcome names the reason why nothing would be deleted', async () => {
    const lines = async (given: Given) => confirmationText(await confirmation(given), false).split('\n')[0];
    expect(await lines({ spec: { match: { names: ['*'] } } })).toBe(
      `${id}: nothing would be deleted: it wants all objects that it has`,
    );
    expect(await lines({ spec: { suspend: true } })).toBe(
      `${id}: nothing would be deleted: it is suspended, so its objects stay until it is resumed`,
    );
    expect(await lines({ spec: { suspend: true }, isForDeletion: true })).toBe(
      `${id}: nothing would be deleted: it is suspended, so its objects stay when it is deleted`,
    );
    expect(await lines({ annotation: '03' })).toBe(
      `${id}: 3 objects in 3 namespaces would be deleted or given back, and maxDeletions is 2; the annotation allows 3 already`,
    );
    expect(await lines({ spec: { maxDeletions: 3 } })).toBe(
      `${id}: 3 objects in 3 namespaces would be deleted or given back; maxDeletions is 3, so no confirmation is needed`,
    );
  });
});

test('a provider that does not exist has no confirmation', async () => {
  const request = { base: state, isForDeletion: false, now: new Date() };
  expect(await findConfirmation({ ...request, id: 'SecretShare/team' })).toBeUndefined();
});

test('the name of the provider is required', async () => {
  expect(await readCommand(['confirm'], {})).toMatchObject({ kind: 'wrong', code: 2 });
  expect(await readCommand(['confirm', 'sib/a'], {})).toMatchObject({
    problems: ['"sib/a" is in a namespace: add -n NAMESPACE'],
  });
});

test('what is held within the limit needs a confirmation too, because earlier deletions count', async () => {
  const spec = { maxDeletions: 20 };
  const recent = [{ at: '2026-11-23T07:59:00Z', count: 19 }];
  const held = { count: 3, since: '2026-11-23T07:00:00Z' };
  const waiting = await confirmation({ spec, annotation: '19', status: { deletions: { recent } } });
  expect(waiting).toMatchObject({ outcome: 'confirmed before', recent: 19 });
  const forDeletion = await confirmation({ spec, isForDeletion: true, status: { deletions: { recent } } });
  expect(forDeletion).toMatchObject({ outcome: 'not confirmed', annotation: '4', recent: 19 });
  const output = await confirmation({
    spec,
    status: {
      confirmationUsed: '3',
      held,
      deletions: { recent: [{ at: '2026-11-23T06:55:00Z', count: 18 }] },
    },
  });
  expect(output).toMatchObject({ outcome: 'not confirmed', annotation: '03', recent: 18 });
  expect(confirmationText(output, false)).toMatch(
    /^NamespacePolicy\/team: 3 objects in 3 namespaces would be deleted or given back, after 18 in the ten minutes before, and maxDeletions is 20\n/,
  );
});
