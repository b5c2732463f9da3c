// Forbidden requests of Reeve's accounts on Secrets, RoleBindings and other objects in the namespaces of tenants.
import { at } from '../../contract/support/objects.ts';
import { neither, owners, reconciler, under, type Attempt, type Row } from './attempt.ts';
import {
  apply,
  bindingOf,
  configMapOf,
  held,
  mark,
  marked,
  markedBy,
  object,
  otherKinds,
  patch,
  post,
  put,
  remove,
  secretOf,
  service,
  type Sent,
} from './scene.ts';

export function contentAttempts(team: string): readonly Attempt[] {
  const theirs = at('secrets', team, 'theirs');
  const ours = at('configmaps', team, 'ours');
  const change = (body: object): Sent => patch('merge', at('serviceaccounts', team, 'default'), body);
  const otherOwner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: 'a' };
  const ownedByAnother = markedBy('NamespacePolicy/another');
  const named = (owner: string) => ({ labels: mark, annotations: { 'reeve.dev/owner': owner } });
  const own = { 'reeve.dev/namespacepolicy': 'nobody' };
  const labeled = (labels: object) =>
    apply(at('configmaps', team, 'new'), configMapOf('new', { ...marked, labels: { ...mark, ...labels } }));
  const typed = (type: string) => {
    const annotations = { ...marked.annotations, 'kubernetes.io/service-account.name': 'default' };
    return apply(at('secrets', team, 'typed'), secretOf('typed', { ...marked, annotations }, { type }));
  };
  return [
    ...under('Reeve changes and deletes what is labeled', reconciler, [
      ['change a Secret', patch('merge', theirs, { stringData: { a: 'b' } })],
      ['update a Secret without a change', patch('merge', theirs, {})],
      ['adopt a Secret', apply(theirs, secretOf('theirs', marked))],
      ['delete a Secret', remove(theirs)],
      ['replace a Secret', put(theirs, secretOf('theirs')), neither],
      ['delete all Secrets', remove(at('secrets', team)), neither],
      [
        'set the mark on a ConfigMap',
        patch('strategic', at('configmaps', team, 'theirs'), { metadata: marked }),
      ],
      ['delete an offered object', remove(at('configmaps', team, 'offered'))],
      [
        'take what another provider left behind',
        apply(at('configmaps', team, 'left'), configMapOf('left', ownedByAnother)),
      ],
      ['delete what was left behind', remove(at('configmaps', team, 'left'))],
      [
        'take over a ServiceAccount',
        patch('merge', at('serviceaccounts', team, 'theirs'), { metadata: marked }),
      ],
      ['change an offered object', patch('merge', at('configmaps', team, 'offered'), { data: { a: 'b' } })],
      [
        'change a RoleBinding',
        patch('json', at('rolebindings', team, 'theirs'), [{ op: 'remove', path: '/subjects' }]),
      ],
      ['delete a RoleBinding', remove(at('rolebindings', team, 'theirs'))],
      ...otherKinds.flatMap(({ plural }): readonly Row[] => [
        // Reeve may change two fields of a ServiceAccount: see below.
        ...(plural === 'serviceaccounts'
          ? []
          : ([
              [
                `change ${plural}`,
                patch('merge', at(plural, team, 'theirs'), { metadata: { labels: { a: 'b' } } }),
              ],
            ] as const)),
        [`delete ${plural}`, remove(at(plural, team, 'theirs'))],
        [`delete all ${plural}`, remove(at(plural, team)), neither],
      ]),
    ]),
    ...under('of a ServiceAccount that Reeve does not provide', reconciler, [
      ['label a ServiceAccount', change({ metadata: { labels: { a: 'b' } } })],
      ['annotate a ServiceAccount', change({ metadata: { annotations: { a: 'b' } } })],
      ['hold up a ServiceAccount', change({ metadata: { finalizers: [held] } })],
      [
        'let the garbage collector delete a ServiceAccount',
        change({ metadata: { ownerReferences: [otherOwner] } }),
      ],
      ['change which Secrets Pods can mount', change({ secrets: [{ name: 'theirs' }] })],
      [
        'annotate a ServiceAccount besides its own annotation',
        change({
          metadata: { annotations: { a: 'b', 'reeve.dev/fields': 'NamespacePolicy/p: imagePullSecrets/a' } },
        }),
      ],
      [
        'change more than the fields',
        change({ automountServiceAccountToken: false, secrets: [{ name: 'a' }] }),
      ],
      [
        'apply a label with the fields',
        apply(
          at('serviceaccounts', team, 'default'),
          object('v1', 'ServiceAccount', 'default', {
            metadata: { name: 'default', labels: { a: 'b' } },
            automountServiceAccountToken: false,
          }),
        ),
      ],
    ]),
    ...under('Reeve keeps out of the namespace', reconciler, [
      [
        'change a ServiceAccount of Kubernetes',
        patch('merge', at('serviceaccounts', 'kube-system', 'default'), {
          automountServiceAccountToken: false,
        }),
      ],
    ]),
    ...under('Reeve gives back what it adopted', reconciler, [
      ['delete an adopted object', remove(at('configmaps', team, 'adopted'))],
    ]),
    ...under('Reeve remembers what it adopted', reconciler, [
      [
        'forget that an object was adopted',
        patch('merge', at('configmaps', team, 'adopted'), {
          metadata: { annotations: { 'reeve.dev/adopted': null } },
        }),
      ],
    ]),
    ...under('Reeve adds finalizers', reconciler, [
      [
        'make a RoleBinding that stays',
        apply(
          at('rolebindings', team, 'new'),
          bindingOf('new', undefined, undefined, { ...marked, finalizers: [held] }),
        ),
      ],
      ['add a finalizer to a managed object', patch('merge', ours, { metadata: { finalizers: [held] } })],
      [
        'add a finalizer to an offered object',
        apply(
          at('configmaps', team, 'offered'),
          configMapOf('offered', { ...marked, finalizers: ['test.dev/also'] }),
        ),
      ],
    ]),
    ...under('Reeve neither adds nor changes ownerReferences', reconciler, [
      [
        'make a ConfigMap that others own',
        apply(at('configmaps', team, 'new'), configMapOf('new', { ...marked, ...owners })),
      ],
      ['let others own a managed object', patch('merge', ours, { metadata: owners })],
      [
        'let others own an object while releasing it',
        patch('merge', ours, { metadata: { ...owners, labels: null } }),
      ],
    ]),
    ...under('what Reeve makes is labeled', reconciler, [
      ['create a Secret', apply(at('secrets', team, 'new'), secretOf('new'))],
      ['create a Secret with POST', post(at('secrets', team), secretOf('new'))],
      [
        'make a Secret with the mark of others',
        apply(
          at('secrets', team, 'new'),
          secretOf('new', { ...marked, labels: { 'app.kubernetes.io/managed-by': 'Helm' } }),
        ),
      ],
      ...otherKinds.map(({ plural, body }): Row => [
        `make unmarked ${plural}`,
        apply(at(plural, team, 'new'), { ...body, metadata: { name: 'new' } }),
      ]),
      [
        'make an unmarked RoleBinding',
        apply(at('rolebindings', team, 'new'), bindingOf('new', undefined, undefined, {})),
      ],
    ]),
    ...under('what Reeve labels app.kubernetes.io/managed-by=reeve has the annotation', reconciler, [
      [
        'create a Secret without an owner',
        apply(at('secrets', team, 'new'), secretOf('new', { labels: mark })),
      ],
      ...forgedOwners(team).map((owner): Row => [
        `make a RoleBinding with the owner ${JSON.stringify(owner)}`,
        apply(at('rolebindings', team, 'new'), bindingOf('new', undefined, undefined, named(owner))),
      ]),
      ['name another owner', patch('merge', at('rolebindings', team, 'ours'), { metadata: named('zzz') })],
      [
        'remove the owner and keep the mark',
        patch('merge', at('rolebindings', team, 'ours'), {
          metadata: { annotations: { 'reeve.dev/owner': null } },
        }),
      ],
      [
        'adopt an offered object without an owner',
        patch('merge', at('configmaps', team, 'offered'), { metadata: { labels: mark } }),
      ],
    ]),
    ...under('what Reeve provides gets no label that names another provider', reconciler, [
      ['label an object with another name', labeled({ 'reeve.dev/namespacepolicy': 'another' })],
      ['label an object with another kind of owner', labeled({ 'reeve.dev/secretshare': 'nobody' })],
      ['label an object with two owners', labeled({ ...own, 'reeve.dev/securityintentbinding': 'nobody' })],
      [
        'change the label of an object',
        patch('merge', ours, { metadata: { labels: { 'reeve.dev/namespacepolicy': 'another' } } }),
      ],
      [
        'hand an object over with a wrong label',
        patch('merge', ours, {
          metadata: {
            labels: { 'reeve.dev/securityintentbinding': 'another' },
            annotations: { 'reeve.dev/owner': `SecurityIntentBinding/${team}/nobody` },
          },
        }),
      ],
    ]),
    ...under('what Reeve gives up stays', reconciler, [
      [
        'change an object while releasing it',
        patch('merge', ours, { metadata: { labels: null }, data: { a: 'b' } }),
      ],
      [
        'empty an object while releasing it',
        patch('merge', ours, { metadata: { labels: null }, data: null }),
      ],
      [
        'make an object immutable while releasing it',
        patch('merge', ours, { metadata: { labels: null }, immutable: true }),
      ],
    ]),
    ...under('Secrets that hold tokens', reconciler, [
      ['create a token', typed('kubernetes.io/service-account-token')],
      ['create a bootstrap token', typed('bootstrap.kubernetes.io/token')],
      ['create a Helm release', typed('helm.sh/release.v1')],
    ]),
  ];
}

