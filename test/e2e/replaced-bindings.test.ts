// A changed roleRef: the binding is deleted and created again, because Kubernetes lets no user change it. The time between both
// is measured from the audit log and with reviews of one subject's access, and printed.
import { expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, policy, roleBinding, type WrittenObject } from './support/objects.ts';
import { reconcilerUser, Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const name = 'rb-re-changed';
const all = Array.from({ length: 26 }, (_, index) => `${name}-${index + 1}`);
const [watched = ''] = all;

describeControllers('a RoleBinding that is deleted and created again', () => {
  const stage = new Stage(sharedCluster(), 'rb-re-');
  withReeve(stage);

  const granting = (role: string): WrittenObject => {
    const match = { namespaceSelector: { matchLabels: { changed: name } } };
    return policy(name, { match, contents: { roleBindings: [roleBinding('team', 'readers', role)] } });
  };

  async function roles(): Promise<readonly unknown[]> {
    const bindings = await Promise.all(
      all.map((namespace) => stage.get({ kind: 'RoleBinding', name: 'team', namespace })),
    );
    return [
      ...new Set(bindings.map((binding) => (binding?.['roleRef'] as { name?: string } | undefined)?.name)),
    ];
  }

  /** Asks again and again, and returns the longest time without access, in milliseconds. */
  async function longestLoss(until: AbortSignal): Promise<number> {
    const resourceAttributes = { namespace: watched, verb: 'get', resource: 'configmaps' };
    const spec = { user: 'ann', groups: ['readers'], resourceAttributes };
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    let [longest, lastAllowed] = [0, performance.now()];
    while (!until.aborted) {
      const { body } = await stage.cluster.admin.send(
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        review,
      );
      const now = performance.now();
      if ((body as { status?: { allowed?: boolean } }).status?.allowed !== true) continue;
      longest = Math.max(longest, now - lastAllowed);
      lastAllowed = now;
    }
    return longest;
  }

  test('its deletion is followed directly by its creation, and an event says how long access was interrupted', async () => {
    await stage.apply(...all.map((each) => namespaceObject(each, { changed: name })), granting('view'));
    await inTime(roles).toEqual(['view']);
    const end = new AbortController();
    const loss = longestLoss(end.signal);
    await stage.apply(granting('edit'));
    await inTime(roles).toEqual(['edit']);
    await inTime(() => stage.condition({ kind: 'NamespacePolicy', name })).toBe('True Synced');
    end.abort();
    const records = (await stage.cluster.auditLog().records()).filter(
      ({ user, verb, resource }) => user === reconcilerUser && verb !== 'get' && resource !== 'namespaces',
    );
    const gaps = all.map((namespace) => {
      const own = records.filter((record) => record.namespace === namespace);
      const at = own.findIndex(({ verb }) => verb === 'delete');
      const [rehearsal, deleted, created] = own.slice(at - 1, at + 2);
      expect(
        [rehearsal, deleted, created].map((each) => `${each?.verb} ${each?.name} ${each?.status}`),
      ).toEqual(['patch team.rehearsal 201', 'delete team 200', 'patch team 201']);
      return Date.parse(created?.receivedAt ?? '') - Date.parse(deleted?.receivedAt ?? '');
    });
    const messages = async (): Promise<string> =>
      await stage.kubectl('get', 'events', '-n', watched, '-o', 'jsonpath={.items[*].message}');
    await inTime(messages).toMatch(/deleted and created again: access was interrupted for at most \d+ ms/);
    const sorted = gaps.toSorted((a, b) => a - b);
    process.stdout.write(
      `from the deletion to the creation: median ${sorted[13]} ms, longest ${sorted.at(-1)} ms of ${sorted.length}; ` +
        `longest time between two reviews that allowed access: ${Math.ceil(await loss)} ms\n`,
    );
  });

  test('an adopted RoleBinding keeps its labels and annotations, and gets its label managed-by back', async () => {
    const namespace = 'rb-re-adopted';
    const ref = { kind: 'RoleBinding', name: 'team', namespace } as const;
    const own = { team: 'a', 'reeve.dev/adopt': 'true' };
    const helm = { 'app.kubernetes.io/managed-by': 'Helm' };
    await stage.apply(namespaceObject(namespace));
    const run = async (...args: readonly string[]) => await stage.kubectl(...args, '-n', namespace);
    await run('create', 'rolebinding', 'team', '--clusterrole=admin', '--user=bob');
    await run('annotate', 'rolebinding', 'team', 'note=y');
    const labels = Object.entries({ ...own, ...helm }).map(([key, value]) => `${key}=${value}`);
    await run('label', 'rolebinding', 'team', ...labels);
    const granted = (role: string) =>
      policy(namespace, {
        match: { names: [namespace] },
        contents: { roleBindings: [roleBinding('team', 'readers', role)] },
      });
    // It is replaced when it is adopted, replaced again with the role of the policy, and then changed in place.
    for (const role of ['view', 'edit']) {
      await stage.apply(granted(role));
      await inTime(async () => (await stage.get(ref))?.['roleRef']).toMatchObject({ name: role });
      const { metadata } = await stage.mustGet(ref);
      expect(metadata.labels).toMatchObject({ ...own, 'app.kubernetes.io/managed-by': 'reeve' });
      expect(metadata.annotations).toMatchObject({ note: 'y', 'reeve.dev/adopted': 'managed-by=Helm' });
    }
    const others = { ...roleBinding('team', 'writers', 'edit') };
    await stage.apply(
      policy(namespace, { match: { names: [namespace] }, contents: { roleBindings: [others] } }),
    );
    await inTime(async () => (await stage.get(ref))?.['subjects']).toMatchObject([{ name: 'writers' }]);
    await stage.remove({ kind: 'NamespacePolicy', name: namespace });
    const { metadata } = await stage.mustGet(ref);
    expect([metadata.labels, metadata.annotations]).toEqual([{ ...own, ...helm }, { note: 'y' }]);
  });
});
