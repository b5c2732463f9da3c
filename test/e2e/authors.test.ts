// Authors: a policy or share cannot do anything that its author may not do.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { at } from '../contract/support/objects.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { startReeve, webhookIsAsked, type Reeve } from '../support/reeve.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { allowed, attempt, dryRun, must, refused, type Command } from './support/attempt.ts';
import {
  everything,
  grantRights,
  grantWriting,
  others,
  rightsOfPolicy,
  rightsOfShare,
  sharing,
  without,
} from './support/author-rights.ts';
import { cleanUp } from './support/clean-up.ts';
import { Logins } from './support/logins.ts';
import { configMap, policy, roleBinding, share, type WrittenObject } from './support/objects.ts';
import { emergency, grant, person } from './support/people.ts';
import { applyPolicies } from './support/policies.ts';
import { file, patch, waysToWrite } from './support/ways-to-write.ts';

const create = (object: object): Command => file(['create'], object);
// No API server accepts a strategic patch of a custom kind.
const ways = waysToWrite.filter(({ way }) => way !== 'strategic-patch');

describeCluster('authors of policies and shares', () => {
  const cluster = sharedCluster();
  /** Has the right to write policies and shares, and no other right. */
  const nobody = person(cluster, 'au-nobody');
  const entitled = person(cluster, 'au-entitled');
  const member = person(cluster, 'au-member', 'au-group');
  const machine = person(cluster, 'system:serviceaccount:au-ns:au-robot');
  const logins = new Logins(cluster);
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook' });
    const people = [nobody, entitled, member, machine].map(({ as = '' }) => as);
    await grantWriting(cluster, ...people, 'au-unanswered', 'au-unheard');
    await grantRights(cluster, {
      users: ['au-entitled', 'au-unanswered', 'au-unheard', machine.as ?? ''],
      groups: ['au-group'],
    });
    await applyPolicies('au-', others, cluster);
    // Waits until the API server has noticed all rights just granted, because every case depends on them.
    await until(
      async () => (await dryRun(create(everything), entitled)).code === 0,
      async () => (await dryRun(create(everything), entitled)).stderr,
    );
  });
  afterAll(async () => {
    await cleanUp(cluster, 'au-');
    await reeve.stop();
    logins.close();
  });

  describe('one right is missing', () => {
    const cases = [
      ...rightsOfPolicy.map((right) => [everything, right] as const),
      ...rightsOfShare.map((right) => [sharing, right] as const),
    ];
    it('a write is refused with the missing right and the field that needs it', async () => {
      // More cases at once would only wait for each other.
      for (let index = 0; index < cases.length; index += 3) {
        await Promise.all(
          cases.slice(index, index + 3).map(async ([object, right]) => {
            const who = without(cluster, right);
            const { stderr } = await attempt(create(object), who);
            const about = `${object.kind} ${object.metadata.name} is refused: ${right.path}: user "${who.as}" may not `;
            expect(stderr).toContain(about);
            expect(stderr).toContain(` (${right.missing})`);
            // The message never prints a command that grants rights.
            expect(stderr).not.toMatch(/kubectl|create (cluster)?rolebinding/);
          }),
        );
      }
    });

    it('a write is allowed once the user has the right that was missing', async () => {
      for (const [object, id] of [
        [everything, 'bind'],
        [sharing, 'source'],
      ] as const) {
        const [, right] = cases.find(([, each]) => each.id === id) ?? [];
        if (right === undefined) throw new Error(`there is no right ${id}`);
        const who = without(cluster, right);
        expect((await attempt(create(object), who)).stderr).toContain(right.missing);
        await grant(cluster, { name: `au-granted-${id}`, rules: [right.rule], users: [who.as ?? ''] });
        await eventually(async () => (await dryRun(create(object), who)).code).toBe(0);
      }
    });
  });

  describe('all are there', () => {
    it.each([
      ['a user', entitled],
      ['a group', member],
      ['a service account', machine],
      ['a cluster administrator', cluster],
    ] as const)('a write of %s is allowed once all rights are there', async (_whose, who) => {
      await Promise.all(
        [everything, sharing].map(async (object) => {
          const { code, stderr } = await dryRun(create(object), who);
          expect(code, stderr).toBe(0);
        }),
      );
    });

    it('the SubjectAccessReview carries the user, uid, groups and extra of the author', async () => {
      const administrator = await logins.as('au-admin', 'system:masters');
      const whole = administrator.as('au-entitled', 'au-staff').with({
        'impersonate-uid': 'au-uid',
        'impersonate-extra-au-scope': 'one',
      });
      const made = await whole.create(`${at('namespacepolicies', '')}?dryRun=All`, everything);
      expect(made.status, made.text).toBe(201);
      const asked = (await cluster.auditLog().records()).flatMap(({ askedPerson }) => askedPerson ?? []);
      const groups = ['au-staff', 'system:authenticated'];
      const { user, uid, groups: members, extra } = asked.find((each) => each.uid === 'au-uid') ?? {};
      expect({ user, uid, members, extra }).toEqual({
        user: 'au-entitled',
        uid: 'au-uid',
        members: groups,
        extra: { 'au-scope': ['one'] },
      });
    });
  });

  const asked = (object: WrittenObject, path: readonly string[], value: unknown, words: string) =>
    ({ object, path, value, words }) as const;
  const binding = [roleBinding('x', 'au-staff')];
  const exceeding = [
    asked(
      policy('au-binds', { match: { names: ['au-nowhere'] }, contents: { roleBindings: binding } }),
      ['spec', 'contents', 'roleBindings'],
      [roleBinding('x', 'au-staff', 'cluster-admin')],
      'may not hand out ClusterRole cluster-admin (verb "bind" on clusterroles.rbac.authorization.k8s.io/cluster-admin)',
    ),
    asked(
      share('au-shares', {
        source: { namespace: 'reeve-shared', name: 'au-source' },
        targets: { names: ['au-nowhere'] },
      }),
      ['spec', 'source', 'name'],
      'au-unreadable',
      'may not share Secret reeve-shared/au-unreadable (verb "get" on secrets/au-unreadable in namespace reeve-shared)',
    ),
    asked(
      policy('au-provides', {
        match: { names: ['au-nowhere'] },
        contents: { resources: [configMap('x', { a: 'b' })] },
      }),
      ['spec', 'contents', 'resources'],
      [{ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'x' } }],
      '(verbs "create", "patch" and "delete" on limitranges, cluster-wide)',
    ),
  ];

  describe.each(exceeding)('$object.metadata.name', ({ object, path, value, words }) => {
    beforeAll(async () => {
      await must(file(['apply'], object), entitled);
    });

    it.each(ways)('a policy cannot be changed into what its author may not do: $way', async ({ write }) => {
      expect(await refused(write(object, path, value), entitled)).toContain(words);
    });

    it('impersonating an administrator does not lend the rights of the administrator', async () => {
      const { write } = waysToWrite[3] ?? {};
      const input: unknown = JSON.parse(write?.(object, path, value).input ?? '{}');
      const named = { ...(input as WrittenObject), metadata: { name: 'au-new' } };
      const unnamed = { ...(input as WrittenObject), metadata: { generateName: 'au-new-' } };
      const served = file(['apply', '--server-side', '--field-manager=somebody'], named);
      for (const command of [create(named), create(unnamed), served]) {
        expect((await attempt(command, entitled)).stderr).toContain(words);
      }
    });
  });

  describe('no right is needed', () => {
    const kept = policy('au-kept', { match: { names: ['au-nowhere'] }, contents: { roleBindings: binding } });

    it('labeling, annotating or deleting the policy of another author needs no right of the author', async () => {
      await must(create(kept), entitled);
      await allowed({ args: ['label', 'nspol', 'au-kept', 'a=b'] }, nobody);
      await allowed({ args: ['annotate', 'nspol', 'au-kept', 'a=b'] }, nobody);
      await allowed(patch(kept, 'merge', { metadata: { finalizers: ['example.com/held'] } }), nobody);
      await allowed({ args: ['delete', 'nspol', 'au-kept', '--wait=false'] }, nobody);
      // The rules of the policy are in force until it is deleted.
      const suspended = patch(kept, 'merge', { spec: { suspend: true } });
      expect(await refused(suspended, nobody)).toContain('may not hand out ClusterRole view');
      await allowed(patch(kept, 'merge', { metadata: { finalizers: [] } }), nobody);
    });

    it('a write that only removes needs no right, and a suspension the right to hand out the roles', async () => {
      const match = { names: ['au-nowhere', 'au-neither'] };
      const both = roleBinding('x', 'au-staff', 'view');
      const fewer = policy('au-fewer', {
        match,
        contents: { roleBindings: [both, roleBinding('y', 'au-staff')] },
      });
      await must(create(fewer), entitled);
      const patched = (spec: object): Command => patch(fewer, 'merge', { spec });
      await allowed(patched({ match: { names: ['au-nowhere'] } }), nobody);
      await allowed(patched({ contents: { roleBindings: [both] } }), nobody);
      expect(await refused(patched({ match }), nobody)).toContain('may not hand out ClusterRole view');
      expect(await refused(patched({ suspend: true }), nobody)).toContain(
        'may not hand out ClusterRole view',
      );
      await allowed(patched({ suspend: true }), entitled);
    });

    it('rules need no right, because they grant nothing', async () => {
      const rules = policy('au-rules', {
        match: { names: ['au-nowhere'] },
        namespaces: { required: { labels: { team: {} } } },
        secrets: { maxBytes: 5 },
        rbac: { forbidWildcardRules: true },
      });
      expect(await allowed(create(rules), nobody)).toContain(
        'no namespace matches now, because there is no namespace au-nowhere',
      );
    });
  });

  describe('defaults write on the objects of other users', () => {
    const enforce = 'pod-security.kubernetes.io/enforce';
    const defaults = { labels: { [enforce]: 'privileged' } };
    const attack = policy('au-attack', { match: { names: ['au-victim'] }, namespaces: { defaults } });

    it('a user who may only write policies cannot make new Namespaces privileged', async () => {
      expect(await refused(create(attack), nobody)).toContain(
        'spec.namespaces.defaults: user "au-nobody" may not set labels and annotations on Namespaces ' +
          '(verb "patch" on namespaces, cluster-wide)',
      );
      await must({ args: ['create', 'namespace', 'au-victim'] }, cluster);
      const stored = await must({ args: ['get', 'namespace', 'au-victim', '-o=json'] }, cluster);
      expect(stored).not.toContain(enforce);
      await allowed(create(attack), entitled);
    });

    it('a user who may only write policies cannot set labels on new Secrets', async () => {
      const secrets = { defaults: { labels: { 'au-operator': 'take-this' } } };
      const labels = policy('au-labels', { match: { names: ['au-victim'] }, secrets });
      expect(await refused(create(labels), nobody)).toContain(
        'spec.secrets.defaults: user "au-nobody" may not set labels and annotations on Secrets ' +
          '(verb "patch" on secrets, cluster-wide)',
      );
      await allowed(create(labels), entitled);
    });
  });

  describe('the rights cannot be checked', () => {
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/reeve-webhook-reviews';

    it('every write is refused while Reeve may not ask, except in an emergency', async () => {
      const stored = (await cluster.admin.mustSend('GET', role)) as { readonly rules: readonly Rule[] };
      const rules = stored.rules.filter(({ resources }) => !resources.includes('subjectaccessreviews'));
      await cluster.admin.mustSend('PUT', role, { ...stored, rules });
      try {
        const who = person(cluster, 'au-unanswered');
        const says = 'did not answer whether user "au-unanswered" has the right (verb "bind" on ';
        await until(
          async () => (await dryRun(create(everything), who)).stderr.includes(says),
          async () => (await dryRun(create(everything), who)).stderr,
        );
        expect(await refused(create(sharing), who)).toContain(
          'did not answer whether user "au-unanswered" has the right (verb "get" on ',
        );
        expect((await dryRun(create(everything), emergency(cluster))).code).toBe(0);
      } finally {
        await must(
          file(['replace', '--force=false'], { ...stored, metadata: { name: 'reeve-webhook-reviews' } }),
          cluster,
        );
      }
    });

    it('a write is refused in time while the API server does not answer Reeve', async () => {
      await reeve.stop();
      using proxy = await startFaultProxy(new URL(cluster.server));
      const token = await cluster.tokenKubeconfig('reeve-system', 'reeve-webhook');
      const kubeconfig = await proxy.kubeconfigLike(token);
      reeve = await startReeve(cluster, { role: 'webhook', port: reeve.port, kubeconfig });
      const who = person(cluster, 'au-unheard');
      await until(
        async () => (await dryRun(create(policy('au-rules-too', {})), who)).code === 0,
        () => 'it answers',
      );
      proxy.silence('all');
      const { code, stderr } = await dryRun(create(everything), who);
      // Either the API server or the webhook notices the timeout first.
      const inTime = /the timeout of this request expired|context deadline exceeded/;
      expect([code, stderr]).toEqual([1, expect.stringMatching(inTime)]);
      // A write that requires no right passes without an access review.
      expect((await dryRun(create(policy('au-rules-too', {})), who)).code).toBe(0);
      await proxy.heal();
      await webhookIsAsked(cluster);
    });
  });
});

interface Rule {
  readonly resources: readonly string[];
}
