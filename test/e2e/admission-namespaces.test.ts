// The rules on Namespaces with kubectl, by users with rights in RBAC: one case for each path to the webhook.
// All rules and texts are in test/fixtures/admission.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { allowed, dryRun, must, refused, type Command } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import {
  annotateNamespace as annotate,
  applyNamespace,
  createNamespace as create,
  deleteNamespace as remove,
  labelNamespace as label,
  sneakNamespace as sneak,
  waysToRelabel,
} from './support/namespace-commands.ts';
import { policy, type WrittenObject } from './support/objects.ts';
import { emergency, grant, namespaceRules, person } from './support/people.ts';
import { applyPolicies } from './support/policies.ts';

const prefix = 'ad-ns-';
const required = { labels: { team: { pattern: '^[a-z]+$' } } };

/** Returns a policy for the namespaces `ad-ns-<topic>-*`. */
function about(topic: string, spec: object): WrittenObject {
  return policy(`ad-ns-${topic}`, { match: { names: [`ad-ns-${topic}-*`] }, ...spec });
}

const policies = [
  about('all', {
    namespaces: { name: { pattern: '[0-9]$' }, required },
    validations: [{ name: 'never', expression: 'false', message: 'not today' }],
  }),
  about('kept', { namespaces: { immutable: { labels: ['team'] } } }),
  about('default', {
    namespaces: {
      defaults: { labels: { tier: 'gold' }, annotations: { 'created-by': '${request.userInfo.username}' } },
    },
  }),
  about('asked', {
    namespaces: { requesters: { groups: ['ad-ns-platform'] } },
  }),
  about('counted', { namespaces: { quota: { label: 'team', max: 2 } } }),
  about('locked', { namespaces: { deletion: { protect: true } } }),
  about('owned', {
    contact: 'x@example.com',
    namespaces: { deletion: { protect: true, releasedBy: 'use' } },
  }),
  about('both', {
    validationActions: ['Warn', 'Audit'],
    namespaces: { required, defaults: { labels: { tier: 'tin' } } },
  }),
  about('excepted', {
    namespaces: { name: { pattern: '-(old|late|new)$' }, required },
    exceptions: [
      { namespaces: ['ad-ns-excepted-o*'], rules: ['namespaces.required'], reason: 'it was there before' },
      {
        namespaces: ['ad-ns-excepted-late'],
        rules: ['namespaces.required'],
        expiresAt: '2026-01-01T00:00:00Z',
      },
    ],
  }),
  policy('ad-ns-system', {
    match: { names: ['kube-*', 'reeve-*', 'ad-ns-excluded*'] },
    namespaces: { required: { labels: { never: {} } } },
  }),
];

