// Lists the writes on which every expression is judged: usual namespaces, and hostile ones.
import type { Requester, Subject } from './subject.ts';

type Texts = Readonly<Record<string, string>>;

interface Metadata {
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly unknown[];
}

const collection = '/api/v1/namespaces';

/** A stored namespace, so that it can be changed and hold a Secret. */
export const existing = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: 'cel-parity-existing',
    labels: { team: 'blue', env: 'prod', tier: '' },
    annotations: { contact: 'ops@example.com', list: 'b,a,c', took: '1h30m', size: '1500m', count: '7' },
  },
} as const;

export const existingPath = `${collection}/${existing.metadata.name}`;

function created(name: string, metadata: Metadata = {}, requester?: Requester): Subject {
  const fullName = `cel-parity-${name.replaceAll(' ', '-')}`;
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: fullName, ...metadata } };
  return { name, method: 'POST', path: collection, body, ...(requester === undefined ? {} : { requester }) };
}

/** `undefined` removes the field. */
type Changes = Readonly<Record<string, string | undefined>>;

function updated(
  name: string,
  changes: { readonly labels?: Changes; readonly annotations?: Changes },
  more: Partial<Subject> = {},
): Subject {
  const { labels, annotations } = existing.metadata;
  const metadata = {
    ...existing.metadata,
    labels: { ...labels, ...changes.labels },
    annotations: { ...annotations, ...changes.annotations },
  };
  return { name, method: 'PUT', path: existingPath, body: { ...existing, metadata }, ...more };
}

const typical = {
  labels: {
    team: 'blue',
    env: 'prod',
    tier: 'gold',
    replicas: '3',
    'cost-center': '4711',
    'app.kubernetes.io/name': 'shop',
    'pod-security.kubernetes.io/enforce': 'restricted',
  },
  annotations: {
    contact: 'ops@example.com',
    link: 'https://docs.example.com:8443/a%20b/c?x=1&x=2&y=#top',
    list: 'b,a,c,a',
    count: '42',
    ratio: '0.25',
    flag: 'true',
    note: 'Owned by Team Blue',
    size: '1500m',
    version: '1.36.2',
    address: '10.1.2.3',
    range: '10.0.0.0/8',
    time: '2026-01-31T12:30:45.5Z',
    took: '1h30m',
  },
};

const broken = {
  labels: { team: 'Blue_1', env: 'PROD', replicas: 'three', tier: 'x.y' },
  annotations: {
    contact: 'nobody',
    link: '://example',
    list: ',,',
    count: '4 2',
    ratio: '1,5',
    flag: 'yes',
    note: '   ',
    size: '1.5x',
    version: 'v1.36',
    address: '256.1.1.1',
    range: '10.0.0.0/33',
    time: '2026-02-30T12:30:45Z',
    took: '1d',
  },
};

const extreme = {
  labels: { team: 'a', env: '0', replicas: '007', tier: '1' },
  annotations: {
    contact: 'a@b@c',
    link: 'http://[2001:db8::1]/?q=%E2%82%AC&q#',
    list: 'single',
    count: '-9223372036854775808',
    ratio: '1e308',
    flag: 'True',
    note: 'line one\nline two\ttab "quoted" \\ back',
    size: '9223372036854775807',
    version: '1.0.0-rc.1+build.5',
    address: '2001:db8::1',
    range: 'fd00::/8',
    time: '0001-01-01T00:00:00Z',
    took: '-1.5h',
  },
};

const strange = {
  annotations: {
    contact: 'ünï@exämple.com',
    link: '/only/a/path',
    list: '🎉,日本,é',
    count: '9223372036854775808',
    ratio: 'NaN',
    flag: 'TRUE',
    note: 'Straße İstanbul 🎉 日本 e\u0301',
    size: '1Ki',
    version: '01.2.3',
    address: '::ffff:10.0.0.1',
    range: '10.1.2.3/8',
    time: '2026-01-31T12:30:45+02:00',
    took: '9223372036.854775807s',
  },
};

const empty = {
  labels: { team: '', env: '', tier: '', replicas: '' },
  annotations: Object.fromEntries(Object.keys(typical.annotations).map((key) => [key, ''])),
};

/** Names of properties of every JavaScript object. */
const inherited = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf'];
const withInheritedNames = {
  labels: Object.fromEntries(inherited.map((key) => [key, key])),
  annotations: Object.fromEntries(inherited.map((key) => [`a.io/${key}`, key])),
};

const owned = {
  finalizers: ['example.com/b', 'example.com/a', 'example.com/a2'],
  ownerReferences: [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', uid: 'u-1', controller: true },
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'two', uid: 'u-2', blockOwnerDeletion: false },
    { apiVersion: 'apps/v1', kind: 'Deployment', name: 'three', uid: 'u-3' },
  ],
};

const longest = 'cel-parity-longest-'.padEnd(63, 'x');
const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-${index}`, `${index}`]));

/** Object.fromEntries creates an own member for `__proto__`. */
const secretData = Object.fromEntries(
  ['__proto__', 'constructor', 'password', 'empty'].map((key) => [key, key === 'empty' ? '' : 'dmFsdWU=']),
);

const deployer: Requester = {
  user: 'system:serviceaccount:ci:deployer',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/pod-name': ['runner-1'] },
};

const jane: Requester = {
  user: 'Jane.Doe@example.com',
  groups: ['dev', 'ops', 'dev:leads', 'system:authenticated'],
  extra: Object.fromEntries([
    ['__proto__', ['inherited']],
    ['constructor', ['one', 'two']],
    ['example.com/scopes', ['read', 'write']],
  ]),
};

export const subjects: readonly Subject[] = [
  created('bare'),
  created('typical', typical),
  created('broken', broken),
  created('extreme', extreme),
  created('strange', strange),
  created('empty', empty),
  created('inherited names', withInheritedNames),
  created('owned', owned),
  created('many labels', { labels: many, annotations: { list: Object.keys(many).join(',') } }),
  {
    name: 'longest name',
    method: 'POST',
    path: collection,
    body: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: longest, labels: { team: 'y'.repeat(63) }, annotations: { note: 'z'.repeat(70) } },
    },
  },
  {
    name: 'generated name',
    method: 'POST',
    path: collection,
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'cel-parity-generated-' } },
  },
  created('by a service account', typical, deployer),
  created('by jane', { labels: { owner: 'Jane.Doe', team: 'dev' } }, jane),
  updated('nothing changes', {}),
  updated('nothing changes, in earnest', {}, { inEarnest: true }),
  updated('a label goes', { labels: { team: undefined } }),
  updated('a label changes', { labels: { team: 'red', tier: 'gold' } }, { requester: jane }),
  updated('annotations change', {
    annotations: { count: '6', list: 'b,a,c,d', took: '2h', size: '1.5', note: 'new' },
  }),
  {
    ...updated('the status', {}),
    path: `${existingPath}/status`,
    body: { ...existing, status: { phase: 'Active' } },
  },
  { name: 'deleted', method: 'DELETE', path: existingPath },
  {
    name: 'a Secret',
    method: 'POST',
    path: `${existingPath}/secrets`,
    namespace: existing.metadata.name,
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'held', annotations: typical.annotations },
      type: 'Opaque',
      data: secretData,
    },
  },
];
