// Forbidden requests of Reeve's accounts on the webhook configurations: review more, call another server, block everything.
import { at } from '../../contract/support/objects.ts';
import { neither, owners, under, webhook, type Attempt, type Row } from './attempt.ts';
import {
  admission,
  apply,
  caBundle,
  emergencies,
  endings,
  excluded,
  held,
  hookKinds,
  hookOf,
  hooksOf,
  marked,
  object,
  others,
  owned,
  ownEndings,
  patch,
  post,
  remove,
  ruleOf,
  service,
  type Sent,
} from './scene.ts';

export function hookAttempts(): readonly Attempt[] {
  const path = at('validatingwebhookconfigurations', '', 'reeve');
  const mutating = at('mutatingwebhookconfigurations', '', 'reeve');
  const hooks = (changes: object): Sent => apply(path, hooksOf(changes));
  const selecting = (term: object) => ({ namespaceSelector: { matchExpressions: [term] } });
  const url = { clientConfig: { url: 'https://elsewhere.test/validate' } };
  /** Adds a second webhook to a correct one. */
  const second = (changes: object): Sent => {
    const webhooks = [hookOf(), hookOf({ name: 'second.reeve.dev', ...changes })];
    return apply(path, { ...hooksOf(), webhooks });
  };
  return [
    ...under('webhooks of Reeve are about', webhook, [
      ['judge Pods', hooks({ rules: [ruleOf('', 'pods')] })],
      [
        'judge Pods beside namespaces',
        hooks({ rules: [ruleOf('', 'namespaces'), ruleOf('', 'secrets', 'pods')] }),
      ],
      ['judge everything', hooks({ rules: [ruleOf('*', '*')] })],
      [
        'judge another kind beside its own',
        hooks({ rules: [ruleOf('reeve.dev', 'securityintents', 'others')] }),
      ],
      ['judge all of its own kinds, status included', hooks({ rules: [ruleOf('reeve.dev', '*/*')] })],
      ['judge connections', hooks({ rules: [{ ...ruleOf('', 'secrets'), operations: ['*'] }] })],
      ['judge ClusterRoles', hooks({ rules: [ruleOf('rbac.authorization.k8s.io', 'clusterroles')] })],
      [
        'judge deletions of Secrets',
        hooks({ rules: [{ ...ruleOf('', 'secrets'), operations: ['CREATE', 'DELETE'] }] }),
      ],
      ...['roles', 'rolebindings'].map((resource): Row => [
        `judge deletions of ${resource}`,
        hooks({ rules: [{ ...ruleOf('rbac.authorization.k8s.io', resource), operations: ['DELETE'] }] }),
      ]),
      ['judge several groups', hooks({ rules: [{ ...ruleOf('', 'secrets'), apiGroups: ['', 'apps'] }] })],
      ['judge Pods with a second webhook', second({ rules: [ruleOf('', 'pods')] })],
      [
        'change Pods',
        apply(mutating, hooksOf({ rules: [ruleOf('', 'pods')] }, 'reeve', 'MutatingWebhookConfiguration')),
      ],
    ]),
    ...under('webhooks of Reeve lead to', webhook, [
      ['send reviews out of the cluster', hooks(url)],
      [
        'lead reviews to another Service',
        hooks({ clientConfig: { service: { ...service, name: 'other' } } }),
      ],
      [
        'lead reviews to another namespace',
        hooks({ clientConfig: { service: { ...service, namespace: 'default' } } }),
      ],
      ['send reviews to a dead address', hooks({ clientConfig: { service: { ...service, path: '/no' } } })],
      [
        'lead reviews to no path',
        hooks({ clientConfig: { service: { namespace: service.namespace, name: service.name } } }),
      ],
      ['send reviews elsewhere with a second webhook', second(url)],
    ]),
    ...under('mutating webhooks of Reeve must have failurePolicy', webhook, [
      [
        'refuse where it only changes something',
        apply(mutating, hooksOf({ failurePolicy: 'Fail' }, 'reeve', 'MutatingWebhookConfiguration')),
      ],
      [
        'let Namespaces pass without an answer',
        hooks({ rules: [ruleOf('', 'namespaces')], clientConfig: { service, caBundle } }),
      ],
      ...(['namespacepolicies', 'securityintents', 'securityintentbindings'] as const).map((plural): Row => [
        `let ${plural} pass without an answer`,
        hooks({ rules: [ruleOf('reeve.dev', plural)], clientConfig: { service, caBundle } }),
      ]),
    ]),
    ...under('the ClusterRole reeve-webhook of the install owns', webhook, ownerRows()),
    ...under('webhooks of Reeve for secrets, roles and rolebindings', webhook, [
      ...['secrets', 'roles', 'rolebindings'].map((resource): Row => [
        `block all ${resource} while no webhook answers`,
        hooks({
          rules: [ruleOf(resource === 'secrets' ? '' : 'rbac.authorization.k8s.io', resource)],
          failurePolicy: 'Fail',
        }),
      ]),
      [
        'block all Secrets by the default of failurePolicy',
        hooks({ rules: [ruleOf('', 'secrets')], failurePolicy: undefined }),
      ],
      [
        'block all Secrets beside Namespaces',
        second({ rules: [ruleOf('', 'namespaces', 'secrets')], failurePolicy: 'Fail' }),
      ],
    ]),
    ...under('webhook configurations of Reeve have the version of its manifests', webhook, [
      [
        'freeze its configuration as one of a newer version',
        patch('merge', path, {
          ...hooksOf(),
          metadata: { annotations: { 'reeve.dev/version': '99.0.0', 'reeve.dev/sealed': 'x' } },
        }),
      ],
    ]),
    ...under('of labels and annotations, Reeve sets', webhook, [
      [
        'label its configuration for a tool that prunes',
        patch('merge', path, { ...hooksOf(), metadata: { labels: { 'app.kubernetes.io/instance': 'x' } } }),
      ],
      [
        'annotate its configuration',
        apply(path, { ...hooksOf(), metadata: { name: 'reeve', annotations: { 'janitor/ttl': '1m' } } }),
      ],
    ]),
    ...under('Reeve adds finalizers', webhook, [
      [
        'hold up the end of its configuration',
        apply(path, { ...hooksOf(), metadata: { name: 'reeve', finalizers: [held] } }),
      ],
    ]),
    ...under('Reeve marks what policies', { webhook: 'guard or jail', reconciler: 'RBAC' }, [
      [
        'set the mark on its configuration',
        apply(path, { ...hooksOf(), metadata: { name: 'reeve', ...marked } }),
      ],
    ]),
    ...under('webhooks of Reeve must let break-glass', webhook, [
      ['block break-glass users', hooks({ matchConditions: [endings] })],
      ...(['namespaces', 'namespaces/status', 'namespaces/finalize'] as const).map((resource): Row => [
        `block the deletion of Namespaces through ${resource}`,
        hooks({
          rules: [ruleOf('', 'secrets'), ruleOf('', resource)],
          matchConditions: [emergencies, ...ownEndings],
        }),
      ]),
      ...(['namespacepolicies', 'securityintentbindings'] as const).flatMap((plural) =>
        ownEndings.map((condition): Row => [
          `block the deletion of ${plural} without ${condition.name}`,
          hooks({
            rules: [ruleOf('', 'secrets'), ruleOf('reeve.dev', plural)],
            matchConditions: [emergencies, endings, ...ownEndings.filter((each) => each !== condition)],
          }),
        ]),
      ),
      ['block break-glass users with a second webhook', second({ matchConditions: [endings] })],
      [
        'block every user with wrong conditions under the right names',
        hooks({
          matchConditions: [emergencies, endings, ...ownEndings].map((each) => ({
            ...each,
            expression: 'true',
          })),
        }),
      ],
      ['delay every request', hooks({ timeoutSeconds: 6 })],
      ['delay every request for the default timeout', hooks({ timeoutSeconds: undefined })],
    ]),
    ...under('webhooks of Reeve leave out', webhook, [
      ['judge all namespaces', hooks({ namespaceSelector: {} })],
      ...excluded.map((name): Row => [
        `judge ${name}`,
        hooks(selecting({ ...others, values: excluded.filter((each) => each !== name) })),
      ]),
      ['judge only the excluded namespaces', hooks(selecting({ ...others, operator: 'In' }))],
      ['exclude namespaces by a label that any user may set', hooks(selecting({ ...others, key: 'name' }))],
      ['judge all namespaces with a second webhook', second({ namespaceSelector: {} })],
      [
        'judge all namespaces beside its own kinds',
        hooks({ rules: [ruleOf('reeve.dev', 'secretshares'), ruleOf('', 'secrets')], namespaceSelector: {} }),
      ],
    ]),
    ...under('of webhook configurations', webhook, [
      ['empty its configuration', apply(path, object(admission, 'ValidatingWebhookConfiguration', 'reeve'))],
      [
        'write more webhooks than it has',
        apply(path, {
          ...hooksOf(),
          webhooks: Array.from({ length: 13 }, (_, index) => hookOf({ name: `n${index}.reeve.dev` })),
        }),
      ],
      ['delete its configuration', remove(path), neither],
      [
        'write another configuration',
        apply(at('validatingwebhookconfigurations', '', 'other'), hooksOf({}, 'other')),
        neither,
      ],
      [
        'make another configuration',
        post(at('mutatingwebhookconfigurations', ''), hooksOf({}, 'other', 'MutatingWebhookConfiguration')),
        neither,
      ],
    ]),
  ];
}

