// Tests which requests a webhook is called for, and what happens when it gives no verdict.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificates } from '../../src/certs/issue/issue.ts';
import { causeFields } from './support/answers.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap } from './support/objects.ts';
import { register, Webhook, type Verdict } from './support/webhook.ts';

interface Selected {
  readonly what: string;
  readonly rest: object;
  /** Creates a ConfigMap `a` with the label color=red in a namespace with the label team=one. */
  readonly isAsked: boolean;
}

const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };

const selections: readonly Selected[] = [
  {
    what: 'a selector of its labels',
    rest: { objectSelector: { matchLabels: { color: 'red' } } },
    isAsked: true,
  },
  {
    what: 'a selector of other labels',
    rest: { objectSelector: { matchLabels: { color: 'blue' } } },
    isAsked: false,
  },
  {
    what: 'a selector of its namespace',
    rest: { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['one'] }] } },
    isAsked: true,
  },
  {
    what: 'a selector of other namespaces',
    rest: { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['one'] }] } },
    isAsked: false,
  },
  {
    what: 'a condition that holds',
    rest: { matchConditions: [{ name: 'a', expression: 'object.metadata.name == "a"' }] },
    isAsked: true,
  },
  {
    what: 'conditions of which one does not hold',
    rest: {
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'b', expression: 'request.userInfo.username == "nobody"' },
      ],
    },
    isAsked: false,
  },
  {
    what: 'another operation',
    rest: { rules: [{ ...rule, operations: ['UPDATE', 'DELETE'] }] },
    isAsked: false,
  },
  { what: 'another group', rest: { rules: [{ ...rule, apiGroups: ['apps'] }] }, isAsked: false },
  { what: 'all groups', rest: { rules: [{ ...rule, apiGroups: ['*'], apiVersions: ['*'] }] }, isAsked: true },
  { what: 'all resources', rest: { rules: [{ ...rule, resources: ['*'] }] }, isAsked: true },
  {
    what: 'all resources and subresources',
    rest: { rules: [{ ...rule, resources: ['*/*'] }] },
    isAsked: true,
  },
  { what: 'subresources alone', rest: { rules: [{ ...rule, resources: ['*/status'] }] }, isAsked: false },
  { what: 'namespaced kinds', rest: { rules: [{ ...rule, scope: 'Namespaced' }] }, isAsked: true },
  { what: 'cluster-scoped kinds', rest: { rules: [{ ...rule, scope: 'Cluster' }] }, isAsked: false },
];

