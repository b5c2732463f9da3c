// Tests the parameters of ValidatingAdmissionPolicies: objects that the expressions of a policy read.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Reply } from './support/api.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap, role } from './support/objects.ts';

const group = 'admissionregistration.k8s.io/v1';
const policies = at('validatingadmissionpolicies', '');
const bindings = at('validatingadmissionpolicybindings', '');
const roles = at('clusterroles', '');

onEachBackend('parameters of admission policies', (backend) => {
  let ns = '';
  let name = '';
  beforeEach(async () => {
    ns = await backend.namespace();
    name = freshName('parameters');
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };
    const isHere = `object.metadata.namespace == "${ns}"`;
    await backend.api.must(
      backend.api.create(policies, {
        apiVersion: group,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: {
          paramKind: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
          matchConstraints: { resourceRules: [rule] },
          matchConditions: [
            { name: 'by-ann', expression: `${isHere} && request.userInfo.username == "ann"` },
          ],
          validations: [
            {
              expression: 'object.data.uid == params.metadata.uid',
              messageExpression: '"not the uid of " + params.metadata.name',
            },
          ],
        },
      }),
    );
  });
  afterEach(async () => {
    for (const path of [`${bindings}/${name}`, `${policies}/${name}`, `${roles}/${name}`])
      await backend.api.delete(path);
  });

  async function bind(paramRef: object): Promise<void> {
    const spec = {
      policyName: name,
      paramRef,
      validationActions: ['Deny'],
      // Without it, a missing parameter would refuse the ConfigMaps of all tests that run at the same time.
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } } },
    };
    const kind = 'ValidatingAdmissionPolicyBinding';
    await backend.api.must(
      backend.api.create(bindings, { apiVersion: group, kind, metadata: { name }, spec }),
    );
  }

  async function makeRole(): Promise<string> {
    const labels = { part: name };
    const { metadata, ...rest } = role('ClusterRole', name, []);
    const made = await backend.api.must(
      backend.api.create(roles, { ...rest, metadata: { ...metadata, labels } }),
    );
    return made.metadata.uid;
  }

  const tryUid = async (uid: string, user = 'ann'): Promise<Reply> =>
    await backend
      .as(user, 'system:masters')
      .create(`${at('configmaps', ns)}?dryRun=All`, configMap('a', { uid }));
  const messageFor = async (uid: string, user = 'ann'): Promise<string> => {
    const { status, body } = await tryUid(uid, user);
    return status === 201 ? 'created' : body.message.replace(/.*denied request: /, '');
  };

  it.each([
    ['its name', () => ({ name, parameterNotFoundAction: 'Deny' })],
    ['a selector', () => ({ selector: { matchLabels: { part: name } }, parameterNotFoundAction: 'Deny' })],
  ])('a policy reads the parameter that its binding names by %s', async (_, paramRef) => {
    const uid = await makeRole();
    await bind(paramRef());
    await eventually(() => messageFor('other')).toBe(`not the uid of ${name}`);
    expect((await tryUid(uid)).status).toBe(201);
    expect((await tryUid('other', 'bob')).status).toBe(201);
  });

  it('a missing parameter refuses with Deny every write that the resource rules match', async () => {
    await bind({ name, parameterNotFoundAction: 'Deny' });
    const says = 'no params found for policy binding with `Deny` parameterNotFoundAction';
    await eventually(() => messageFor('other')).toContain(says);
    expect(await messageFor('other', 'bob')).toContain(says);
    expect(await tryUid('other')).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
  });

  it('a missing parameter lets writes pass with Allow', async () => {
    await makeRole();
    await bind({ name, parameterNotFoundAction: 'Allow' });
    await eventually(() => messageFor('other')).toBe(`not the uid of ${name}`);
    await backend.api.must(backend.api.delete(`${roles}/${name}`));
    await eventually(() => messageFor('other')).toBe('created');
  });
});