describeCluster('the rules on Namespaces', () => {
  const cluster = sharedCluster();
  /** Has every right on Namespaces in RBAC. */
  const lead = person(cluster, 'ad-ns-lead');
  const audit = cluster.auditLog();
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook', args: ['--exclude-namespace=ad-ns-excluded'] });
    const users = ['ad-ns-lead', 'ad-ns-mallory'];
    await grant(cluster, { name: 'ad-ns-managers', rules: namespaceRules, users });
    await applyPolicies(prefix, policies, cluster);
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    await reeve.stop();
  });

  async function metadataOf(name: string): Promise<WrittenObject['metadata']> {
    const { metadata } = JSON.parse(
      await mustKubectl(['get', 'namespace', name, '-o=json'], cluster),
    ) as WrittenObject;
    return metadata;
  }

  it('all violations of a new Namespace are reported at once', async () => {
    expect(await refused(create('ad-ns-all-wrong'), lead)).toBe(
      [
        'Namespace ad-ns-all-wrong is refused for 3 reasons:',
        '- policy ad-ns-all, namespaces.name: metadata.name: found "ad-ns-all-wrong"; accepted: a name that matches [0-9]$',
        '- policy ad-ns-all, namespaces.required: metadata.labels["team"]: found nothing; accepted: a value that matches ^[a-z]+$',
        '- policy ad-ns-all, validations/never: not today',
      ].join('\n'),
    );
  });

  describe('the rules hold for every way of changing a Namespace', () => {
    beforeAll(() => must(applyNamespace('ad-ns-kept-a', { labels: { team: 'a' } }), lead));

    it.each(waysToRelabel)('$way', async ({ way, relabel }) => {
      expect(await refused(relabel('ad-ns-kept-a', { team: 'b' }), lead)).toBe(
        'Namespace ad-ns-kept-a is refused: policy ad-ns-kept, namespaces.immutable: ' +
          'metadata.labels["team"]: found "b"; accepted: "a", which it was set to',
      );
      await allowed(relabel('ad-ns-kept-a', { team: 'a', note: way }), lead);
      expect((await metadataOf('ad-ns-kept-a')).labels).toMatchObject({ team: 'a', note: way });
    });
  });

  describe('defaults', () => {
    const says = 'policy ad-ns-default, namespaces.defaults: metadata.';

    it('defaults are set where a key is missing', async () => {
      await allowed(create('ad-ns-default-a'), lead);
      await allowed(create('ad-ns-default-b', { labels: { tier: 'silver' } }), lead);
      expect(await metadataOf('ad-ns-default-a')).toMatchObject({
        labels: { tier: 'gold' },
        annotations: { 'created-by': 'ad-ns-lead' },
      });
      expect((await metadataOf('ad-ns-default-b')).labels).toMatchObject({ tier: 'silver' });
    });

    it('a default comes back with a warning when it is removed, and its value may be changed', async () => {
      expect(await allowed(label('ad-ns-default-b', 'tier-'), lead)).toBe(
        'Warning: policy ad-ns-default keeps label tier=silver, because it is one of its defaults\n',
      );
      expect((await metadataOf('ad-ns-default-b')).labels).toMatchObject({ tier: 'silver' });
      await allowed(label('ad-ns-default-b', 'tier=gold'), lead);
    });

    // Each run creates another name, so no two runs print the same message.
    const eachRun = (command: Command): readonly Command[] => [
      {
        args: [...command.args, '--dry-run=server'],
        ...(command.input === undefined ? {} : { input: command.input }),
        isReal: true,
      },
      { ...command, isReal: true },
    ];

    it('defaults are demanded of a Namespace that skipped the mutating webhook', async () => {
      const annotations = { 'created-by': 'somebody' };
      for (const run of eachRun(sneak('ad-ns-default-'))) {
        expect(await refused(run, lead)).toContain(`${says}labels["tier"]: found nothing; accepted: "gold"`);
      }
      for (const run of eachRun(sneak('ad-ns-default-', { labels: { tier: 'x' }, annotations }))) {
        expect(await refused(run, lead)).toContain(`${says}annotations["created-by"]: found "somebody"`);
      }
    });

    it('the creator must then give the defaults', async () => {
      const wanted = { labels: { tier: 'x' }, annotations: { 'created-by': 'ad-ns-lead' } };
      const { args, input = '' } = sneak('ad-ns-default-', wanted);
      const labels = await mustKubectl([...args, '-o=jsonpath={.metadata.labels}'], { ...lead, input });
      expect(labels).toMatch(/"kubernetes.io\/metadata.name":"ad-ns-default-\w+"/);
    });
  });

  it('a requester by its group may create Namespaces, and an administrator who is no requester may not', async () => {
    const member = person(cluster, 'ad-ns-mallory', 'ad-ns-platform', 'system:authenticated');
    expect(await allowed(create('ad-ns-asked-group'), member)).toBe('');
    const root = person(cluster, 'ad-ns-root', 'system:masters');
    expect(await refused(create('ad-ns-asked-other'), root)).toContain(
      'found user "ad-ns-root"; accepted: group',
    );
  });

  it('a team cannot have more Namespaces than its quota, by creating or by relabeling', async () => {
    const full = 'team shop already has 2 of 2 namespaces';
    const third = create('ad-ns-counted-c', { labels: { team: 'shop' } });
    await allowed(create('ad-ns-counted-a', { labels: { team: 'shop' } }), lead);
    await allowed(create('ad-ns-counted-b', { labels: { team: 'shop' } }), lead);
    await eventually(async () => (await dryRun(third, lead)).stderr).toContain(full);
    expect(await refused(third, lead)).toBe(
      `Namespace ad-ns-counted-c is refused: policy ad-ns-counted, namespaces.quota: ${full}`,
    );
    await allowed(create('ad-ns-counted-d', { labels: { team: 'mail' } }), lead);
    expect(await refused(label('ad-ns-counted-d', 'team=shop'), lead)).toContain(full);
    await allowed(label('ad-ns-counted-a', 'team=mail'), lead);
    await eventually(async () => (await dryRun(third, lead)).code).toBe(0);
    await allowed(third, lead);
  });

  describe('deletion protection', () => {
    beforeAll(async () => {
      for (const name of ['a', 'b', 'c']) await must(create(`ad-ns-locked-${name}`), lead);
    });

    it('deletion protection ends with the command that the refusal names', async () => {
      await must(annotate('ad-ns-locked-a', 'reeve.dev/allow-deletion=yes'), lead);
      const said = await refused(remove('ad-ns-locked-a'), lead);
      expect(said).toContain('found "yes"; accepted: deletion after kubectl annotate');
      const [, line = ''] = /after kubectl (annotate .*)$/.exec(said) ?? [];
      await mustKubectl(line.split(' '), lead);
      await allowed(remove('ad-ns-locked-a'), lead);
    });

    it('deletion protection refuses an ownerReference, which would delete the Namespace later', async () => {
      const role = ['clusterrole', 'ad-ns-managers'];
      const uid = await mustKubectl(['get', ...role, '-o=jsonpath={.metadata.uid}'], cluster);
      const apiVersion = 'rbac.authorization.k8s.io/v1';
      const owner = { apiVersion, kind: 'ClusterRole', name: 'ad-ns-managers', uid };
      const patch = JSON.stringify({ metadata: { ownerReferences: [owner] } });
      const own = { args: ['patch', 'namespace', 'ad-ns-locked-b', '--type=merge', '-p', patch] };
      expect(await refused(own, lead)).toContain(
        'metadata.ownerReferences[0]: found owner ClusterRole ad-ns-managers; accepted: no new owner, ' +
          'because deleting the owner deletes the namespace, or one after kubectl annotate namespace',
      );
      await must(annotate('ad-ns-locked-b', 'reeve.dev/allow-deletion=ad-ns-locked-b'), lead);
      await allowed(own, lead);
    });

    it('deletion protection lets the DELETE of a terminating Namespace pass', async () => {
      const held = { name: 'held', namespace: 'ad-ns-locked-c', finalizers: ['example.com/held'] };
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: held });
      await must({ args: ['create', '-f', '-'], input }, cluster);
      expect(await refused(remove('ad-ns-locked-c'), lead)).toContain('namespaces.deletion');
      await must(remove('ad-ns-locked-c'), emergency(cluster));
      expect(await allowed(remove('ad-ns-locked-c'), lead)).toBe('');
      const release = '-p={"metadata":{"finalizers":null}}';
      await mustKubectl(
        ['patch', 'configmap', 'held', '-n', 'ad-ns-locked-c', '--type=merge', release],
        cluster,
      );
    });
  });

  it('a Namespace with releasedBy use is deleted only by a user with the right, whatever its annotations', async () => {
    const name = 'ad-ns-owned-a';
    await must(create(name), lead);
    await must(annotate(name, `reeve.dev/allow-deletion=${name}`), lead);
    expect(await refused(remove(name), lead)).toBe(
      `Namespace ${name} is refused: policy ad-ns-owned, namespaces.deletion: user "ad-ns-lead" may not delete ` +
        `namespace ${name} (verb "use" on namespacepolicies/ad-ns-owned)\nContact: x@example.com`,
    );
    const use = {
      apiGroups: ['reeve.dev'],
      resources: ['namespacepolicies'],
      resourceNames: ['ad-ns-owned'],
    };
    const rules = [{ ...use, verbs: ['use'] }];
    await grant(cluster, { name: 'ad-ns-users', rules, users: ['ad-ns-lead'] });
    await eventually(async () => (await dryRun(remove(name), lead)).code).toBe(0);
    await allowed(remove(name), lead);
  });

  describe('validationActions', () => {
    it('Warn and Audit give the user a warning and put the violation into the audit log', async () => {
      const violation =
        'policy ad-ns-both, namespaces.required: metadata.labels["team"]: found nothing; accepted: a value that matches ^[a-z]+$';
      expect(await allowed(create('ad-ns-both-a'), lead)).toBe(`Warning: ${violation}\n`);
      const records = (await audit.records()).filter(({ name }) => name === 'ad-ns-both-a');
      const audited = records.map((record) => record.annotations['namespaces.validate.reeve.dev/violations']);
      expect(audited).toEqual([violation, violation]);
    });

    it('without Deny, defaults are set and not demanded', async () => {
      expect((await metadataOf('ad-ns-both-a')).labels).toMatchObject({ tier: 'tin' });
      await must(sneak('ad-ns-both-', { labels: { team: 'shop' } }), lead);
    });
  });

  describe('exceptions', { concurrent: true }, () => {
    it('an exception covers the rules it names, and no others', async () => {
      await allowed(create('ad-ns-excepted-old'), lead);
      expect(await refused(create('ad-ns-excepted-odd'), lead)).toMatch(/ is refused: .*namespaces\.name:/);
    });

    it.each(['new', 'late'])('an exception is not for others, nor for ever: %s', async (name) => {
      const said = await refused(create(`ad-ns-excepted-${name}`), lead);
      expect(said).toMatch(/ is refused: .*namespaces\.required:/);
    });
  });

  it('rules never apply to the namespaces of Kubernetes, of Reeve, and those that the install excludes', async () => {
    const system = ['kube-system', 'kube-public', 'kube-node-lease', 'reeve-system', 'reeve-shared'];
    await mustKubectl(['label', 'namespace', ...system, 'ad-ns=x', '--dry-run=server'], lead);
    await allowed(create('ad-ns-excluded'), lead);
    expect(await refused(create('ad-ns-excluded-not'), lead)).toContain('policy ad-ns-system,');
  });
});
