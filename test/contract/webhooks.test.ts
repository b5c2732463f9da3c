// Tests admission webhooks: the reviews they receive, their patches and their refusals.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api, Reply } from './support/api.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap, namespaceNamed, share } from './support/objects.ts';
import { register, Webhook, type AdmissionRequest, type Verdict } from './support/webhook.ts';

const allow = (): Verdict => ({ allowed: true });
const adding = (key: string, value: string): Verdict => ({
  allowed: true,
  patch: [{ op: 'add', path: `/data/${key}`, value }],
});

onEachBackend('webhooks', (backend) => {
  const webhook = new Webhook();
  beforeAll(async () => {
    await webhook.listen();
    await backend.installKinds();
  });
  afterAll(() => webhook[Symbol.asyncDispose]());

  describe('receive reviews', () => {
    it('webhooks receive reviews of a create with all its fields', async () => {
      const ns = await backend.namespace();
      const { path, config } = webhook.client(allow);
      await using _ = await register(backend, ns, [{ kind: 'validating', config }]);
      const query = 'fieldManager=me&dryRun=All';
      await backend.api.must(
        backend.api.create(`${at('configmaps', ns)}?${query}`, configMap('a', { b: 'c' })),
      );
      expect(webhook.asked(path)).toHaveLength(1);
      const [request] = webhook.asked(path);
      const resource = { group: '', version: 'v1', resource: 'configmaps' };
      const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
      expect(request).toMatchObject({
        kind,
        resource,
        requestKind: kind,
        requestResource: resource,
        name: 'a',
        namespace: ns,
        operation: 'CREATE',
        object: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'a', namespace: ns },
          data: { b: 'c' },
        },
        oldObject: null,
        dryRun: true,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', dryRun: ['All'] },
      });
      expect(request?.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(request?.userInfo.groups).toContain('system:masters');
      expect(request?.object?.metadata.uid).not.toBe('');
      expect(request?.object?.metadata.creationTimestamp).not.toBeNull();
    });

    it('webhooks receive reviews with the impersonated user', async () => {
      const ns = await backend.namespace();
      const { path, config } = webhook.client(allow);
      await using _ = await register(backend, ns, [{ kind: 'validating', config }]);
      const ann = backend.as('ann', 'system:masters', 'ct-team');
      await ann.must(ann.create(at('configmaps', ns), configMap('a')));
      expect(webhook.asked(path)[0]?.userInfo).toMatchObject({
        username: 'ann',
        groups: expect.arrayContaining(['system:masters', 'ct-team', 'system:authenticated']) as string[],
      });
    });

    it('webhooks receive reviews of an update, a patch and a delete', async () => {
      const ns = await backend.namespace();
      const { path, config } = webhook.client(allow);
      await using _ = await register(backend, ns, [{ kind: 'validating', config }]);
      const { api } = backend;
      const one = at('configmaps', ns, 'a');
      await backend.settled(api.create(at('configmaps', ns), configMap('a', { b: '1' })), one);
      await backend.settled(api.replace(one, configMap('a', { b: '2' })), one);
      await backend.settled(api.patch(one, 'merge', { data: { b: '3' } }), one);
      await backend.settled(api.apply(one, configMap('a', { c: '4' })), one);
      await api.must(api.delete(one, { gracePeriodSeconds: 0 }));
      const seen = webhook.asked(path).map(({ operation, options, object, oldObject }) => ({
        operation,
        options: options?.kind,
        object: object?.data ?? null,
        oldObject: oldObject?.data ?? null,
      }));
      expect(seen).toEqual([
        { operation: 'CREATE', options: 'CreateOptions', object: { b: '1' }, oldObject: null },
        { operation: 'UPDATE', options: 'UpdateOptions', object: { b: '2' }, oldObject: { b: '1' } },
        { operation: 'UPDATE', options: 'UpdateOptions', object: { b: '3' }, oldObject: { b: '2' } },
        { operation: 'UPDATE', options: 'UpdateOptions', object: { b: '3', c: '4' }, oldObject: { b: '3' } },
        { operation: 'DELETE', options: 'DeleteOptions', object: null, oldObject: { b: '3', c: '4' } },
      ]);
    });

    it('webhooks receive reviews of an apply that creates, as of a create', async () => {
      const ns = await backend.namespace();
      const { path, config } = webhook.client(allow);
      await using _ = await register(backend, ns, [{ kind: 'validating', config }]);
      await backend.api.must(
        backend.api.apply(at('configmaps', ns, 'a'), configMap('a'), 'fieldManager=me&force=true'),
      );
      expect(webhook.asked(path)).toHaveLength(1);
      expect(webhook.asked(path)[0]).toMatchObject({
        operation: 'CREATE',
        options: { kind: 'CreateOptions', fieldManager: 'me' },
      });
    });

    it('webhooks receive reviews of each object of a deletecollection', async () => {
      const ns = await backend.namespace();
      for (const name of ['a', 'b']) {
        const labels = { labels: { ours: '' } };
        await backend.api.must(backend.api.create(at('configmaps', ns), configMap(name, {}, labels)));
      }
      const { path, config } = webhook.client(allow);
      await using _ = await register(backend, ns, [{ kind: 'validating', config }]);
      await backend.api.must(backend.api.delete(`${at('configmaps', ns)}?labelSelector=ours`));
      const asked = webhook
        .asked(path)
        .map(({ operation, name = '', oldObject }) => `${operation} "${name}" ${oldObject?.metadata.name}`);
      expect([...asked].sort()).toEqual(['DELETE "" a', 'DELETE "" b']);
    });

    it('webhooks receive reviews without a name when it is generated', async () => {
      const ns = await backend.namespace();
      const { path, config } = webhook.client(allow);
      await using _ = await register(backend, ns, [
        { kind: 'mutating', config },
        { kind: 'validating', config },
      ]);
      const made = await backend.api.must(
        backend.api.create(at('configmaps', ns), { metadata: { generateName: 'some-' } }),
      );
      const [mutated, validated] = webhook.asked(path);
      expect(mutated?.object?.metadata).toMatchObject({ generateName: 'some-' });
      expect(mutated?.object?.metadata).not.toHaveProperty('name');
      expect(validated?.object?.metadata.name).toBe(made.metadata.name);
    });

    it('webhooks receive reviews of writes without changes, but not of reads', async () => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a')));
      const { path, config } = webhook.client(allow);
      await using _ = await register(backend, ns, [{ kind: 'validating', config }]);
      await backend.api.must(backend.api.get(at('configmaps', ns, 'a')));
      await backend.api.must(backend.api.get(at('configmaps', ns)));
      await backend.api.must(backend.api.patch(at('configmaps', ns, 'a'), 'merge', {}));
      expect(webhook.asked(path).map(({ operation }) => operation)).toEqual(['UPDATE']);
    });
  });

  describe('that mutate', () => {
    it('mutating webhooks change the object in sequence, before validating webhooks', async () => {
      const ns = await backend.namespace();
      const order: string[] = [];
      const said = (name: string, verdict: Verdict) => (): Verdict => {
        order.push(name);
        return verdict;
      };
      const first = webhook.client(said('first', adding('order', 'first')));
      const second = webhook.client(said('second', adding('order', 'second')));
      const last = webhook.client(said('last', { allowed: true }));
      await using _ = await register(backend, ns, [
        { kind: 'validating', config: last.config },
        { kind: 'mutating', config: first.config },
        { kind: 'mutating', config: second.config },
      ]);
      const made = await backend.api.must(
        backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' })),
      );
      expect(order).toEqual(['first', 'second', 'last']);
      expect(made.data).toEqual({ b: 'c', order: 'second' });
      expect(webhook.asked(second.path)[0]?.object?.data).toEqual({ b: 'c', order: 'first' });
      expect(webhook.asked(last.path)[0]?.object?.data).toEqual({ b: 'c', order: 'second' });
      expect((await backend.api.get(at('configmaps', ns, 'a'))).body).toEqual(made);
    });

    it('mutating webhooks are called again with IfNeeded after a later webhook changed the object', async () => {
      const ns = await backend.namespace();
      const again = webhook.client(allow);
      const never = webhook.client(allow);
      const changing = webhook.client(({ object }) =>
        object?.data?.['done'] === 'yes' ? { allowed: true } : adding('done', 'yes'),
      );
      await using _ = await register(backend, ns, [
        { kind: 'mutating', config: again.config, rest: { reinvocationPolicy: 'IfNeeded' } },
        { kind: 'mutating', config: never.config },
        { kind: 'mutating', config: changing.config },
      ]);
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' })));
      const seen = ({ path }: { path: string }): readonly unknown[] =>
        webhook.asked(path).map(({ object }) => object?.data);
      expect(seen(again)).toEqual([{ b: 'c' }, { b: 'c', done: 'yes' }]);
      expect(seen(never)).toEqual([{ b: 'c' }]);
    });

    it('mutating webhooks cannot leave an invalid object', async () => {
      const ns = await backend.namespace();
      const { config } = webhook.client(() => ({
        allowed: true,
        patch: [{ op: 'add', path: '/data', value: { 'not a key': 'x' } }],
      }));
      await using _ = await register(backend, ns, [{ kind: 'mutating', config }]);
      const { status } = await backend.api.create(at('configmaps', ns), configMap('a'));
      expect(status).toBe(422);
    });

    it('mutating webhooks fail with a patch that does not apply', async () => {
      const ns = await backend.namespace();
      const { config } = webhook.client(() => ({
        allowed: true,
        patch: [{ op: 'remove', path: '/none/a' }],
      }));
      await using _ = await register(backend, ns, [{ kind: 'mutating', config }]);
      const { status } = await backend.api.create(at('configmaps', ns), configMap('a'));
      expect(status).toBe(500);
      expect((await backend.api.get(at('configmaps', ns, 'a'))).status).toBe(404);
    });

    it('own no field that they change', async () => {
      const ns = await backend.namespace();
      const { config } = webhook.client(() => adding('extra', 'x'));
      await using _ = await register(backend, ns, [{ kind: 'mutating', config }]);
      const applied = await backend.api.must(
        backend.api.apply(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }), 'fieldManager=me'),
      );
      expect(applied.data).toEqual({ b: 'c', extra: 'x' });
      const owners = applied.metadata.managedFields?.map(({ manager, fieldsV1 }) => ({ manager, fieldsV1 }));
      expect(owners).toEqual([{ manager: 'me', fieldsV1: { 'f:data': { 'f:b': {} } } }]);
    });
  });

  describe('refuse', () => {
    const refusal = async (verdict: Verdict): Promise<{ code: number; reason: string; message: string }> => {
      const ns = await backend.namespace();
      const { config } = webhook.client(() => verdict);
      await using _ = await register(backend, ns, [{ kind: 'validating', config }]);
      const { status, body } = await backend.api.create(at('configmaps', ns), configMap('a'));
      expect(body.code).toBe(status);
      expect((await backend.api.get(at('configmaps', ns, 'a'))).status).toBe(404);
      return { code: status, reason: body.reason, message: body.message };
    };

    it('webhooks refuse with their own message', async () => {
      const { code, message } = await refusal({ allowed: false, status: { message: 'not like this' } });
      expect(code).toBe(400);
      expect(message).toMatch(
        /^admission webhook "hook-0\.ct-hooks-\w+\.test\.dev" denied the request: not like this$/,
      );
    });

    it('webhooks refuse with a code and a reason of their own', async () => {
      const status = { code: 409, reason: 'Conflict', message: 'later' };
      expect(await refusal({ allowed: false, status })).toMatchObject({ code: 409, reason: 'Conflict' });
    });

    it('webhooks refuse with a reason alone', async () => {
      const { message } = await refusal({ allowed: false, status: { reason: 'Because' } });
      expect(message).toMatch(/ denied the request: Because$/);
    });

    it('webhooks refuse without a message', async () => {
      const { code, message } = await refusal({ allowed: false });
      expect(code).toBe(400);
      expect(message).toMatch(/ denied the request without explanation$/);
    });
  });

  it('webhooks send warnings to the user, refused or not', async () => {
    const ns = await backend.namespace();
    const { config } = webhook.client(({ name }) => ({
      allowed: name === 'good',
      warnings: ['one "quoted"', 'two'],
    }));
    await using _ = await register(backend, ns, [{ kind: 'validating', config }]);
    for (const [name, code] of [
      ['good', 201],
      ['bad', 400],
    ] as const) {
      const { status, warnings } = await backend.api.create(at('configmaps', ns), configMap(name));
      expect(status).toBe(code);
      expect([...warnings].sort()).toEqual(['one "quoted"', 'two']);
    }
  });

  describe('while they judge', () => {
    /** Another user changes the ConfigMap while the first request of `ct-slow` is judged. */
    const overtaken = async (
      ns: string,
      write: (path: string, version: string) => Promise<Reply>,
    ): Promise<Reply> => {
      const path = at('configmaps', ns, 'a');
      const made = await backend.api.must(
        backend.api.create(at('configmaps', ns), configMap('a', { b: '1' })),
      );
      let isFirst = true;
      const { config } = webhook.client(async () => {
        if (isFirst) await backend.api.must(backend.api.patch(path, 'merge', { data: { other: '2' } }));
        isFirst = false;
        return { allowed: true };
      });
      const rest = {
        matchConditions: [{ name: 'slow', expression: 'request.userInfo.username == "ct-slow"' }],
      };
      await using _ = await register(backend, ns, [{ kind: 'validating', config, rest }]);
      return await write(path, made.metadata.resourceVersion);
    };
    const slow = (): Api => backend.as('ct-slow', 'system:masters');

    it('an update with an outdated resourceVersion is refused', async () => {
      const ns = await backend.namespace();
      const { status, body } = await overtaken(ns, (path, resourceVersion) =>
        slow().replace(path, configMap('a', { b: '3' }, { resourceVersion })),
      );
      expect({ status, reason: body.reason }).toEqual({ status: 409, reason: 'Conflict' });
      expect((await backend.api.get(at('configmaps', ns, 'a'))).body.data).toEqual({ b: '1', other: '2' });
    });

    it('a patch is applied again, to the present object', async () => {
      const ns = await backend.namespace();
      const { status, body } = await overtaken(ns, (path) =>
        slow().patch(path, 'merge', { data: { b: '3' } }),
      );
      expect(status, body.message).toBe(200);
      expect(body.data).toEqual({ b: '3', other: '2' });
    });

    it('an apply is applied again, too', async () => {
      const ns = await backend.namespace();
      const { status, body } = await overtaken(ns, (path) => slow().apply(path, configMap('a', { c: '3' })));
      expect(status, body.message).toBe(200);
      expect(body.data).toEqual({ b: '1', c: '3', other: '2' });
    });
  });

  it('webhooks judge subresources that their rules name', async () => {
    const name = freshName('share');
    await backend.api.must(backend.api.create(at('secretshares', ''), share(name)));
    const plain = webhook.client(allow);
    const status = webhook.client(allow);
    const rules = (...resources: readonly string[]): object => ({
      rules: [
        { apiGroups: ['reeve.dev'], apiVersions: ['*'], resources, operations: ['UPDATE'], scope: 'Cluster' },
      ],
      // Cluster-scoped objects other than namespaces have no namespace.
      namespaceSelector: { matchLabels: { none: 'none' } },
      matchConditions: [{ name: 'ours', expression: `request.name == "${name}"` }],
    });
    await using _ = await register(backend, 'default', [
      { kind: 'validating', config: plain.config, rest: rules('secretshares') },
      { kind: 'validating', config: status.config, rest: rules('secretshares/status') },
    ]);
    const path = at('secretshares', '', name);
    await backend.settled(backend.api.patch(path, 'merge', { spec: { suspend: true } }), path);
    await backend.api.must(backend.api.patch(`${path}/status`, 'merge', { status: { desired: 1 } }));
    const subresources = (requests: readonly AdmissionRequest[]): readonly string[] =>
      requests.map(({ subResource = '' }) => subResource);
    expect(subresources(webhook.asked(plain.path))).toEqual(['']);
    expect(subresources(webhook.asked(status.path))).toEqual(['status']);
    await backend.api.delete(path);
  });

  it('webhooks are called when a namespace is created and deleted, selected by its own labels', async () => {
    const name = freshName('ns');
    const { path, config } = webhook.client(allow);
    const rest = {
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'], operations: ['CREATE', 'DELETE'] },
      ],
      namespaceSelector: { matchLabels: { 'ct-own': name } },
    };
    await using _ = await register(backend, 'default', [{ kind: 'validating', config, rest }]);
    const object = namespaceNamed(name, { labels: { 'ct-own': name } });
    await backend.api.must(backend.api.create(at('namespaces', ''), object));
    await backend.api.must(backend.api.delete(at('namespaces', '', name)));
    const asked = webhook.asked(path).slice(0, 2);
    expect(asked.map(({ operation, namespace }) => `${operation} ${namespace}`)).toEqual([
      `CREATE ${name}`,
      `DELETE ${name}`,
    ]);
  });
});
