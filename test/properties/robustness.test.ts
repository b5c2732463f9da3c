// Property of decoding and deciding: any bytes lead to an answer, and never to an exception.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeReview } from '../../src/admission/decode/decode-review.ts';
import { decide } from '../../src/policy/decide/decide.ts';
import { decideClaim, stampClaim } from '../../src/policy/authors/decide-claim.ts';
import {
  isClaimReview,
  isProviderReview,
  type AnyReview,
  type Decision,
} from '../../src/policy/terms/review.ts';
import { refusalMessage, warningLines, settle } from '../../src/policy/decide/settle.ts';
import { mutate } from '../../src/policy/decide/mutate.ts';
import {
  aNamespace,
  aPolicy,
  aSnapshot,
  circumstances,
  testInstall,
  providerDecision,
} from '../support/engine.ts';
import { propertyRuns } from '../support/property-runs.ts';

const everything = aPolicy('everything', {
  match: { matchConditions: [{ name: 'c', expression: "namespaceObject.metadata.name != 'x'" }] },
  namespaces: {
    name: { pattern: '^a' },
    required: { labels: { team: { pattern: '^[a-z]+$' } }, annotations: { contact: {} } },
    defaults: { labels: { env: 'dev' }, annotations: { by: '${request.userInfo.username}' } },
    immutable: { labels: ['team'] },
    requesters: { groups: ['platform'] },
    quota: { label: 'team', max: 1 },
    deletion: { protect: true },
  },
  secrets: {
    forbiddenTypes: ['x/y'],
    maxBytes: 10,
    tls: { keyMatchesCertificate: true, minRemaining: '1h', minRsaBits: 2048 },
    dockerConfig: { allowedRegistries: ['registry.example.com'] },
    defaults: { labels: { team: "${namespaceObject.metadata.labels['team']}" } },
  },
  rbac: { allowedRoleRefs: ['ClusterRole/view'], forbiddenSubjects: ['Group/g'], forbidWildcardRules: true },
  validations: [
    {
      name: 'v',
      expression: "object.metadata.labels.team == 'red'",
      messageExpression: "'x' + object.metadata.name",
    },
  ],
  contents: {
    roleBindings: [
      {
        name: 'r',
        roleRef: { kind: 'ClusterRole', name: 'edit' },
        subjects: [{ kind: 'User', name: "${namespaceObject.metadata.labels['team']}" }],
      },
    ],
  },
});
const snapshot = aSnapshot([everything], [aNamespace({ name: 'ns', labels: { team: 'red' } })]);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('__proto__', 'constructor', 'ns', 'team', '\uD800'),
);
const junk = fc.jsonValue({ maxDepth: 3 });
const map = fc.oneof(fc.dictionary(text, text, { maxKeys: 4 }), junk);
const metadata = fc.record(
  {
    name: text,
    namespace: fc.constantFrom('ns', 'a'),
    labels: map,
    annotations: map,
    ownerReferences: fc.oneof(fc.array(fc.record({ uid: text, kind: junk })), junk),
    deletionTimestamp: junk,
  },
  { requiredKeys: [] },
);
const spec = fc.record(
  {
    match: fc.oneof(fc.record({ names: fc.constantFrom(['*'], ['n*'], ['a']) }), junk),
    targets: fc.oneof(fc.record({ names: fc.constantFrom(['*'], ['n*'], ['a']) }), junk),
    source: fc.oneof(fc.constant({ namespace: 'reeve-shared', name: 's' }), junk),
    contents: fc.oneof(
      fc.constant({ resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }] }),
      junk,
    ),
    suspend: fc.oneof(fc.boolean(), junk),
    maxDeletions: fc.oneof(fc.constantFrom(0, 20), junk),
  },
  { requiredKeys: [] },
);
const object = fc.record(
  {
    metadata: fc.oneof(metadata, junk),
    type: fc.oneof(fc.constantFrom('kubernetes.io/tls', 'kubernetes.io/dockerconfigjson'), junk),
    spec: fc.oneof(spec, junk),
    data: fc.oneof(
      fc.dictionary(fc.constantFrom('tls.crt', 'tls.key', '.dockerconfigjson', '__proto__'), text),
      junk,
    ),
    stringData: map,
    subjects: fc.oneof(fc.array(fc.record({ kind: text, name: text, namespace: junk })), junk),
    roleRef: fc.oneof(fc.record({ kind: text, name: text }), junk),
    rules: fc.oneof(fc.array(fc.record({ verbs: fc.oneof(fc.array(text), junk) })), junk),
  },
  { requiredKeys: ['metadata'] },
);
const kinds = [
  ['namespaces', '', 'Namespace'],
  ['secrets', '', 'Secret'],
  ['roles', 'rbac.authorization.k8s.io', 'Role'],
  ['rolebindings', 'rbac.authorization.k8s.io', 'RoleBinding'],
  ['namespacepolicies', 'reeve.dev', 'NamespacePolicy'],
  ['secretshares', 'reeve.dev', 'SecretShare'],
] as const;
const request = fc
  .tuple(fc.constantFrom(...kinds), fc.constantFrom('CREATE', 'UPDATE', 'DELETE'), object, object, text, junk)
  .map(([[resource, group, kind], operation, now, before, username, options]) => ({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      kind: { group, version: versionOf(group), kind },
      resource: { group, version: versionOf(group), resource },
      operation,
      namespace: resource === 'namespaces' || group === 'reeve.dev' ? '' : 'ns',
      userInfo: { username: `u${username}`, groups: [] },
      object: operation === 'DELETE' ? null : now,
      oldObject: operation === 'CREATE' ? null : before,
      options,
    },
  }));

function versionOf(group: string): string {
  return group === 'reeve.dev' ? 'v1alpha1' : 'v1';
}

function decisionOn(review: AnyReview): Decision {
  if (isClaimReview(review)) return decideClaim(review, snapshot, { ...circumstances, install: testInstall });
  return isProviderReview(review)
    ? providerDecision(review, snapshot, { ...circumstances, install: testInstall })
    : decide(review, snapshot, circumstances);
}

test('a random review of a guarded resource gets an answer', () => {
  fc.assert(
    fc.property(request, fc.constantFrom('validate' as const, 'mutate' as const), (review, endpoint) => {
      const decoded = decodeReview(Buffer.from(JSON.stringify(review)), endpoint);
      if (decoded.kind !== 'review') return;
      const verdict = settle(decisionOn(decoded.review), new Map(), decoded.review);
      if (isClaimReview(decoded.review)) stampClaim(decoded.review);
      else if (!isProviderReview(decoded.review)) mutate(decoded.review, snapshot, circumstances);
      // Only our own list and the contacts at its end have line breaks, and no character can control a terminal.
      const lines = refusalMessage(verdict, decoded.review).split(/\n(?=- |Contact: [^\n]*$)/u);
      expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}]/u);
      expect(warningLines(verdict).every((line) => line.length <= 256)).toBe(true);
    }),
    { numRuns: propertyRuns(3000) },
  );
});

test('random bytes and random JSON get an answer', () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each));
  const json = fc.jsonValue().map((each) => Buffer.from(JSON.stringify(each)));
  fc.assert(
    fc.property(fc.oneof(bytes, json), (body) => {
      expect(decodeReview(body, 'validate').kind).toMatch(/unreadable|faulty/);
    }),
  );
});
