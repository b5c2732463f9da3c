// Compares the owners of fields with the recorded answers of a real API server to the same writes.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { ApiError } from '../../../../src/sandbox/api-error.ts';
import { applied, withManagedFields, type FieldOwner } from '../../../../src/sandbox/patch/managed-fields.ts';
import { jsonPatched } from '../../../../src/sandbox/patch/json-patch.ts';
import { mergePatched } from '../../../../src/sandbox/patch/merge-patch.ts';
import type { Resource } from '../../../../src/sandbox/resource.ts';
import { scenarios } from '../../../fixtures/sandbox/ownership-scenarios.ts';
import type { Step } from '../../../fixtures/sandbox/ownership-scenarios.ts';
import { kinds } from './kinds.ts';

const recorded = new URL('../../../fixtures/sandbox/ownership.json', import.meta.url);
const answers = JSON.parse(readFileSync(recorded, 'utf8')) as Record<string, readonly KubeObject[]>;

function patched(resource: Resource, { verb, body }: Step, stored: KubeObject): KubeObject {
  if (verb === 'json') return jsonPatched(stored, body);
  if (verb === 'merge') return mergePatched(stored, body);
  if (verb === 'strategic') return mergePatched(stored, body, resource);
  const { managedFields } = stored.metadata;
  const next = body as KubeObject;
  return { ...next, metadata: { ...next.metadata, managedFields } };
}

function written(resource: Resource, step: Step, stored: KubeObject | undefined): unknown {
  const manager = { name: step.manager, subresource: step.subresource, time: '<time>' };
  try {
    if (step.verb === 'apply') {
      const wanted = step.body as KubeObject;
      return applied({ resource, stored, applied: wanted, manager, force: step.force === true });
    }
    if (stored === undefined) return withManagedFields(resource, step.body as KubeObject, undefined, manager);
    return withManagedFields(resource, patched(resource, step, stored), stored, manager);
  } catch (error) {
    if (error instanceof ApiError) return error.body;
    throw error;
  }
}

/** The API server stores no empty maps and nulls where its types have none. */
function withoutEmpty(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, member: unknown) =>
    member === null || (typeof member === 'object' && Object.keys(member).length === 0) ? undefined : member,
  ) as unknown;
}

/** Ignores order and times: an entry of the API server has no time when its first write changes nothing. */
const entriesOf = (object: unknown): readonly object[] => {
  const entries = (object as KubeObject).metadata['managedFields'] as readonly FieldOwner[] | undefined;
  const key = ({ manager, operation, subresource }: FieldOwner): string =>
    [manager, operation, subresource].join();
  return (entries ?? [])
    .toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
    .map((entry) => ({ ...entry, time: '' }));
};

/** Ignores managedFields. The API server orders the finalizers of several managers differently. */
const restOf = (object: unknown): unknown => {
  const { metadata, ...rest } = object as KubeObject;
  const finalizers = (metadata['finalizers'] as readonly string[] | undefined)?.toSorted();
  return withoutEmpty({ ...rest, metadata: { ...metadata, finalizers, managedFields: [] } });
};

const isObject = (answer: unknown): boolean => (answer as KubeObject).kind !== 'Status';

/** Errors of other parts of the server: validation and storage. */
const isOfOthers = (answer: unknown): boolean =>
  ['Invalid', 'AlreadyExists'].includes(String((answer as KubeObject)['reason']));

describe.each(scenarios)('$name', ({ name, kind, steps }) => {
  const given = answers[name] ?? [];
  const cases = steps.map((step, index) => ({ step, index, answer: given[index], verb: step.verb }));
  test.each(cases.filter(({ answer }) => !isOfOthers(answer)))('$index $verb', ({ step, index, answer }) => {
    const stored = given.slice(0, index).findLast(isObject);
    const ours = written(kinds[kind], step, stored);
    if (!isObject(answer)) {
      const { message: _, ...refusal } = answer as JsonObject;
      expect(ours).toMatchObject(refusal);
      return;
    }
    expect(entriesOf(ours)).toEqual(entriesOf(answer));
    const [expected, object] = [restOf(answer), restOf(ours)];
    if (stored === undefined || step.verb === 'update') expect(expected).toMatchObject(object as object);
    else expect(object).toEqual(expected);
  });
});
