// Specs of SecretShares that are accepted, and those that are refused with what is said of them.
import type { SecretShare } from '../../../../src/api/secret-share/secret-share.ts';

type SecretShareSpec = SecretShare['spec'];

/** Titles and specs; what is wrong in one of `refusedShares` is wrong in it alone. */
export const minimalShare = {
  source: { namespace: 'reeve-shared', name: 'regcred' },
  targets: { namespaceSelector: {} },
} satisfies Partial<SecretShareSpec>;

function withTarget(target: unknown): object {
  return { ...minimalShare, target };
}

function withTargets(targets: unknown): object {
  return { ...minimalShare, targets };
}

function typed(type: string, ...names: readonly string[]): object {
  return withTarget({ type, keys: names.map((to) => ({ from: 'a', to })) });
}

function keysNamed(...names: readonly string[]): object {
  return withTarget({ keys: names.map((to) => ({ from: 'a', to })) });
}

// In a literal, `__proto__` would set the prototype and no key.
const hostileLabels: unknown = JSON.parse('{"__proto__": "a", "constructor": "b"}');

export const acceptedShares: readonly (readonly [title: string, spec: unknown])[] = [
  ['the least there can be', minimalShare],
  ['globs for all names', withTargets({ names: ['*'] })],
  ['all terms', withTargets({ namespaceSelector: {}, names: ['ci-*'], excludeNames: ['ci-legacy'] })],
  ['no exclusions', withTargets({ names: ['a'], excludeNames: [] })],
  ['a selector with expressions', withTargets({ namespaceSelector: { matchExpressions: [anyTeam()] } })],
  ['nulls for what is left out', { ...minimalShare, target: null, suspend: null, maxDeletions: null }],
  ['a null beside the other term', withTargets({ namespaceSelector: null, names: ['a'] })],
  ['an empty target', withTarget({})],
  ['the type of the source', withTarget({ type: '' })],
  ['a type of somebody', withTarget({ type: 'example.com/token.v1' })],
  ['the longest type', withTarget({ type: 't'.repeat(253) })],
  ['the longest name', withTarget({ name: 'n'.repeat(253) })],
  ['a name with points', withTarget({ name: 'a.b-c.d' })],
  ['keys that look odd', keysNamed('.a', '.-', '-', '_', 'a..b', 'A', '__proto__', 'constructor')],
  ['the longest key', keysNamed('k'.repeat(253))],
  [
    'one key twice under two names',
    withTarget({
      keys: [
        { from: 'a', to: 'b' },
        { from: 'a', to: 'c' },
      ],
    }),
  ],
  ['100 keys', keysNamed(...Array.from({ length: 100 }, (_, index) => `k${index}`))],
  ['a certificate', typed('kubernetes.io/tls', 'tls.crt', 'tls.key', 'ca.crt')],
  ['a user without a password', typed('kubernetes.io/basic-auth', 'username')],
  ['a type whose keys are those of the source', withTarget({ type: 'kubernetes.io/tls' })],
  ['labels', withTarget({ labels: { team: 'a', 'example.com/b': '', 'app.kubernetes.io/part-of': 'x' } })],
  ['labels that objects have by nature', withTarget({ labels: { constructor: 'a', toString: 'b' } })],
  [
    'templates of a name, labels and annotations',
    withTarget({
      name: 'regcred-${namespaceObject.metadata.name}',
      labels: { team: "${namespaceObject.metadata.labels['team']}" },
      annotations: { note: "of ${namespaceObject.metadata.labels['team']}" },
    }),
  ],
  [
    'several sources',
    {
      sources: [minimalShare.source, { namespace: 'reeve-shared', name: 'b' }],
      targets: minimalShare.targets,
    },
  ],
  ['templates of values', withTarget({ template: { url: 'x://${data.user}', '.a': '{{ .Values }}' } })],
  [
    'the configuration of a registry',
    withTarget({ dockerConfig: { registry: 'r.example.com:5000/a', usernameKey: 'u', passwordKey: 'p' } }),
  ],
  [
    'annotations of other programs',
    withTarget({
      annotations: {
        'reloader.stakater.com/match': 'true',
        'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
        'argocd.argoproj.io/sync-options': 'Prune=false',
      },
    }),
  ],
  [
    'alternatives',
    withTargets({ anyOf: [{ names: ['ci-*'], excludeNames: ['ci-legacy'] }, { namespaceSelector: {} }] }),
  ],
  ['alternatives beside other terms', withTargets({ names: ['*'], anyOf: [{ names: ['a'] }] })],
  ['20 alternatives', withTargets({ anyOf: Array.from({ length: 20 }, () => ({ names: ['a'] })) })],
  ['immutable copies', withTarget({ immutable: true })],
  ['the longest contact', { ...minimalShare, contact: 'é'.repeat(200) }],
  ['everything else', { ...minimalShare, deletionPolicy: 'Orphan', maxDeletions: 0, suspend: true }],
];