onEachBackend('webhook matching', (backend) => {
  const webhook = new Webhook();
  beforeAll(() => webhook.listen());
  afterAll(() => webhook[Symbol.asyncDispose]());

  const red = configMap('a', {}, { labels: { color: 'red' } });

  it('webhook matching follows rules, selectors and matchConditions', async () => {
    const ns = await backend.namespace({ team: 'one' });
    const clients = selections.map(() => webhook.client((): Verdict => ({ allowed: true })));
    const hooks = selections.flatMap(({ rest }, index) => {
      const config = clients[index]?.config ?? {};
      // Ignores requests of other tests.
      const { namespaceSelector = {}, ...others } = rest as { namespaceSelector?: object };
      const own = { matchLabels: { 'kubernetes.io/metadata.name': ns }, ...namespaceSelector };
      return [
        { kind: 'validating' as const, config, rest: { rules: [rule], ...others, namespaceSelector: own } },
      ];
    });
    await using _ = await register(backend, ns, hooks);
    await backend.api.must(backend.api.create(at('configmaps', ns), red));
    const seen = selections.map(({ what }, index) => ({
      what,
      isAsked: webhook.asked(clients[index]?.path ?? '').length > 0,
    }));
    expect(seen).toEqual(selections.map(({ what, isAsked }) => ({ what, isAsked })));
  });

  it('webhook matching reads the old object too', async () => {
    const ns = await backend.namespace();
    const one = at('configmaps', ns, 'a');
    await backend.settled(backend.api.create(at('configmaps', ns), red), one);
    const { path, config } = webhook.client(() => ({ allowed: true }));
    const rest = { objectSelector: { matchLabels: { color: 'red' } } };
    await using _ = await register(backend, ns, [{ kind: 'validating', config, rest }]);
    await backend.settled(backend.api.replace(one, configMap('a')), one);
    await backend.api.must(backend.api.delete(one));
    expect(webhook.asked(path).map(({ operation }) => operation)).toEqual(['UPDATE']);
  });

  describe('when a condition ends with an error', () => {
    const rest = { matchConditions: [{ name: 'fails', expression: 'object.data.none == "x"' }] };

    it.each([
      ['Fail', 403],
      ['Ignore', 201],
    ])('failurePolicy %s: %i', async (failurePolicy, code) => {
      const ns = await backend.namespace();
      const { path, config } = webhook.client(() => ({ allowed: true }));
      await using _ = await register(backend, ns, [
        { kind: 'validating', config, rest: { ...rest, failurePolicy } },
      ]);
      const { status } = await backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' }));
      expect(status).toBe(code);
      expect(webhook.asked(path)).toEqual([]);
    });
  });

  const kinds = ['mutating', 'validating'] as const;

  describe('when a webhook gives no verdict', () => {
    const nobody = { url: 'https://127.0.0.1:1/nobody' };

    it.each(kinds)('%s: a failure refuses, and names the webhook', async (kind) => {
      const ns = await backend.namespace();
      await using _ = await register(backend, ns, [{ kind, config: nobody }]);
      const { status, body } = await backend.api.create(at('configmaps', ns), configMap('a'));
      expect(status).toBe(500);
      expect(body.reason).toBe('InternalError');
      expect(body.message).toMatch(
        /^Internal error occurred: failed calling webhook "hook-0\.ct-hooks-\w+\.test\.dev": /,
      );
    });

    it.each(kinds)('%s: or is ignored', async (kind) => {
      const ns = await backend.namespace();
      await using _ = await register(backend, ns, [
        { kind, config: nobody, rest: { failurePolicy: 'Ignore' } },
      ]);
      const { status } = await backend.api.create(at('configmaps', ns), configMap('a'));
      expect(status).toBe(201);
    });

    it('the API server waits no longer than the timeout of the webhook', async () => {
      const ns = await backend.namespace();
      const { config } = webhook.client(() => undefined);
      await using _ = await register(backend, ns, [
        { kind: 'validating', config, rest: { timeoutSeconds: 1 } },
      ]);
      const { status, body } = await backend.api.create(at('configmaps', ns), configMap('a'));
      expect(status).toBe(500);
      expect(body.message).toMatch(/timeout|deadline/i);
    });

    it('the API server does not trust a certificate of another authority', async () => {
      const ns = await backend.namespace();
      const other = await issueCertificates({
        namespace: 'reeve-system',
        now: new Date(),
        caLifetimeDays: 1,
        leafLifetimeDays: 1,
      });
      const { path, config } = webhook.client(() => ({ allowed: true }));
      const untrusted = { ...config, caBundle: Buffer.from(other.ca.certPem).toString('base64') };
      await using _ = await register(backend, ns, [{ kind: 'validating', config: untrusted }]);
      const { status, body } = await backend.api.create(at('configmaps', ns), configMap('a'));
      expect(status).toBe(500);
      expect(body.message).toMatch(/certificate/);
      expect(webhook.asked(path)).toEqual([]);
    });
  });

  it('webhook matching calls no webhook for webhook configurations', async () => {
    const { path, config } = webhook.client(() => ({ allowed: false }));
    const rules = [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        apiVersions: ['*'],
        resources: ['*'],
        operations: ['*'],
      },
    ];
    const rest = { rules, namespaceSelector: {} };
    await using _ = await register(backend, 'default', [{ kind: 'validating', config, rest }]);
    const name = freshName('hooks');
    for (const plural of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const) {
      await backend.api.must(backend.api.create(at(plural, ''), { metadata: { name } }));
      await backend.api.must(backend.api.delete(at(plural, '', name)));
    }
    expect(webhook.asked(path)).toEqual([]);
  });

  describe('configurations', () => {
    const whole = {
      name: 'a.b.test.dev',
      clientConfig: { url: 'https://127.0.0.1:1/x' },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      rules: [rule],
    };

    it('webhook configurations get their defaults', async () => {
      const name = freshName('hooks');
      const { body } = await backend.api.create(`${at('mutatingwebhookconfigurations', '')}?dryRun=All`, {
        metadata: { name },
        webhooks: [whole],
      });
      expect(body['webhooks']).toMatchObject([
        {
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          reinvocationPolicy: 'Never',
          timeoutSeconds: 10,
          rules: [{ scope: '*' }],
        },
      ]);
      expect(body.metadata.generation).toBe(1);
    });

    it.each([
      ['a plain url', { clientConfig: { url: 'http://127.0.0.1:1/x' } }, 'webhooks[0].clientConfig.url'],
      ['no address at all', { clientConfig: {} }, 'webhooks[0].clientConfig'],
      ['side effects', { sideEffects: 'Some' }, 'webhooks[0].sideEffects'],
      ['a timeout that is too long', { timeoutSeconds: 31 }, 'webhooks[0].timeoutSeconds'],
      ['a policy that is none', { failurePolicy: 'Hope' }, 'webhooks[0].failurePolicy'],
      [
        'a condition that does not compile',
        { matchConditions: [{ name: 'a', expression: 'a +' }] },
        'webhooks[0].matchConditions[0].expression',
      ],
    ])('webhook configurations with %s are refused', async (_, change, field) => {
      const { status, body } = await backend.api.create(
        `${at('validatingwebhookconfigurations', '')}?dryRun=All`,
        { metadata: { name: freshName('hooks') }, webhooks: [{ ...whole, ...change }] },
      );
      expect(status).toBe(422);
      expect(causeFields(body)).toContain(field);
    });
  });
});
