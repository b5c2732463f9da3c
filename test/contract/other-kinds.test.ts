// Tests the kinds that Reeve provides in namespaces, and related ones: their defaults and refusals.
import { beforeAll, describe, expect, it } from 'vitest';
import { causeFields } from './support/answers.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { at, configMap, type Plural } from './support/objects.ts';

interface Case {
  readonly plural: Plural;
  readonly what: string;
  readonly object: object;
  /** Fields that the server adds to the written ones. */
  readonly stored?: object;
  readonly fields?: readonly string[];
  /** Numbers and times, which the sandbox stores as written. */
  readonly isAmount?: boolean;
}

const limit = (rest: object): object => ({ spec: { limits: [{ type: 'Container', ...rest }] } });

// Without labels in its template, a Job gets some with its first update.
const job = (podSpec: object): object => ({
  spec: {
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'one', image: 'one' }], ...podSpec },
    },
  },
});

const good: readonly Case[] = [
  {
    plural: 'resourcequotas',
    what: 'amounts',
    object: { spec: { hard: { pods: '3', 'requests.cpu': '1' } } },
  },
  {
    plural: 'resourcequotas',
    what: 'scopes',
    object: { spec: { hard: { pods: '3' }, scopes: ['BestEffort'] } },
  },
  {
    plural: 'limitranges',
    what: 'defaults',
    object: limit({ default: { cpu: '1' } }),
  },
  {
    plural: 'networkpolicies',
    what: 'everything closed',
    object: { spec: { podSelector: {} } },
    stored: { spec: { podSelector: {}, policyTypes: ['Ingress'] } },
  },
  {
    plural: 'networkpolicies',
    what: 'ways out',
    object: { spec: { podSelector: {}, egress: [{}] } },
    stored: { spec: { policyTypes: ['Ingress', 'Egress'] } },
  },
  {
    plural: 'networkpolicies',
    what: 'ports',
    object: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    stored: { spec: { ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }] } },
  },
  {
    plural: 'leases',
    what: 'a holder and times',
    object: {
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000001Z',
        renewTime: '2026-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      },
    },
  },
  {
    plural: 'serviceaccounts',
    what: 'secrets to pull with',
    object: { imagePullSecrets: [{ name: 'a' }], automountServiceAccountToken: false },
  },
  {
    plural: 'jobs',
    what: 'a container',
    object: job({ restartPolicy: 'Never' }),
    stored: {
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        completionMode: 'NonIndexed',
        suspend: false,
        template: { spec: { restartPolicy: 'Never' } },
      },
    },
  },
  { plural: 'configmaps', what: 'binary data', object: { binaryData: { a: 'AAE=' } } },
];

const bad: readonly Case[] = [
  {
    plural: 'configmaps',
    what: 'a key twice',
    object: { data: { a: '' }, binaryData: { a: '' } },
    fields: ['data[a]'],
  },
  {
    plural: 'configmaps',
    what: 'a key that is none',
    object: { data: { 'a/b': '' } },
    fields: ['data[a/b]'],
  },
  {
    plural: 'resourcequotas',
    what: 'a negative amount',
    object: { spec: { hard: { pods: '-1' } } },
    fields: ['spec.hard[pods]'],
    isAmount: true,
  },
  {
    plural: 'limitranges',
    what: 'a least that is more than the most',
    object: limit({ min: { cpu: '2' }, max: { cpu: '1' } }),
    fields: ['spec.limits[0].defaultRequest[cpu]', 'spec.limits[0].default[cpu]', 'spec.limits[0].min[cpu]'],
    isAmount: true,
  },
  {
    plural: 'networkpolicies',
    what: 'a port that is none',
    object: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 99_999 }] }] } },
    fields: ['spec.ingress[0].ports[0].port'],
    isAmount: true,
  },
  {
    plural: 'networkpolicies',
    what: 'a type that is none',
    object: { spec: { podSelector: {}, policyTypes: ['Sideways'] } },
    fields: ['spec.policyTypes[0]'],
  },
  {
    plural: 'jobs',
    what: 'no container',
    object: { spec: { template: { spec: {} } } },
    fields: ['spec.template.spec.containers', 'spec.template.spec.restartPolicy'],
  },
  {
    plural: 'jobs',
    what: 'Pods that run for ever',
    object: job({ restartPolicy: 'Always' }),
    fields: ['spec.template.spec.restartPolicy'],
  },
  {
    plural: 'leases',
    what: 'a duration of nothing',
    object: { spec: { leaseDurationSeconds: 0 } },
    fields: ['spec.leaseDurationSeconds'],
  },
];