function anyTeam(): object {
  return { key: 'team', operator: 'Exists' };
}

export const refusedShares: readonly (readonly [title: string, spec: unknown, problem: string])[] = [
  ...[
    ['kubernetes.io/tls', 'tls.crt', 'tls.crt and tls.key'],
    ['kubernetes.io/dockerconfigjson', '.dockercfg', '.dockerconfigjson'],
    ['kubernetes.io/dockercfg', '.dockerconfigjson', '.dockercfg'],
    ['kubernetes.io/ssh-auth', 'id_rsa', 'ssh-privatekey'],
    ['kubernetes.io/basic-auth', 'user', 'username or password'],
  ].map(
    ([type = '', key = '', needed = '']) =>
      [
        `keys that do not fit the type ${type}`,
        typed(type, key),
        `spec.target.keys: found a list of 1; accepted: ${needed} among its keys if its type is ${type}`,
      ] as const,
  ),
  [
    'no source',
    { targets: { names: ['a'] } },
    'spec.source: found nothing; accepted: either source or sources',
  ],
  [
    'both kinds of source',
    { ...minimalShare, sources: [minimalShare.source] },
    'spec.sources: found a list of 1; accepted: either source or sources',
  ],
  ['no item of sources', { targets: { names: ['a'] }, sources: [] }, 'spec.sources: found an empty list'],
  [
    'another type beside dockerConfig',
    withTarget({ type: 'Opaque', dockerConfig: { registry: 'r', usernameKey: 'u', passwordKey: 'p' } }),
    'spec.target.type: found "Opaque"; accepted: the type kubernetes.io/dockerconfigjson',
  ],
  [
    'a key that a template builds, too',
    withTarget({ keys: [{ from: 'a', to: 'b' }], template: { b: 'x' } }),
    'spec.target.keys[0].to: found "b"; accepted: each key of the copies in one of',
  ],
  [
    'a registry that cannot be one',
    withTarget({ dockerConfig: { registry: 'a b', usernameKey: 'u', passwordKey: 'p' } }),
    'spec.target.dockerConfig.registry: found "a b"; accepted: a registry such as',
  ],
  ['a contact that is too long', { ...minimalShare, contact: 'c'.repeat(201) }, 'spec.contact: found '],
  ['an empty contact', { ...minimalShare, contact: '' }, 'spec.contact: found empty text'],
  ['a contact of two lines', { ...minimalShare, contact: 'a\nb' }, 'accepted: one line of text'],
  ['no targets', { source: minimalShare.source }, 'spec.targets: found nothing; accepted: '],
  ['an unknown field', { ...minimalShare, froms: 1 }, 'spec.froms: found an unknown field'],
  [
    'no namespace of the source',
    { ...minimalShare, source: { name: 'a' } },
    'spec.source.namespace: found nothing; accepted: the name of a namespace',
  ],
  [
    'no name of the source',
    { ...minimalShare, source: { namespace: 'a' } },
    'spec.source.name: found nothing; accepted: the name of a Secret',
  ],
  [
    'a namespace that cannot be',
    { ...minimalShare, source: { namespace: 'A.b', name: 'a' } },
    'spec.source.namespace: found "A.b"; accepted: the name of a namespace',
  ],
  [
    'a name that cannot be',
    { ...minimalShare, source: { namespace: 'a', name: 'a_b' } },
    'spec.source.name: found "a_b"; accepted: the name of a Secret',
  ],
  [
    'a name that is too long',
    withTarget({ name: 'n'.repeat(254) }),
    `spec.target.name: found "${'n'.repeat(70)}`,
  ],
  ['no name', withTarget({ name: '' }), 'spec.target.name: found empty text; accepted: '],
  [
    'a name that cannot be one',
    withTarget({ name: 'a_b' }),
    'spec.target.name: found "a_b"; accepted: the name of a Secret (',
  ],
  [
    'our mark among the annotations',
    withTarget({ annotations: { 'app.kubernetes.io/managed-by': 'helm' } }),
    'spec.target.annotations["app.kubernetes.io/managed-by"]: must not set app.kubernetes.io/managed-by, kubectl',
  ],
  [
    'an annotation of ours',
    withTarget({ annotations: { 'reeve.dev/owner': '${namespaceObject.metadata.name}' } }),
    'spec.target.annotations["reeve.dev/owner"]: must not set ',
  ],
  [
    'the annotation of kubectl',
    withTarget({ annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } }),
    'spec.target.annotations["kubectl.kubernetes.io/last-applied-configuration"]: must not set ',
  ],
  [
    'an alternative without a term',
    withTargets({ anyOf: [{ names: ['a'] }, { excludeNames: ['b'] }] }),
    'spec.targets.anyOf[1]: found an object; accepted: an object with namespaceSelector, names or both',
  ],
  [
    'no alternative',
    withTargets({ anyOf: [] }),
    'spec.targets.anyOf: found an empty list; accepted: a list of 1',
  ],
  [
    '21 alternatives',
    withTargets({ anyOf: Array.from({ length: 21 }, () => ({ names: ['a'] })) }),
    'spec.targets.anyOf: found a list of 21; accepted: a list of 1 to 20',
  ],
  [
    'a list of targets',
    withTargets([{ names: ['a'] }]),
    'spec.targets: found a list of 1; accepted: {} or an object with namespaceSelector, names, excludeNames, anyOf',
  ],
  ['targets without a term', withTargets({}), 'spec.targets: found an empty object; accepted: namespaceSel'],
  [
    'exclusions alone',
    withTargets({ excludeNames: ['a'] }),
    'spec.targets: found an object; accepted: namespaceSelector, names or anyOf',
  ],
  [
    'nulls alone',
    withTargets({ names: null }),
    'spec.targets: found an empty object; accepted: namespaceSel',
  ],
  ['no names', withTargets({ names: [] }), 'spec.targets.names: found an empty list; accepted: a list of 1'],
  [
    'a name of no namespace',
    withTargets({ names: ['Team'] }),
    'spec.targets.names[0]: found "Team"; accepted: the name of a namespace, or a glob',
  ],
  [
    '101 exclusions',
    withTargets({ names: ['a'], excludeNames: Array(101).fill('b') }),
    'spec.targets.excludeNames: found a list of 101; accepted: a list of 0 to 100',
  ],
  [
    'conditions, which policies alone have',
    withTargets({ names: ['a'], matchConditions: [] }),
    'spec.targets.matchConditions: found an unknown field',
  ],
  [
    'a bad selector',
    withTargets({ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
    'spec.targets.namespaceSelector.matchExpressions[0].values: found nothing; accepted: at least one',
  ],
  [
    'a service account token',
    withTarget({ type: 'kubernetes.io/service-account-token' }),
    'spec.target.type: found "kubernetes.io/service-account-token"; accepted: a type other than',
  ],
  [
    'a bootstrap token',
    withTarget({ type: 'bootstrap.kubernetes.io/token' }),
    'spec.target.type: found "bootstrap.kubernetes.io/token"; accepted: a type other than',
  ],
  [
    'a release of Helm',
    withTarget({ type: 'helm.sh/release.v1' }),
    'spec.target.type: found "helm.sh/release.v1"; accepted: a type other than',
  ],
  [
    'a type with a blank',
    withTarget({ type: 'a\u00a0b' }),
    'accepted: the type of a Secret such as kubernetes.io/tls, or ""',
  ],
  ['an empty list of keys', keysNamed(), 'spec.target.keys: found an empty list; accepted: a list of 1 to'],
  ['101 keys', keysNamed(...Array.from({ length: 101 }, (_, index) => `k${index}`)), 'a list of 101'],
  [
    'a key twice',
    keysNamed('a', 'b', 'a'),
    'spec.target.keys[2].to: found "a" a second time; accepted: unique values; [0] has the same one',
  ],
  [
    'a key without its source',
    withTarget({ keys: [{ to: 'a' }] }),
    'spec.target.keys[0].from: found nothing',
  ],
  ['a key without a name', withTarget({ keys: [{ from: 'a' }] }), 'spec.target.keys[0].to: found nothing'],
  ...['.', '..', '..a', '', 'a b', 'a/b', 'é'].map(
    (key) => [`the key ${key}`, keysNamed(key), 'spec.target.keys[0].to: found '] as const,
  ),
  ['a key that is too long', keysNamed('k'.repeat(254)), 'found 254 characters; accepted: at most 253'],
  [
    'our mark',
    withTarget({ labels: { 'app.kubernetes.io/managed-by': 'helm' } }),
    'spec.target.labels["app.kubernetes.io/managed-by"]: must not set app.kubernetes.io/managed-by or keys of reeve.dev/',
  ],
  [
    'a label of ours',
    withTarget({ labels: { 'reeve.dev/adopt': 'true' } }),
    'spec.target.labels["reeve.dev/adopt"]: must not set app.kubernetes.io/managed-by or keys of reeve.dev/',
  ],
  [
    'a label value that cannot be',
    withTarget({ labels: { a: '-' } }),
    'spec.target.labels.a: found "-"; accepted: a label value',
  ],
  ['a label without a value', withTarget({ labels: { a: null } }), 'spec.target.labels.a: found nothing'],
  [
    'a label key that cannot be',
    withTarget({ labels: hostileLabels }),
    'spec.target.labels.__proto__: found "__proto__"; accepted: a key such as team',
  ],
  ['a text for a switch', withTarget({ immutable: 'true' }), 'found "true"; accepted: true or false'],
  [
    'an unknown end',
    { ...minimalShare, deletionPolicy: 'Keep' },
    'spec.deletionPolicy: found "Keep"; accepted: Delete or Orphan',
  ],
  [
    'fewer deletions than none',
    { ...minimalShare, maxDeletions: -1 },
    'spec.maxDeletions: found -1; accepted: a whole number from 0 to 1000000',
  ],
];