/** Texts that name no provider, or a binding of another namespace. */
function forgedOwners(team: string): readonly string[] {
  const long = 'a'.repeat(64);
  const inCluster = ['NamespacePolicy', 'SecretShare', 'ConfigMapShare', 'ClusterSecurityIntentBinding'];
  return [
    'zzz',
    'Pod/nobody',
    'SecurityIntent/nobody',
    ...inCluster.flatMap((kind) =>
      ['', 'no name', 'a\nb', '-a', long, `${team}/a`].map((name) => `${kind}/${name}`),
    ),
    ...['', 'x', `${team}/`, '/x', `${team}/a/b`, `${team}/no name`, `${team}/${long}`, `${team}x/a`].map(
      (name) => `SecurityIntentBinding/${name}`,
    ),
    `securityintentbinding/${team}/a`,
    'SecurityIntentBinding/kube-system/a',
    `SecurityIntentBinding/${team}/a\n`,
  ];
}

export function roleAttempts(team: string): readonly Attempt[] {
  const bind = (subject?: object, role?: readonly [string, string]): Sent =>
    apply(at('rolebindings', team, 'new'), bindingOf('new', subject, role));
  const rbac = 'rbac.authorization.k8s.io/v1';
  const listed = 'Reeve hands out the ClusterRoles that its install lists';
  const clusterBinding = { ...bindingOf('jail-much'), kind: 'ClusterRoleBinding' };
  return [
    ...under(listed, neither, [
      ['bind cluster-admin', bind(undefined, ['ClusterRole', 'cluster-admin'])],
      ['bind admin', bind(undefined, ['ClusterRole', 'admin'])],
    ]),
    // RBAC lets an account grant a role only if the account has its rights. This account has none of them.
    ...under(listed, reconciler, [['bind a Role', bind(undefined, ['Role', 'view'])]]),
    ...under('nothing to users and groups of system:', reconciler, [
      ...[
        'system:authenticated',
        'system:unauthenticated',
        'system:masters',
        'system:serviceaccounts',
        'system:serviceaccounts:reeve-system',
        'system:serviceaccounts:kube-system',
        `system:serviceaccounts:${team}-other`,
      ].map((name): Row => [`give a role to the group ${name}`, bind({ kind: 'Group', name })]),
      ...[
        'system:anonymous',
        'system:kube-scheduler',
        'system:serviceaccount:reeve-system:reeve-reconciler',
        `system:serviceaccounts:${team}`,
      ].map((name): Row => [`give a role to the user ${name}`, bind({ kind: 'User', name })]),
      [
        'give a role to the webhook',
        bind({ kind: 'ServiceAccount', namespace: service.namespace, name: service.name }),
      ],
      [
        'give a role to the group of everybody later',
        patch('merge', at('rolebindings', team, 'ours'), {
          subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' }],
        }),
      ],
    ]),
    ...under('Reeve never writes rbac.authorization.k8s.io/', neither, [
      [
        'write a Role',
        apply(
          at('roles', team, 'new'),
          object(rbac, 'Role', 'new', { metadata: { name: 'new', ...marked }, rules: [] }),
        ),
      ],
      ['widen a Role', patch('merge', at('roles', team, 'view'), { rules: [] })],
      ['widen a ClusterRole', patch('merge', at('clusterroles', '', 'view'), { rules: [] })],
      ['bind a role in the whole cluster', apply(at('clusterrolebindings', '', 'jail-much'), clusterBinding)],
    ]),
  ];
}
