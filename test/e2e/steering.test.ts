// Steering: which users may bring a Namespace under a policy or share, and what the Namespace gets from it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { allowed, dryRun, must, refused } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import {
  annotateNamespace as annotate,
  applyNamespace,
  createNamespace as create,
  deleteNamespace as remove,
  labelNamespace as label,
  waysToRelabel,
} from './support/namespace-commands.ts';
import { policy, roleBinding, share } from './support/objects.ts';
import { grant, namespaceRules, person } from './support/people.ts';
import { applyPolicies } from './support/policies.ts';
import { file } from './support/ways-to-write.ts';

const prefix = 'ad-st-';
const webhookUser = 'system:serviceaccount:reeve-system:reeve-webhook';
const byTeam =
  "${has(namespaceObject.metadata.labels.team) ? namespaceObject.metadata.labels.team : 'nobody'}";
const having = (key: string, value: string): object => ({
  namespaceSelector: { matchLabels: { [key]: value } },
});

const policies = [
  policy('ad-st-team', {
    match: having('ad-st-tier', 'team'),
    contents: { roleBindings: [roleBinding('team', `ad-st-${byTeam}`)] },
  }),
  policy('ad-st-named', {
    match: { names: ['ad-st-named-*'] },
    contents: { roleBindings: [roleBinding('named', 'ad-st-staff')] },
  }),
  // No Namespace can join this policy, because it names Namespaces that exist.
  policy('ad-st-every', {
    match: { names: ['*'] },
    contents: { roleBindings: [roleBinding('every', 'ad-st-staff')] },
  }),
  policy('ad-st-ruled', {
    match: having('ad-st-ruled', 'yes'),
    namespaces: { required: { labels: { 'ad-st-ruled': {} } } },
  }),
  policy('ad-st-asked', {
    match: having('ad-st-tier', 'asked'),
    namespaces: { requesters: { groups: ['ad-st-platform'] } },
  }),
  policy('ad-st-given', {
    match: { names: ['ad-st-given-*'] },
    namespaces: { defaults: { labels: { 'ad-st-pull': 'true' } } },
  }),
];
/** Has the name of a policy on purpose. */
const shared = share('ad-st-team', {
  source: { namespace: 'reeve-shared', name: 'ad-st-source' },
  targets: having('ad-st-pull', 'true'),
});

interface Steering {
  readonly cause?: string;
  readonly namespace: string;
  readonly provider?: string;
  readonly who?: string;
}

const rightTo = (provider: string): string => {
  const [kind, name = ''] = provider.split(' ');
  return `verb "use" on ${kind === 'SecretShare' ? 'secretshares' : 'namespacepolicies'}/${name}`;
};
const refusal = (
  effect: string,
  { cause = 'this write', provider = ofTeam, who = 'ad-st-lead' }: Omit<Steering, 'namespace'>,
) => `${cause} would ${effect}, and user "${who}" may not do that (${rightTo(provider)})`;
const joins = (s: Steering): string =>
  refusal(`bring namespace ${s.namespace} under ${s.provider ?? ofTeam}`, s);
const leaves = (s: Steering): string =>
  refusal(`remove namespace ${s.namespace} from ${s.provider ?? ofTeam}`, s);
const ofTeam = 'NamespacePolicy ad-st-team';
const ofShare = 'SecretShare ad-st-team';