onEachBackend('other kinds', (backend) => {
  let ns = '';
  beforeAll(async () => {
    ns = await backend.namespace();
  });

  it.each(good)('$plural with $what', async ({ plural, object, stored = object }) => {
    const name = freshName('other');
    const { status, body } = await backend.api.create(at(plural, ns), { metadata: { name }, ...object });
    expect(status, body.message).toBe(201);
    expect(body).toMatchObject(stored);
    // The answer of the server can be written again and changes nothing.
    const again = await backend.api.must(backend.api.replace(at(plural, ns, name), body));
    expect(again.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    expect((await backend.api.delete(at(plural, ns, name))).status).toBe(200);
  });

  it.each(bad)(
    '$plural with $what are refused',
    async ({ plural, object, fields = [], isAmount = false }) => {
      const { status, body } = await backend.api.create(at(plural, ns), {
        metadata: { name: freshName('other') },
        ...object,
      });
      expect(status).toBe(isAmount ? backend.expects(differences.uncheckedAmount) : 422);
      if (status === 422) expect(causeFields(body)).toEqual(fields);
    },
  );

  it('the template of a Job cannot be changed', async () => {
    const path = at('jobs', ns);
    const metadata = { name: freshName('other') };
    const created = await backend.api.must(
      backend.api.create(path, { metadata, ...job({ restartPolicy: 'Never' }) }),
    );
    const spec = { template: { spec: { restartPolicy: 'OnFailure' } } };
    const { status, body } = await backend.api.patch(`${path}/${created.metadata.name}`, 'merge', { spec });
    expect(status).toBe(422);
    expect(causeFields(body)).toEqual(['spec.template']);
  });

  it.each([
    ['networkpolicies', { spec: { podSelector: [] } }],
    ['secrets', { data: 'none' }],
    ['configmaps', { data: { a: 1 } }],
    ['roles', { rules: [{ verbs: 'get' }] }],
  ] as const)('%s with fields of other types are refused', async (plural, object) => {
    const { status, body } = await backend.api.create(at(plural, ns), {
      metadata: { name: freshName('other') },
      ...object,
    });
    expect(status, body.message).toBe(backend.expects(differences.wrongType));
  });

  it.each([
    ['resourcequotas', { spec: { hard: { pods: 'many' } } }],
    ['leases', { spec: { renewTime: 'now' } }],
  ] as const)('%s with an invalid amount are refused', async (plural, object) => {
    const { status } = await backend.api.create(at(plural, ns), {
      metadata: { name: freshName('other') },
      ...object,
    });
    expect(status).toBe(backend.expects(differences.uncheckedText));
  });

  describe('events', () => {
    const core = (name: string): object => ({
      metadata: { name },
      involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: ns },
      reason: 'Tested',
      message: 'it was tested',
      type: 'Normal',
      source: { component: 'contract' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    });
    const newer = (name: string): object => ({
      metadata: { name },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'test.dev/contract',
      reportingInstance: 'one',
      action: 'Testing',
      reason: 'Tested',
      note: 'it was tested',
      type: 'Warning',
      regarding: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: ns },
    });
    const place = (which: 'core' | 'newer'): string =>
      `${which === 'core' ? '/api/v1' : '/apis/events.k8s.io/v1'}/namespaces/${ns}/events`;

    it('events are the same in both groups', async () => {
      const [first, second] = [freshName('event'), freshName('event')];
      await backend.api.must(backend.api.create(place('core'), core(first)));
      await backend.api.must(backend.api.create(place('newer'), newer(second)));
      expect((await backend.api.get(`${place('newer')}/${first}`)).body).toMatchObject({
        apiVersion: 'events.k8s.io/v1',
        note: 'it was tested',
        regarding: { kind: 'ConfigMap', name: 'a' },
        deprecatedCount: 1,
        deprecatedSource: { component: 'contract' },
      });
      expect((await backend.api.get(`${place('core')}/${second}`)).body).toMatchObject({
        apiVersion: 'v1',
        message: 'it was tested',
        involvedObject: { kind: 'ConfigMap', name: 'a' },
        reportingComponent: 'test.dev/contract',
      });
    });

    it('events are selected by the object they are about', async () => {
      const name = freshName('event');
      const about = freshName('about');
      const object = { ...core(name), involvedObject: { kind: 'ConfigMap', name: about, namespace: ns } };
      await backend.api.must(backend.api.create(place('core'), object));
      const selector = encodeURIComponent(`involvedObject.name=${about},involvedObject.kind=ConfigMap`);
      const { body } = await backend.api.get(`${place('core')}?fieldSelector=${selector}`);
      expect(body.items.map(({ metadata }) => metadata.name)).toEqual([name]);
    });

    it('events are shown with the object they are about', async () => {
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('eventful')));
      const name = freshName('event');
      const { metadata } = (await backend.api.get(at('configmaps', ns, 'eventful'))).body;
      const involvedObject = { kind: 'ConfigMap', name: 'eventful', namespace: ns, uid: metadata.uid };
      await backend.api.must(backend.api.create(place('core'), { ...core(name), involvedObject }));
      const said = await backend.mustKubectl(['describe', 'configmap', 'eventful', '-n', ns]);
      expect(said).toMatch(/Normal\s+Tested\s+\S+.*\s+contract\s+it was tested/);
      const table = await backend.mustKubectl(['get', 'events', '-n', ns, '--no-headers']);
      expect(table).toMatch(/Normal\s+Tested\s+configmap\/eventful\s+it was tested/);
    });
  });
});
