// Namespaces by claims: judged as the writer's own, created by Reeve alone, and never taken over.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubectl, mustKubectl, type KubectlOptions } from '../support/kubectl.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { applyText } from './support/install-roles.ts';
import { configMap, namespaceObject, policy } from './support/objects.ts';
import { emergency, grant, person } from './support/people.ts';
import { reconcilerUser, Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const jailFile = 'manifests/install/41-jail.yaml';
const rightsFile = 'manifests/claims/28-reconciler-claims.yaml';

describeCluster('namespaces by claims', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, 'cl-');
  withReeve(stage, { args: ['--namespace-claims=true'] });
  const alice = person(cluster, 'cl-alice', 'cl-shop');
  const bob = person(cluster, 'cl-bob', 'cl-shop');

  const claimText = (name: string, spec: object, namespace = 'cl-home'): string =>
    JSON.stringify({
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'NamespaceClaim',
      metadata: { name, namespace },
      spec: { policy: 'cl-teams', labels: { 'cl-tier': 'team', 'cl-team': 'shop' }, ...spec },
    });
  const claim = async (name: string, spec: object, who: KubectlOptions = alice) =>
    await kubectl(['apply', '-f', '-'], { ...who, input: claimText(name, spec) });
  const readiness = async (name: string): Promise<string> =>
    (
      await kubectl(
        [
          'get',
          'nsclaim',
          name,
          '-n=cl-home',
          '-o=jsonpath={.status.conditions[0].status} {.status.conditions[0].reason}',
        ],
        stage.administrator,
      )
    ).stdout;
  const namespaceOf = async (name: string) => await stage.get({ kind: 'Namespace', name });

  beforeAll(async () => {
    const jail = await readFile(jailFile, 'utf8');
    const opened = jail.replace(
      /(- name: namespaceClaims\n +expression: )'false'/u,
      (_found, start: string) => `${start}'true'`,
    );
    if (opened === jail) throw new Error('the jail has no switch for claims');
    await applyText(opened, emergency(cluster));
    await applyText(await readFile(rightsFile, 'utf8'), emergency(cluster));
    await stage.apply(namespaceObject('cl-home'));
    const claims = { apiGroups: ['reeve.dev'], resources: ['namespaceclaims'], verbs: ['*'] };
    await grant(cluster, { name: 'cl-claims', rules: [claims], groups: ['cl-shop'] });
    const use = { apiGroups: ['reeve.dev'], resources: ['namespacepolicies'], verbs: ['use'] };
    await grant(cluster, { name: 'cl-use', rules: [use], users: ['cl-alice'] });
    await stage.apply(
      policy('cl-teams', {
        match: { namespaceSelector: { matchLabels: { 'cl-tier': 'team' } } },
        namespaces: {
          name: { pattern: '^cl-' },
          defaults: { annotations: { 'cl-by': '${request.userInfo.username}' } },
          deletion: { protect: true },
        },
        contents: { resources: [configMap('settings', { a: 'b' })] },
      }),
    );
  });
  afterAll(async () => {
    await mustKubectl(['delete', '-f', rightsFile, '--ignore-not-found'], emergency(cluster));
    await mustKubectl(['apply', '-f', jailFile], emergency(cluster));
  });

  test('a user without a right to namespaces gets one of the policy, with its contents', async () => {
    await inTime(async () => (await claim('dev', { name: 'cl-dev' })).stderr).toBe('');
    await inTime(() => readiness('dev')).toBe('True Synced');
    expect((await stage.mustGet({ kind: 'Namespace', name: 'cl-dev' })).metadata).toMatchObject({
      labels: { 'cl-team': 'shop' },
      annotations: {
        'cl-by': 'cl-alice',
        'reeve.dev/claim': 'cl-home/dev',
        'reeve.dev/requested-by': 'cl-alice',
      },
    });
    expect(await stage.get({ kind: 'ConfigMap', name: 'settings', namespace: 'cl-dev' })).toBeDefined();
  });

  test.for([
    ['a name against the rules', { name: 'other-dev' }, alice, 'namespaces.name'],
    ['no right to use the policy', { name: 'cl-bob' }, bob, 'user "cl-bob" may not do that'],
    ['a namespace that exists', { name: 'cl-home' }, alice, 'exists already'],
    ['a namespace of the install', { name: 'reeve-system' }, alice, 'does not exclude'],
    ['labels that the policy does not match', { name: 'cl-none', labels: {} }, alice, 'does not match'],
  ] as const)('a claim with %s is refused', async ([, spec, who, text]) => {
    expect((await claim('refused', spec, who)).stderr).toContain(text);
  });

  test('the stamp is the user of the request, whatever the claim says', async () => {
    const forged = { name: 'cl-forged', requester: { username: 'cl-alice', groups: ['cl-shop'] } };
    expect((await claim('forged', forged, bob)).stderr).toContain('user "cl-bob" may not do that');
    const said = await kubectl(
      [
        'patch',
        'nsclaim',
        'dev',
        '-n=cl-home',
        '--type=merge',
        '-p={"spec":{"requester":{"username":"cl-bob"}}}',
      ],
      bob,
    );
    expect(said.code).toBe(0);
    const { stdout } = await kubectl(
      ['get', 'nsclaim', 'dev', '-n=cl-home', '-o=jsonpath={.spec.requester.username}'],
      stage.administrator,
    );
    expect(stdout).toBe('cl-alice');
  });

  test('no user marks a namespace as one of a claim, and not even Reeve creates one without a claim', async () => {
    const annotations = {
      'reeve.dev/claim': 'cl-home/dev',
      'reeve.dev/claim-uid': 'x',
      'reeve.dev/requested-by': 'a',
    };
    const marked = { ...namespaceObject('cl-marked'), metadata: { name: 'cl-marked', annotations } };
    const refused = await stage.tryApply([marked]);
    expect(refused.stderr).toContain('and only Reeve sets them');
    const reeve = person(cluster, reconcilerUser);
    for (const object of [namespaceObject('cl-bare'), marked]) {
      const { stderr } = await kubectl(['create', '-f', '-'], { ...reeve, input: JSON.stringify(object) });
      expect(stderr).toMatch(/name their NamespaceClaim|a NamespaceClaim that exists/u);
    }
    const { stderr } = await kubectl(['delete', 'namespace', 'cl-home'], reeve);
    expect(stderr).toMatch(/name their NamespaceClaim|a NamespaceClaim that exists/u);
    const early = await kubectl(['delete', 'namespace', 'cl-dev'], reeve);
    expect(early.stderr).toMatch(/is what its NamespaceClaim asks for/u);
  });

  test('the deletion of a claim leaves its namespace, or is judged as its deletion', async () => {
    expect((await claim('dev', { name: 'cl-dev', deletionPolicy: 'Delete' })).stderr).toBe('');
    await inTime(
      async () => (await kubectl(['delete', 'nsclaim', 'dev', '-n=cl-home'], alice)).stderr,
    ).toContain('reeve.dev/allow-deletion=cl-dev');
    await stage.kubectl('annotate', 'namespace', 'cl-dev', 'reeve.dev/allow-deletion=cl-dev');
    await inTime(async () => (await kubectl(['delete', 'nsclaim', 'dev', '-n=cl-home'], alice)).stderr).toBe(
      'Warning: namespace cl-dev is deleted with the claim\n',
    );
    await inTime(async () => (await namespaceOf('cl-dev'))?.metadata.deletionTimestamp ?? 'deleted').toMatch(
      /./u,
    );

    await claim('kept', { name: 'cl-kept' });
    await inTime(() => readiness('kept')).toBe('True Synced');
    await mustKubectl(['delete', 'nsclaim', 'kept', '-n=cl-home'], alice);
    expect((await claim('kept', { name: 'cl-kept' })).stderr).toContain('exists already');
  });
});
