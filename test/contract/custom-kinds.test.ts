// Tests the kinds of Reeve: validation, pruning, defaults, status and generation.
import { beforeAll, describe, expect, it } from 'vitest';
import { causeFields } from './support/answers.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { at, share, shareSpec } from './support/objects.ts';

const shares = at('secretshares', '');

interface Case {
  readonly what: string;
  readonly spec: unknown;
  readonly fields: readonly string[];
  readonly reason: string;
}

const { source, targets } = shareSpec;

const wrong: readonly Case[] = [
  {
    what: 'what is required and missing',
    spec: { source },
    fields: ['spec.targets'],
    reason: 'FieldValueRequired',
  },
  {
    what: 'a text of another pattern',
    spec: { source: { ...source, namespace: 'No_Name' }, targets },
    fields: ['spec.source.namespace'],
    reason: 'FieldValueInvalid',
  },
  {
    what: 'a number where a text should be',
    spec: { source: { ...source, name: 7 }, targets },
    fields: ['spec.source.name'],
    reason: 'FieldValueTypeInvalid',
  },
  {
    what: 'a value that is none of those allowed',
    spec: { source, targets, deletionPolicy: 'Perhaps' },
    fields: ['spec.deletionPolicy'],
    reason: 'FieldValueNotSupported',
  },
  {
    what: 'a number that is too small',
    spec: { source, targets, maxDeletions: -1 },
    fields: ['spec.maxDeletions'],
    reason: 'FieldValueInvalid',
  },
  {
    what: 'a list where an object should be',
    spec: { source: [], targets },
    fields: ['spec.source'],
    reason: 'FieldValueTypeInvalid',
  },
];

