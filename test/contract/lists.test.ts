// Tests lists: their order, selectors, pages and resourceVersions.
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject } from './support/answers.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { at, configMap, secret } from './support/objects.ts';

const names = ({ items }: ApiObject): readonly string[] => items.map(({ metadata }) => metadata.name);

onEachBackend('lists', (backend) => {
  const run = freshName('list');
  let ns = '';
  let other = '';

  const list = async (query: string, path = at('configmaps', ns)): Promise<ApiObject> =>
    await backend.api.must(backend.api.get(`${path}?${query}`));

  beforeAll(async () => {
    [ns, other] = await Promise.all([backend.namespace(), backend.namespace()]);
    const objects: readonly (readonly [string, string, object])[] = [
      [ns, 'b', { run, color: 'red' }],
      [ns, 'a', { run, color: 'blue', 'test.dev/size': 'big' }],
      [ns, 'c', { run }],
      [other, 'a', { run, color: 'red' }],
    ];
    for (const [namespace, name, labels] of objects) {
      await backend.api.must(
        backend.api.create(at('configmaps', namespace), configMap(name, {}, { labels })),
      );
    }
  });

  it('lists lists have a kind, a version and their items in order', async () => {
    const found = await list(`labelSelector=run%3D${run}`);
    expect(found).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(Number(found.metadata.resourceVersion)).toBeGreaterThan(0);
    expect(names(found)).toEqual(['a', 'b', 'c']);
    // Only the list has the kind.
    expect(found.items[0]).not.toHaveProperty('kind');
    expect(found.items[0]).not.toHaveProperty('apiVersion');
  });

  it('lists lists can cover all namespaces', async () => {
    const found = await list(`labelSelector=run%3D${run}`, at('configmaps', ''));
    expect(found.items.map(({ metadata }) => metadata.namespace).sort()).toEqual([ns, ns, ns, other].sort());
  });

  it('without objects have an empty list of items, not null', async () => {
    expect((await list(`labelSelector=run%3Dnone`)).items).toEqual([]);
    expect((await list('', at('configmaps', 'nowhere'))).items).toEqual([]);
  });

  it.each([
    ['color=red', ['b']],
    ['color==red', ['b']],
    ['color!=red', ['a', 'c']],
    ['color', ['a', 'b']],
    ['!color', ['c']],
    ['color in (red,blue)', ['a', 'b']],
    ['color notin (red)', ['a', 'c']],
    ['color,color!=red', ['a']],
    ['test.dev/size=big', ['a']],
    ['color=', []],
  ])('labelSelector %s', async (selector, expected) => {
    const query = encodeURIComponent(`run=${run},${selector}`);
    expect(names(await list(`labelSelector=${query}`))).toEqual(expected);
  });

  it.each([
    ['metadata.name=a', ['a']],
    ['metadata.name!=a', ['b', 'c']],
    ['metadata.name=none', []],
    ['metadata.name==b', ['b']],
  ])('fieldSelector %s', async (selector, expected) => {
    const query = `labelSelector=run%3D${run}&fieldSelector=${encodeURIComponent(selector)}`;
    expect(names(await list(query))).toEqual(expected);
  });

  it('fieldSelector metadata.namespace', async () => {
    const query = `labelSelector=run%3D${run}&fieldSelector=metadata.namespace%3D${other}`;
    expect(names(await list(query, at('configmaps', '')))).toEqual(['a']);
  });

  it('Secrets are selected by type as well', async () => {
    const token = secret('b', { type: 'test.dev/token' });
    for (const object of [secret('a'), token]) {
      await backend.api.must(backend.api.create(at('secrets', ns), object));
    }
    const query = `fieldSelector=${encodeURIComponent('type=test.dev/token')}`;
    expect(names(await list(query, at('secrets', ns)))).toEqual(['b']);
  });

  it('Namespaces are selected by phase and by name', async () => {
    const query = `fieldSelector=${encodeURIComponent(`status.phase=Active,metadata.name=${ns}`)}`;
    expect(names(await list(query, at('namespaces', '')))).toEqual([ns]);
    const label = `labelSelector=kubernetes.io%2Fmetadata.name%3D${other}`;
    expect(names(await list(label, at('namespaces', '')))).toEqual([other]);
  });

  describe('in pages', () => {
    it('lists in pages lists in pages hold all items once, at the version of the first page', async () => {
      const pages: ApiObject[] = [];
      let token = '';
      do {
        const page = await list(`labelSelector=run%3D${run}&limit=2&continue=${encodeURIComponent(token)}`);
        pages.push(page);
        token = page.metadata.continue ?? '';
      } while (token !== '');
      expect(pages.map(names)).toEqual(backend.expects(differences.pages));
      expect(new Set(pages.map(({ metadata }) => metadata.resourceVersion)).size).toBe(1);
    });

    it('name the number of remaining items when there is no selector', async () => {
      const namespace = await backend.namespace();
      for (const name of ['a', 'b', 'c']) {
        await backend.api.must(backend.api.create(at('secrets', namespace), secret(name)));
      }
      const { items, metadata } = await list('limit=1', at('secrets', namespace));
      expect(items.length + (metadata.remainingItemCount ?? 0)).toBe(3);
    });
  });

  describe('at a version', () => {
    it('lists lists at an earlier resourceVersion are at least as new', async () => {
      const found = await list(`labelSelector=run%3D${run}&resourceVersion=0`);
      expect(names(found)).toEqual(['a', 'b', 'c']);
    });

    it('lists lists at an exact resourceVersion show that version', async () => {
      const namespace = await backend.namespace();
      const path = at('secrets', namespace);
      const made = await backend.api.must(backend.api.create(path, secret('a')));
      await backend.api.must(backend.api.create(path, secret('b')));
      const version = made.metadata.resourceVersion;
      const query = `resourceVersion=${version}&resourceVersionMatch=Exact`;
      const { status, body } = await backend.api.get(`${path}?${query}`);
      expect(status).toBe(backend.expects(differences.listOfThePast));
      if (status !== 200) return;
      expect(names(body)).toEqual(['a']);
      expect(body.metadata.resourceVersion).toBe(version);
    });

    it('lists lists at a future resourceVersion are refused', async () => {
      const { status, body } = await backend.api.get(`${at('configmaps', ns)}?resourceVersion=999999999999`);
      expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'Timeout' });
      expect(body.details.causes?.[0]?.reason).toBe('ResourceVersionTooLarge');
    });

    it('lists lists at an invalid resourceVersion are refused', async () => {
      const { status } = await backend.api.get(`${at('configmaps', ns)}?resourceVersion=yesterday`);
      expect(status).toBe(400);
      const match = await backend.api.get(`${at('configmaps', ns)}?resourceVersionMatch=Exact`);
      expect(match.status).toBe(422);
    });
  });
});