describeCluster('steering', () => {
  const cluster = sharedCluster();
  /** Has every right on Namespaces in RBAC. */
  const lead = person(cluster, 'ad-st-lead');
  /** Has the same rights, and belongs to a group that may use the policies and shares. */
  const owner = person(cluster, 'ad-st-owner', 'ad-st-owners', 'system:authenticated');
  const audit = cluster.auditLog();
  let earlier = 0;
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    earlier = (await audit.records()).length;
    reeve = await startReeve(cluster, { role: 'webhook' });
    const users = ['lead', 'owner', 'eve', 'new', "o'neil"].map((name) => `ad-st-${name}`);
    await grant(cluster, { name: 'ad-st-managers', rules: namespaceRules, users });
    const use = {
      apiGroups: ['reeve.dev'],
      resources: ['namespacepolicies', 'secretshares'],
      verbs: ['use'],
    };
    const resourceNames = ['ad-st-team', 'ad-st-named', 'ad-st-ruled'];
    await grant(cluster, {
      name: 'ad-st-users',
      rules: [{ ...use, resourceNames }],
      groups: ['ad-st-owners'],
    });
    const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
    await grant(cluster, { name: 'ad-st-root', rules: [everything], users: ['ad-st-root'] });
    await must(file(['apply'], shared), cluster);
    await applyPolicies(prefix, policies, cluster);
    await must(applyNamespace('ad-st-plain'), cluster);
    await must(create('ad-st-in', { labels: { 'ad-st-tier': 'team', 'ad-st-ruled': 'yes' } }), cluster);
    await must(create('ad-st-gets', { labels: { 'ad-st-pull': 'true' } }), cluster);
    const probe = label('ad-st-plain', 'ad-st-pull=true');
    await until(
      async () => (await dryRun(probe, lead)).code === 1,
      () => 'the share in force',
    );
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    await reeve.stop();
  });

  describe('steering needs the right "use" when a Namespace joins a provider, leaves it, or gets other contents', () => {
    it.each([
      {
        what: 'created into a policy',
        command: create('ad-st-seeded', { labels: { 'ad-st-tier': 'team' } }),
        said: joins({ cause: 'label ad-st-tier=team', namespace: 'ad-st-seeded' }),
      },
      {
        what: 'created into a policy by its name',
        command: create('ad-st-named-a'),
        said: joins({
          cause: 'name ad-st-named-a',
          namespace: 'ad-st-named-a',
          provider: 'NamespacePolicy ad-st-named',
        }),
      },
      {
        what: 'created into a share',
        command: create('ad-st-sown', { labels: { 'ad-st-pull': 'true' } }),
        said: joins({ cause: 'label ad-st-pull=true', namespace: 'ad-st-sown', provider: ofShare }),
      },
      {
        what: 'labeled into a share',
        command: label('ad-st-plain', 'ad-st-pull=true'),
        said: joins({ cause: 'label ad-st-pull=true', namespace: 'ad-st-plain', provider: ofShare }),
        warned: `${ofShare} now provides Secret ad-st-source here`,
      },
      {
        what: 'labeled out of a share',
        command: label('ad-st-gets', 'ad-st-pull-'),
        said: leaves({ cause: 'removing label ad-st-pull', namespace: 'ad-st-gets', provider: ofShare }),
        warned: `${ofShare} no longer provides Secret ad-st-source here`,
      },
      {
        what: 'with other contents',
        command: label('ad-st-in', 'team=shop'),
        said: refusal(`change what namespace ad-st-in gets from ${ofTeam}`, {}),
        warned: `${ofTeam} changes RoleBinding team here`,
      },
      {
        what: 'labeled out of a policy',
        command: label('ad-st-in', 'ad-st-tier-'),
        said: leaves({ cause: 'removing label ad-st-tier', namespace: 'ad-st-in' }),
        warned: `${ofTeam} no longer provides RoleBinding team here`,
      },
      {
        what: 'labeled out of mere rules',
        command: label('ad-st-in', 'ad-st-ruled-'),
        said: leaves({
          cause: 'removing label ad-st-ruled',
          namespace: 'ad-st-in',
          provider: 'NamespacePolicy ad-st-ruled',
        }),
      },
    ])('$what', async ({ command, said, warned }) => {
      expect(await refused(command, lead)).toContain(said);
      // A dry run gives the same warning.
      expect(await allowed(command, owner)).toBe(warned === undefined ? '' : `Warning: ${warned}\n`);
    });

    it.each(waysToRelabel)('a write is steering by $way', async ({ relabel }) => {
      expect(await refused(relabel('ad-st-plain', { 'ad-st-tier': 'team' }), lead)).toContain(
        joins({ cause: 'label ad-st-tier=team', namespace: 'ad-st-plain' }),
      );
    });
  });

  describe('is not', () => {
    it('a write that changes nothing of that is not steering', async () => {
      await must(create('ad-st-free', { labels: { team: 'shop' } }), lead);
      expect(await allowed(label('ad-st-free', 'team=mail', 'ad-st-ruled=yes'), lead)).toBe('');
      await must(create('ad-st-kept', { labels: { 'ad-st-tier': 'team', team: 'shop' } }), owner);
      expect(await allowed(label('ad-st-kept', 'other=yes'), lead)).toBe('');
      expect(await allowed(annotate('ad-st-kept', 'team=mail'), lead)).toBe('');
    });

    it('a deletion is not steering', async () => {
      expect(await allowed(remove('ad-st-kept'), lead)).toBe('');
    });

    it('a label that a default sets is not steering', async () => {
      expect(await allowed(create('ad-st-given-a'), lead)).toBe('');
      expect(await allowed(create('ad-st-given-b', { labels: { 'ad-st-pull': 'true' } }), lead)).toBe('');
      const labels = ['get', 'namespace', 'ad-st-given-a', '-o=jsonpath={.metadata.labels.ad-st-pull}'];
      expect(await mustKubectl(labels, cluster)).toBe('true');
      expect(await refused(label('ad-st-given-a', 'ad-st-pull=no'), lead)).toContain(
        leaves({ cause: 'label ad-st-pull=no', namespace: 'ad-st-given-a', provider: ofShare }),
      );
    });
  });

  it('a requester of the policy may steer', async () => {
    await must(create('ad-st-moves'), lead);
    const command = label('ad-st-moves', 'ad-st-tier=asked');
    expect(await refused(command, lead)).toContain(
      joins({
        cause: 'label ad-st-tier=asked',
        namespace: 'ad-st-moves',
        provider: 'NamespacePolicy ad-st-asked',
      }),
    );
    const requester = person(cluster, 'ad-st-eve', 'ad-st-platform', 'system:authenticated');
    expect(await allowed(command, requester)).toBe('');
    expect(await allowed(label('ad-st-moves', 'ad-st-tier-'), requester)).toBe('');
  });

  it.each([
    { who: 'a cluster-admin by RBAC', name: 'ad-st-root', groups: [] },
    { who: 'a member of system:masters', name: 'ad-st-chief', groups: ['system:masters'] },
  ])('steering is open to $who', async ({ name, groups }) => {
    const labels = { 'ad-st-tier': 'team', 'ad-st-pull': 'true' };
    expect(await allowed(create(`${name}s`, { labels }), person(cluster, name, ...groups))).toBe('');
  });

  // The second name contains a quote.
  it.each(['ad-st-new', "ad-st-o'neil"])(
    'a user with exactly the rights that the refusal names is allowed: %s',
    async (name) => {
      const namespace = `ad-st-granted-${name.length}`;
      const command = create(namespace, { labels: { 'ad-st-tier': 'team', 'ad-st-pull': 'true' } });
      const somebody = person(cluster, name);
      const said = await refused(command, somebody);
      const [first, ...lines] = said.split('\n');
      expect(first).toMatch(/is refused for 2 reasons:$/);
      expect(lines[0]).toContain(joins({ cause: 'label ad-st-tier=team', namespace, who: name }));
      expect(lines[1]).toContain(
        joins({ cause: 'label ad-st-pull=true', namespace, provider: ofShare, who: name }),
      );
      // The message never prints a command that grants rights.
      expect(said).not.toMatch(/kubectl|rolebinding/);
      const named = [...said.matchAll(/\(verb "(\w+)" on (\w+)\/([\w-]+)\)/g)];
      const rules = named.map(([, verb, resource, resourceName]) => ({
        apiGroups: ['reeve.dev'],
        resources: [resource],
        resourceNames: [resourceName],
        verbs: [verb],
      }));
      expect(rules).toHaveLength(2);
      await grant(cluster, { name: namespace, rules, users: [name] });
      await eventually(async () => (await dryRun(command, somebody)).code).toBe(0);
      expect(await allowed(command, somebody)).toBe('');
    },
  );

  it('the webhook asks for the right under its own account', async () => {
    const asked = (await audit.records())
      .slice(earlier)
      .filter(({ resource }) => resource === 'subjectaccessreviews.authorization.k8s.io');
    expect(new Set(asked.map(({ user, verb, status }) => `${user} ${verb} ${status}`))).toEqual(
      new Set([`${webhookUser} create 201`]),
    );
  });
});