onEachBackend('custom kinds', (backend) => {
  beforeAll(() => backend.installKinds());

  it('custom kinds are created with a generation, and with defaults', async () => {
    const name = freshName('share');
    const { status, body } = await backend.api.create(shares, share(name));
    expect(status).toBe(201);
    expect(body).toMatchObject({
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'SecretShare',
      metadata: { name, generation: 1 },
      spec: { ...shareSpec, deletionPolicy: 'Delete', maxDeletions: 20, suspend: false },
    });
    await backend.api.delete(`${shares}/${name}`);
  });

  it('custom kinds are listed under the name of their list', async () => {
    const { body } = await backend.api.get(shares);
    expect(body).toMatchObject({ kind: 'SecretShareList', apiVersion: 'reeve.dev/v1alpha1' });
  });

  describe('are refused with', () => {
    it.each(wrong)('$what', async ({ spec, fields, reason }) => {
      const name = freshName('wrong');
      const { status, body } = await backend.api.create(shares, { ...share(name), spec });
      expect(status).toBe(422);
      expect(body).toMatchObject({
        reason: 'Invalid',
        details: { name, group: 'reeve.dev', kind: 'SecretShare' },
      });
      expect(body.message).toMatch(new RegExp(`^SecretShare\\.reeve\\.dev "${name}" is invalid: `));
      // The real API server adds that it did not check the rest.
      const causes = (body.details.causes ?? []).filter(({ field }) => field !== '<nil>');
      expect(causes.map(({ field }) => field)).toEqual(fields);
      expect(causes[0]?.reason).toBe(reason);
    });

    it('several problems at once', async () => {
      const spec = { source: { namespace: 'A', name: 'B' }, targets, deletionPolicy: 'Perhaps' };
      const { body } = await backend.api.create(shares, { ...share(freshName('wrong')), spec });
      expect(causeFields(body)).toEqual(
        expect.arrayContaining(['spec.deletionPolicy', 'spec.source.name', 'spec.source.namespace']),
      );
    });

    it('a name that is too long for the kind', async () => {
      const { status, body } = await backend.api.create(shares, share('a'.repeat(64)));
      expect(status).toBe(422);
      expect(causeFields(body)).toContain('metadata.name');
    });

    it('no apiVersion', async () => {
      const { status } = await backend.api.create(shares, { metadata: { name: 'a' }, spec: shareSpec });
      expect(status).toBe(400);
    });

    it('values that their rules forbid', async () => {
      const spec = { source, targets: {} };
      const { status, body } = await backend.api.create(shares, { ...share(freshName('wrong')), spec });
      expect(status).toBe(422);
      expect(causeFields(body)).toEqual(['spec.targets']);
    });
  });

  describe('unknown fields', () => {
    const more = (name: string): object => ({
      ...share(name),
      spec: { ...shareSpec, unheard: true },
      other: 1,
    });

    it('unknown fields are dropped with a warning', async () => {
      const name = freshName('share');
      const { status, body, warnings } = await backend.api.create(shares, more(name));
      expect(status).toBe(201);
      expect([...warnings].sort()).toEqual(['unknown field "other"', 'unknown field "spec.unheard"']);
      expect(body).not.toHaveProperty('other');
      expect(body['spec']).not.toHaveProperty('unheard');
      await backend.api.delete(`${shares}/${name}`);
    });

    it('unknown fields are dropped without a warning with fieldValidation=Ignore', async () => {
      const { status, warnings, body } = await backend.api.create(
        `${shares}?fieldValidation=Ignore&dryRun=All`,
        more(freshName('share')),
      );
      expect({ status, warnings }).toEqual({ status: 201, warnings: [] });
      expect(body['spec']).not.toHaveProperty('unheard');
    });

    it('unknown fields are refused with fieldValidation=Strict', async () => {
      const { status, body } = await backend.api.create(
        `${shares}?fieldValidation=Strict`,
        more(freshName('share')),
      );
      expect(status).toBe(400);
      expect(body.message).toContain('strict decoding error: ');
      expect(body.message).toContain('unknown field "spec.unheard"');
    });

    it('a warning about an unknown field names a similar field, in the sandbox only', async () => {
      const hint = backend.expects(differences.similarField);
      const object = { ...share(freshName('share')), spec: { ...shareSpec, suspended: true } };
      const warned = await backend.api.create(`${shares}?dryRun=All`, object);
      expect(warned.warnings).toEqual([`unknown field "spec.suspended"${hint}`]);
      const strict = await backend.api.create(`${shares}?dryRun=All&fieldValidation=Strict`, object);
      expect(strict.status).toBe(400);
      expect(strict.body.message).toMatch(/strict decoding error: unknown field "spec\.suspended"/);
      expect(strict.body.message.endsWith(`unknown field "spec.suspended"${hint}`)).toBe(true);
    });

    it('cause warnings in built-in kinds, too', async () => {
      const ns = await backend.namespace();
      const object = { metadata: { name: 'a', foo: 1 }, other: 1, data: { b: 'c' } };
      const strict = await backend.api.create(`${at('configmaps', ns)}?fieldValidation=Strict`, object);
      expect(strict.status).toBe(400);
      expect(strict.body.message).toContain('unknown field "other"');
      const warned = await backend.api.create(at('configmaps', ns), object);
      expect(warned.status).toBe(201);
      expect([...warned.warnings].sort()).toEqual(['unknown field "metadata.foo"', 'unknown field "other"']);
      expect(warned.body).not.toHaveProperty('other');
    });
  });

  describe('the generation', () => {
    it('the generation counts changes of the spec', async () => {
      const name = freshName('share');
      const path = `${shares}/${name}`;
      await backend.api.must(backend.api.create(shares, share(name)));
      const patch = async (change: object): Promise<number | undefined> =>
        (await backend.api.must(backend.api.patch(path, 'merge', change))).metadata.generation;
      expect(await patch({ metadata: { labels: { a: 'b' } } })).toBe(1);
      expect(await patch({ spec: { suspend: true } })).toBe(2);
      expect(await patch({ spec: { suspend: true } })).toBe(2);
      expect(await patch({ metadata: { generation: 9 } })).toBe(2);
      const free = { metadata: { finalizers: ['test.dev/one'] } };
      expect(await patch(free)).toBe(2);
      const deleted = await backend.api.must(backend.api.delete(path));
      expect(deleted.metadata.generation).toBe(3);
      await patch({ metadata: { finalizers: [] } });
    });
  });

  describe('the status', () => {
    it('the status is written by its subresource only, which writes nothing else', async () => {
      const name = freshName('share');
      const path = `${shares}/${name}`;
      const created = await backend.api.must(
        backend.api.create(shares, { ...share(name), status: { desired: 1 } }),
      );
      expect(created).not.toHaveProperty('status');
      const both = { spec: { suspend: true }, status: { desired: 2 } };
      const main = await backend.api.must(backend.api.patch(path, 'merge', both));
      expect(main).toMatchObject({ spec: { suspend: true }, metadata: { generation: 2 } });
      expect(main).not.toHaveProperty('status');

      const other = { metadata: { labels: { a: 'b' } }, spec: { suspend: false }, status: { desired: 3 } };
      const after = await backend.api.must(backend.api.patch(`${path}/status`, 'merge', other));
      expect(after).toMatchObject({
        metadata: { generation: 2 },
        spec: { suspend: true },
        status: { desired: 3 },
      });
      expect(after.metadata.labels).toBeUndefined();
      expect((await backend.api.get(`${path}/status`)).body).toEqual(after);
      const entry = after.metadata.managedFields?.find(({ subresource }) => subresource === 'status');
      expect(entry?.fieldsV1).toEqual({ 'f:status': { '.': {}, 'f:desired': {} } });
      await backend.api.delete(path);
    });

    it('the status can be applied', async () => {
      const name = freshName('share');
      const path = `${shares}/${name}`;
      await backend.api.must(backend.api.create(shares, share(name)));
      const { apiVersion, kind, metadata } = share(name);
      const object = { apiVersion, kind, metadata, status: { desired: 4 } };
      const applied = await backend.api.must(backend.api.apply(`${path}/status`, object));
      expect(applied).toMatchObject({ status: { desired: 4 }, spec: shareSpec });
      await backend.api.delete(path);
    });

    it('the status is validated', async () => {
      const name = freshName('share');
      await backend.api.must(backend.api.create(shares, share(name)));
      const patch = { status: { desired: 'many' } };
      const { status, body } = await backend.api.patch(`${shares}/${name}/status`, 'merge', patch);
      expect(status).toBe(422);
      expect(causeFields(body)).toContain('status.desired');
      await backend.api.delete(`${shares}/${name}`);
    });
  });

  it('custom kinds can be applied, with conflicts', async () => {
    const name = freshName('share');
    const path = `${shares}/${name}`;
    const first = await backend.api.apply(path, share(name), 'fieldManager=one');
    expect(first.status).toBe(201);
    const other = share(name, { ...shareSpec, targets: { names: ['other-*'] } });
    const refused = await backend.api.apply(path, other, 'fieldManager=two');
    expect(refused.status).toBe(409);
    expect(causeFields(refused.body)).toEqual(['.spec.targets.names']);
    const forced = await backend.api.apply(path, other, 'fieldManager=two&force=true');
    expect(forced.body).toMatchObject({
      spec: { targets: { names: ['other-*'] } },
      metadata: { generation: 2 },
    });
    await backend.api.delete(path);
  });

  it('custom kinds are served once their definition is established', async () => {
    const { body } = await backend.api.get(at('customresourcedefinitions', '', 'secretshares.reeve.dev'));
    const { conditions } = body.status as { conditions: { type: string; status: string }[] };
    for (const type of ['NamesAccepted', 'Established']) {
      expect(conditions.find((condition) => condition.type === type)?.status).toBe('True');
    }
  });
});
