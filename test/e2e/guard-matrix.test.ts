// Every guard against every way to write: which requests it refuses, with which message, and that the object is unchanged.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { at } from '../contract/support/objects.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { cleanUp } from './support/clean-up.ts';
import { outcomesOf, type Attackers } from './support/guard-outcomes.ts';
import { home, rows, tenant } from './support/guard-rows.ts';
import { makeGuardedObjects } from './support/guard-targets.ts';
import { Logins } from './support/logins.ts';
import { grant } from './support/people.ts';
import { policiesInForce } from './support/policies.ts';

/** The verbs that write. `use`, `bind`, `escalate` and `impersonate` are missing on purpose. */
const writing = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', ...writing] };
/** No rule allows reading Secrets, except the Secret of the shares. */
const most = [
  { apiGroups: ['*'], resources: ['*'], verbs: writing },
  { apiGroups: [''], resources: ['secrets'], resourceNames: ['gm-source'], verbs: ['get'] },
];
const use = { apiGroups: ['reeve.dev'], resources: ['namespacepolicies', 'secretshares'], verbs: ['use'] };

describeControllers('the guards', () => {
  const cluster = sharedCluster();
  const logins = new Logins(cluster);
  let reeve: Reeve;
  let attackers: Attackers;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook' });
    await grant(cluster, { name: 'gm-everything', rules: [everything], users: ['gm-user'] });
    await grant(cluster, { name: 'gm-most', rules: most, users: [tenant] });
    // A user who grants a role must have its rights.
    await mustKubectl(
      ['create', 'clusterrolebinding', 'gm-view', '--clusterrole=view', `--user=${tenant}`],
      cluster,
    );
    await grant(cluster, { name: 'gm-use', rules: [use], users: ['gm-user'] });
    const administrator = await logins.as('gm-admin', 'system:masters');
    attackers = {
      tenant: await logins.as(tenant),
      impersonated: administrator.as(tenant, 'system:authenticated'),
      user: await logins.as('gm-user'),
      emergency: administrator.as('gm-admin', 'system:masters', 'reeve:break-glass'),
      administrator,
    };
    await makeGuardedObjects(administrator);
    await policiesInForce('gm-', cluster);
    await until(
      async () => (await attackers.user.get(at('secrets', home))).status === 200,
      () => 'the rights are known',
    );
  });
  afterAll(async () => {
    await cleanUp(cluster, 'gm-');
    await reeve.stop();
    logins.close();
  });

  describe('the guards refuse every request and leave the object as it was', { concurrent: true }, () => {
    it.each(rows)('$guard', async (row) => {
      expect(await outcomesOf(row, attackers)).toEqual(row.outcomes);
    });
  });
});
