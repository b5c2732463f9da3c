// Attempts with kubectl to steer a Namespace, and the warnings to the author of a policy about existing labels.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { allowed, must, refused, type Command } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import {
  annotateNamespace as annotate,
  createNamespace as create,
  labelNamespace as label,
  sneakNamespace as sneak,
} from './support/namespace-commands.ts';
import { configMap, policy, share } from './support/objects.ts';
import { grant, namespaceRules, person } from './support/people.ts';
import { applyPolicies } from './support/policies.ts';
import { file } from './support/ways-to-write.ts';

const prefix = 'gu-st-';
const contents = { resources: [configMap('settings', {})] };
const labelled = { match: { namespaceSelector: { matchLabels: { 'gu-st-tier': 'team' } } }, contents };
const noted = "namespaceObject.metadata.?annotations[?'gu-st-note'] == optional.of('x')";
const policies = [
  policy('gu-st-team', labelled),
  policy('gu-st-noted', { match: { matchConditions: [{ name: 'noted', expression: noted }] }, contents }),
];
const says = (by: string): string =>
  ` under NamespacePolicy ${by}, and user "gu-st-lead" may not do that (verb "use" on namespacepolicies/${by})`;

describeControllers('steering with kubectl', () => {
  const cluster = sharedCluster();
  /** Has every right on Namespaces in RBAC. */
  const lead = person(cluster, 'gu-st-lead');
  const owner = person(cluster, 'gu-st-owner');
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook' });
    const use = { apiGroups: ['reeve.dev'], resources: ['namespacepolicies'], verbs: ['use'] };
    const users = ['gu-st-lead', 'gu-st-owner'];
    await grant(cluster, { name: 'gu-st-namespaces', rules: namespaceRules, users });
    await grant(cluster, { name: 'gu-st-use', rules: [use], users: ['gu-st-owner'] });
    await applyPolicies(prefix, policies, cluster);
    for (const name of ['a', 'b'])
      await must(create(`gu-st-${name}`, { labels: { 'gu-st-spare': 'team' } }), lead);
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    await reeve.stop();
  });

  describe('steering is refused, and passes with the right "use"', () => {
    const several = { args: ['label', 'namespace', '-l=gu-st-spare', 'gu-st-tier=team'] };
    const plain: readonly { readonly how: string; readonly command: Command; readonly by: string }[] = [
      { how: 'label', command: label('gu-st-a', 'gu-st-tier=team'), by: 'gu-st-team' },
      { how: 'label of several at once', command: several, by: 'gu-st-team' },
      { how: 'annotate', command: annotate('gu-st-a', 'gu-st-note=x'), by: 'gu-st-noted' },
      { how: 'create', command: create('gu-st-c', { labels: { 'gu-st-tier': 'team' } }), by: 'gu-st-team' },
    ];

    it.each(plain)('$how', async ({ command, by }) => {
      expect(await refused(command, lead)).toContain(says(by));
      const dry = [...command.args, '--dry-run=server'];
      const { code, stderr } = await kubectl(dry, { ...owner, input: command.input ?? '' });
      expect(code, stderr).toBe(0);
    });

    it('steering by a generated name past the mutating webhook is refused', async () => {
      const command = sneak('gu-st-', { labels: { 'gu-st-tier': 'team' } });
      const input = command.input ?? '';
      const dry = [...command.args, '--dry-run=server'];
      for (const args of [command.args, dry])
        expect((await kubectl(args, { ...lead, input })).stderr).toContain(says('gu-st-team'));
      expect(await kubectl(dry, { ...owner, input })).toMatchObject({ code: 0, stderr: '' });
    });

    it.each([
      { what: 'a label', name: 'a', editor: 's/gu-st-spare:/gu-st-tier:/', by: 'gu-st-team' },
      {
        what: 'an annotation',
        name: 'b',
        editor: 's/^  name:/  annotations: {gu-st-note: x}\\n  name:/',
        by: 'gu-st-noted',
      },
    ])('edit of $what', async ({ name, editor, by }) => {
      const edit = ['edit', 'namespace', `gu-st-${name}`];
      const version = (): Promise<string> =>
        mustKubectl(
          ['get', 'namespace', `gu-st-${name}`, '-o=jsonpath={.metadata.resourceVersion}'],
          cluster,
        );
      const before = await version();
      const { code, stderr } = await kubectl(edit, { ...lead, editor: `sed -i '${editor}'` });
      expect(code).toBe(1);
      expect(stderr).toContain(says(by));
      expect(await version()).toBe(before);
      expect(await kubectl(edit, { ...owner, editor: `sed -i '${editor}'` })).toMatchObject({ code: 0 });
    });
  });

  it('a label that no provider selects is not steering, and the author of a later selector gets a warning', async () => {
    for (const name of ['seed-a', 'seed-b']) await must(create(`gu-st-${name}`), lead);
    for (const name of ['seed-a', 'seed-b'])
      expect(await allowed(label(`gu-st-${name}`, 'gu-st-later=yes'), lead)).toBe('');
    const later = { namespaceSelector: { matchLabels: { 'gu-st-later': 'yes' } } };
    const source = { namespace: 'reeve-shared', name: 'gu-st-source' };
    const reached = 'now reaches 2 namespaces: gu-st-seed-a, gu-st-seed-b\n';
    expect(await allowed(file(['apply'], policy('gu-st-later', { match: later, contents })), cluster)).toBe(
      `Warning: NamespacePolicy/gu-st-later ${reached}`,
    );
    expect(await allowed(file(['apply'], share('gu-st-later', { source, targets: later })), cluster)).toBe(
      `Warning: SecretShare/gu-st-later ${reached}`,
    );
  });
});
