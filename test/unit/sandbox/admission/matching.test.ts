// Tests which writes a webhook or a policy matches.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import {
  type ReviewedWrite,
  matchesResources,
  matchesWebhook,
} from '../../../../src/sandbox/admission/reviewed-write.ts';
import type { Webhook } from '../../../../src/sandbox/admission/configurations.ts';
import { clusterRoles, configMap, configMaps, errorStatusOf, namespaces, Scene } from './scene.ts';

const scene = new Scene();
scene.namespace('here', { labels: { team: 'a' } });

const object = configMap();
const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' } };
const here = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'here', labels: { team: 'b' } } };
const writes = {
  create: scene.write({ resource: configMaps, object }),
  label: scene.write({ resource: configMaps, object: configMap({ labels: { a: 'b' } }), oldObject: object }),
  unlabel: scene.write({ resource: configMaps, object, oldObject: configMap({ labels: { a: 'b' } }) }),
  remove: scene.write({ resource: configMaps, oldObject: object }),
  role: scene.write({ resource: clusterRoles, object: role }),
  namespace: scene.write({ resource: namespaces, object: here, oldObject: here }),
  generated: scene.write({
    resource: namespaces,
    object: { ...here, metadata: { generateName: 'x-', labels: { team: 'b' } } },
  }),
  finalize: scene.write({ resource: namespaces, subresource: 'finalize', object: here, oldObject: here }),
  endNamespace: scene.write({ resource: namespaces, oldObject: here }),
} satisfies Record<string, ReviewedWrite>;
type Name = keyof typeof writes;
const all = Object.keys(writes) as Name[];

const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
const selecting = (field: string, key: string, value: string): JsonObject => ({
  rules: [rule],
  [field]: { matchLabels: { [key]: value } },
});

test.each<[string, JsonObject, readonly Name[]]>([
  ['everything', { rules: [rule] }, all],
  ['nothing', {}, []],
  ['operations', { rules: [{ ...rule, operations: ['CREATE'] }] }, ['create', 'role', 'generated']],
  ['groups', { rules: [{ ...rule, apiGroups: ['rbac.authorization.k8s.io'] }] }, ['role']],
  ['versions', { rules: [{ ...rule, apiVersions: ['v2'] }] }, []],
  ['no subresources', { rules: [{ ...rule, resources: ['*'] }] }, all.filter((name) => name !== 'finalize')],
  ['one subresource', { rules: [{ ...rule, resources: ['namespaces/finalize'] }] }, ['finalize']],
  ['a subresource of all', { rules: [{ ...rule, resources: ['*/finalize'] }] }, ['finalize']],
  [
    'a resource with its subresources',
    { rules: [{ ...rule, resources: ['namespaces/*'] }] },
    ['namespace', 'generated', 'finalize', 'endNamespace'],
  ],
  [
    'what has a namespace',
    { rules: [{ ...rule, scope: 'Namespaced' }] },
    ['create', 'label', 'unlabel', 'remove'],
  ],
  [
    'what has none',
    { rules: [{ ...rule, scope: 'Cluster' }] },
    ['role', 'namespace', 'generated', 'finalize', 'endNamespace'],
  ],
  ['labels before or after', selecting('objectSelector', 'a', 'b'), ['label', 'unlabel']],
  [
    'labels that the namespace has',
    selecting('namespaceSelector', 'team', 'a'),
    ['create', 'label', 'unlabel', 'remove', 'role', 'finalize', 'endNamespace'],
  ],
  [
    'labels that a namespace gets',
    selecting('namespaceSelector', 'team', 'b'),
    ['role', 'namespace', 'generated'],
  ],
])('a webhook matches %s', (_, criteria, names) => {
  const matched = all.filter((name) =>
    matchesWebhook(scene.store, criteria as unknown as Webhook, writes[name]),
  );
  expect(matched).toEqual(names);
});

test.each<[string, JsonObject, readonly Name[]]>([
  ['everything without rules', {}, all],
  [
    'but what is excluded',
    { excludeResourceRules: [{ ...rule, resources: ['namespaces/*'] }] },
    all.slice(0, 5),
  ],
  [
    'names',
    { resourceRules: [{ ...rule, resourceNames: ['r', 'here'] }] },
    ['role', 'namespace', 'finalize', 'endNamespace'],
  ],
])('a policy matches %s', (_, criteria, names) => {
  expect(all.filter((name) => matchesResources(scene.store, criteria, writes[name]))).toEqual(names);
});

test('a write in a missing namespace that a webhook would match is refused with 404', async () => {
  const lost = scene.write({ resource: configMaps, object: configMap({ namespace: 'lost' }) });
  const ask = async (criteria: JsonObject): Promise<unknown> =>
    await Promise.resolve().then(() => matchesWebhook(scene.store, criteria as unknown as Webhook, lost));
  const selector = selecting('namespaceSelector', 'team', 'a');
  expect(await errorStatusOf(ask(selector))).toMatchObject({
    code: 404,
    message: 'namespaces "lost" not found',
  });
  expect(await errorStatusOf(ask({ ...selector, rules: [] }))).toBeUndefined();
});
