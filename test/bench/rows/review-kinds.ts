// Rows of reviews that do more than allow: a refusal, a mutation, and a Secret with a TLS pair.
import { join } from 'node:path';
import { namespaceObject, reviewJson, type Response } from '../../support/reviews.ts';
import { folderOf } from '../../support/serve-process.ts';
import { emptyServerLike, p50InTurn } from '../review-load.ts';
import type { BenchContext, Measurement, Samples } from '../row.ts';
import { startReeveServe } from '../server-process.ts';
import { tlsSecretReviews } from './secrets.ts';

const policy = `
apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: {name: teams}
spec:
  match: {names: [team-*]}
  namespaces:
    required:
      labels: {team: {pattern: "^[a-z]+$"}, env: {values: [dev, prod]}}
      annotations: {contact: {}}
    defaults:
      labels:
        pod-security.kubernetes.io/enforce: baseline
        cost-center: "\${namespaceObject.metadata.labels['team']}"
  secrets:
    tls: {keyMatchesCertificate: true, minRemaining: 168h, minRsaBits: 2048}
`;

const namespace = `
apiVersion: v1
kind: Namespace
metadata: {name: team-a, uid: d84d4ac0-ed87-5b63-aa45-89b0f3be83a4, labels: {team: shop, env: dev}}
`;

const defaults = { 'pod-security.kubernetes.io/enforce': 'baseline', 'cost-center': 'shop' };
const refused = namespaceObject('team-b', { labels: { team: 'Shop', env: 'test', ...defaults } });
const mutated = namespaceObject('team-b', {
  labels: { team: 'shop', env: 'dev' },
  annotations: { contact: 'team@example.com' },
});

const [validate, mutate] = ['/validate?timeout=10s', '/mutate?timeout=10s'] as const;

type Expectation = (response: Response) => boolean;

async function measureKind(
  context: BenchContext,
  path: string,
  bodies: readonly string[],
  expect: Expectation,
): Promise<Samples> {
  await using folder = await folderOf({ 'policies/p.yaml': policy, 'cluster/n.yaml': namespace });
  const [policies, cluster] = [join(folder.path, 'policies'), join(folder.path, 'cluster')];
  await using reeve = await startReeveServe(context, ['--policies', policies, '--cluster-state', cluster]);
  const server = { port: reeve.port, path };
  await using empty = await emptyServerLike(context, server, bodies, expect);
  return await p50InTurn(context, [server, { port: empty.port, path }], bodies);
}

/** The patch is base64 of a JSON patch. */
function patchOf({ patch = '' }: Response): readonly unknown[] {
  return JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) as readonly unknown[];
}

export const reviewKindMeasurements: readonly Measurement[] = [
  {
    rows: ['refuse-p50'],
    isQuick: true,
    measure: async (context) => {
      const hasThreeReasons: Expectation = ({ status }) => {
        const causes = status?.details['causes'];
        return Array.isArray(causes) && causes.length === 3;
      };
      return { 'refuse-p50': await measureKind(context, validate, [reviewJson(refused)], hasThreeReasons) };
    },
  },
  {
    rows: ['mutate-p50'],
    isQuick: true,
    measure: async (context) => {
      const hasTwoDefaults: Expectation = (response) => response.allowed && patchOf(response).length === 2;
      return { 'mutate-p50': await measureKind(context, mutate, [reviewJson(mutated)], hasTwoDefaults) };
    },
  },
  {
    rows: ['tls-secret-p50'],
    isQuick: true,
    measure: async (context) => {
      // Different Secrets, so that nothing kept of an earlier review helps.
      const bodies = await tlsSecretReviews(40);
      return { 'tls-secret-p50': await measureKind(context, validate, bodies, ({ allowed }) => allowed) };
    },
  },
];
