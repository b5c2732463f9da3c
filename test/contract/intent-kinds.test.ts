// Tests the kinds of intents: what the API server keeps, what it refuses, and what it leaves to Reeve.
import { beforeAll, describe, expect, it } from 'vitest';
import { bindingStatus } from '../../src/api/intents/intent-binding.ts';
import {
  acceptedBindings,
  acceptedIntents,
  refusedBindings,
  refusedIntents,
} from '../unit/api/intents/intent-cases.ts';
import { workloadSelector } from '../../src/api/intents/workloads.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { at, intent, intentBinding } from './support/objects.ts';

const intents = at('securityintents', '');
const clusterBindings = at('clustersecurityintentbindings', '');
const inNamespace = at('securityintentbindings', 'default');

/** The ranges in the params of the intents. */
function rangesOf(cases: readonly (readonly [string, unknown, ...unknown[]])[]): readonly string[] {
  return cases.flatMap(
    ([, spec]) => (spec as { params?: { ranges?: string[] } | null }).params?.ranges ?? [],
  );
}

onEachBackend('the kinds of intents', (backend) => {
  beforeAll(() => backend.installKinds());

  const dryRun = async (path: string, object: object): Promise<number> =>
    (await backend.api.create(`${path}?dryRun=All`, object)).status;

  describe('params', () => {
    it('known and unknown params are kept as they are, without a warning', async () => {
      const name = freshName('intent');
      const params = {
        psaLevel: 'restricted',
        psaLvl: [{ deep: [1, 'a', { b: null }] }],
        schedule: '@daily',
      };
      const { status, body, warnings } = await backend.api.create(
        `${intents}?fieldValidation=Strict`,
        intent(name, { id: 'noSuchId', params }),
      );
      expect({ status, warnings }).toEqual({ status: 201, warnings: [] });
      expect(body['spec']).toEqual({ id: 'noSuchId', action: 'Block', severity: 'Low', params });
      const stored = await backend.api.must(backend.api.get(`${intents}/${name}`));
      expect(stored['spec']).toEqual(body['spec']);
      const change = { spec: { params: { psaLvl: 'x' } } };
      const patched = await backend.api.must(backend.api.patch(`${intents}/${name}`, 'merge', change));
      expect(patched['spec']).toMatchObject({ params: { ...params, psaLvl: 'x' } });
      await backend.api.delete(`${intents}/${name}`);
    });

    it('fields beside params are dropped', async () => {
      const object = intent(freshName('intent'), { id: 'escapeToHost', param: { psaLevel: 'baseline' } });
      const { body, warnings } = await backend.api.create(`${intents}?dryRun=All`, object);
      expect(warnings[0]).toMatch(/^unknown field "spec\.param"/);
      expect(body['spec']).not.toHaveProperty('param');
    });
  });

  describe('intents', () => {
    it.each(acceptedIntents)('the API server accepts %s', async (_title, spec) => {
      expect(await dryRun(intents, intent(freshName('intent'), spec as object))).toBe(201);
    });

    it.each(refusedIntents)('the API server refuses %s if it can', async (_title, spec, problem, by) => {
      const isRange = problem.includes('further bits');
      const left = isRange ? backend.expects(differences.exactRange) : 201;
      const status = await dryRun(intents, intent(freshName('intent'), spec as object));
      expect(status).toBe(by === 'API server' ? 422 : left);
    });

    it('a name has at most 63 characters', async () => {
      expect(await dryRun(intents, intent('n'.repeat(63)))).toBe(201);
      expect(await dryRun(intents, intent('n'.repeat(64)))).toBe(422);
    });

    it('an intent has no status', async () => {
      expect((await backend.api.get(`${intents}/any/status`)).status).toBe(404);
    });
  });

  describe('in a NetworkPolicy', () => {
    const policy = (spec: object): object => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: freshName('policy') },
      spec: { policyTypes: ['Ingress'], ...spec },
    });
    const networkPolicies = at('networkpolicies', 'default');
    const created = async (spec: object): Promise<number> => await dryRun(networkPolicies, policy(spec));
    const to = (cidr: string): object => ({ podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr } }] }] });

    it.each(rangesOf(acceptedIntents))('the API server accepts the range %s', async (range) => {
      expect(await created(to(range))).toBe(201);
    });

    it.each(rangesOf(refusedIntents.filter(([, , problem]) => problem.includes('further bits'))))(
      'the API server refuses the range %s',
      async (range) => {
        expect(await created(to(range))).toBe(backend.expects(differences.uncheckedAmount));
      },
    );

    it('the API server accepts the selector of workloads', async () => {
      const cel = [
        'labels.a == "" && labels["b.c/d"] != "x"',
        'has(labels.e) && !("f" in labels)',
        'labels.g in ["1", "2"]',
      ];
      const outcome = workloadSelector({ matchLabels: { h: 'y' }, cel });
      expect(outcome.ok && (await created({ podSelector: outcome.selector }))).toBe(201);
    });
  });

  describe.each([
    ['ClusterSecurityIntentBinding', clusterBindings],
    ['SecurityIntentBinding', inNamespace],
  ] as const)('%s', (kind, path) => {
    it.each(acceptedBindings)('the API server accepts %s', async (_title, spec) => {
      expect(await dryRun(path, intentBinding(kind, freshName('binding'), spec as object))).toBe(201);
    });

    it.each(refusedBindings)('the API server refuses %s if it can', async (_title, spec, _problem, by) => {
      const object = intentBinding(kind, freshName('binding'), spec as object);
      expect(await dryRun(path, object)).toBe(by === 'API server' ? 422 : 201);
    });

    it('the status keeps every field, and is bounded', async () => {
      const name = freshName('binding');
      await backend.api.must(backend.api.create(path, intentBinding(kind, name)));
      const status = {
        observedGeneration: 1,
        intents: 1,
        boundIntents: ['a'],
        rendered: [{ adapter: 'network', intent: 'a', kind: 'NetworkPolicy', name: 'a' }],
        unsupported: [{ intent: 'b', id: 'x', adapters: ['kyverno'], message: 'no' }],
        matched: 2,
        matchedNamespaces: ['default'],
        desired: 2,
        synced: 1,
        conflicts: 0,
        failed: 1,
        skipped: 0,
        violations: 1,
        violationsByResource: { namespaces: 1 },
        topViolations: [{ namespace: 'default', rule: 'namespaces.required' }],
        failures: [{ namespace: 'default', reason: 'Rejected' }],
        skippedContents: [],
        confirmationUsed: '5',
        held: { count: 2, since: '2027-01-31T00:00:00Z' },
        deletions: { recent: [{ at: '2027-01-31T00:00:00Z', count: 3 }], underway: ['u'] },
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            lastTransitionTime: '2027-01-31T00:00:00Z',
            reason: 'A',
            message: '',
          },
        ],
      };
      expect(Object.keys(status).toSorted()).toEqual(Object.keys(bindingStatus.fields).toSorted());
      const written = await backend.api.must(
        backend.api.patch(`${path}/${name}/status`, 'merge', { status }),
      );
      expect(written.status).toEqual(status);
      const many = Array.from({ length: 101 }, (_, index) => ({ ...status.rendered[0], name: `n${index}` }));
      const tooMany = { status: { rendered: many } };
      expect((await backend.api.patch(`${path}/${name}/status`, 'merge', tooMany)).status).toBe(422);
      await backend.api.delete(`${path}/${name}`);
    });
  });

  it('kubectl prints the columns of intents and bindings', async () => {
    const [name, bound] = [freshName('intent'), freshName('binding')];
    await backend.api.must(backend.api.create(intents, intent(name)));
    await backend.api.must(
      backend.api.create(clusterBindings, intentBinding('ClusterSecurityIntentBinding', bound)),
    );
    const status = {
      intents: 1,
      matched: 3,
      desired: 6,
      synced: 5,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          lastTransitionTime: '2027-01-31T00:00:00Z',
          reason: 'A',
          message: '',
        },
      ],
    };
    await backend.api.must(backend.api.patch(`${clusterBindings}/${bound}/status`, 'merge', { status }));
    const words = async (...args: readonly string[]): Promise<readonly (readonly string[])[]> =>
      (await backend.mustKubectl(['get', ...args]))
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/));
    expect(await words('sint', name)).toEqual([
      ['NAME', 'ID', 'ACTION', 'SEVERITY', 'AGE'],
      [name, 'escapeToHost', 'Block', 'Low', expect.any(String)],
    ]);
    expect(await words('csib', bound)).toEqual([
      ['NAME', 'INTENTS', 'MATCHED', 'DESIRED', 'SYNCED', 'READY', 'AGE'],
      [bound, '1', '3', '6', '5', 'False', expect.any(String)],
    ]);
    await backend.api.delete(`${intents}/${name}`);
    await backend.api.delete(`${clusterBindings}/${bound}`);
  });
});