/** Each would let the garbage collector delete the configuration, or keep it after an uninstall. */
function ownerRows(): readonly Row[] {
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'reeve-webhook' };
  const uid = '00000000-0000-0000-0000-000000000002';
  return hookKinds.flatMap(({ path: all, kind }): readonly Row[] => {
    const path = `${all}/reeve`;
    const owning = (...ownerReferences: readonly object[]): Sent =>
      patch('merge', path, { metadata: { ownerReferences }, webhooks: [hookOf()] });
    const besides =
      (change: object, ...more: readonly object[]): Sent =>
      async (api) => {
        const { metadata } = (await owned(api, hooksOf())) as { metadata: { ownerReferences: object[] } };
        return await owning(...metadata.ownerReferences.map((one) => ({ ...one, ...change })), ...more)(api);
      };
    return [
      [`let another object own its ${kind}`, owning({ ...owners.ownerReferences[0], uid })],
      [`let the role of the install own its ${kind} by a false uid`, owning({ ...role, uid })],
      [`let another role own its ${kind}`, besides({ name: 'view' })],
      [`let a second object own its ${kind}`, besides({}, { ...role, name: 'view', uid })],
      [`let the role control its ${kind}`, besides({ controller: true })],
      [`let its ${kind} hold up the deletion of the role`, besides({ blockOwnerDeletion: true })],
    ];
  });
}
