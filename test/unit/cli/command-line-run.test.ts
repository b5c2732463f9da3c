// The flags of `reeve run`: what they are without anything said, what they take, and which do not go together.
import { describe, expect, test } from 'vitest';
import { readCommand, type Command } from '../../../src/cli/commands.ts';
import { runSettings } from '../../../src/cli/commands/run.ts';
import { intentAdapters } from '../../../src/policy/intents/adapters.ts';

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Command> {
  return readCommand(['run', ...args], env);
}

test('one process has both roles by default, and the cluster is found from the environment', async () => {
  const command = await run([]);
  expect(command).toMatchObject({ positionals: [], environment: {}, mayColor: true });
  expect(command.kind === 'run' ? command.settings : command).toEqual({
    role: 'all',
    kubeconfig: undefined,
    host: '0.0.0.0',
    port: 8443,
    probesPort: 8081,
    reports: false,
    tlsCert: undefined,
    tlsKey: undefined,
    tlsCa: undefined,
    certsDir: undefined,
    serviceName: 'reeve-webhook',
    servicePort: 443,
    manageWebhooks: true,
    caLifetime: 31_536_000_000,
    certLifetime: 604_800_000,
    caSettling: 30_000,
    secretsRbacFailurePolicy: 'Ignore',
    auditSecrets: false,
    namespaceClaims: false,
    namespace: 'reeve-system',
    sharedNamespace: ['reeve-shared'],
    excludeNamespace: [],
    variable: [],
    secretName: [],
    enforcedKey: [],
    leaderElect: true,
    concurrency: 16,
    resync: 600_000,
    resourceKind: [
      'v1/ConfigMap',
      'v1/LimitRange',
      'v1/ResourceQuota',
      'v1/ServiceAccount',
      'networking.k8s.io/v1/NetworkPolicy',
    ],
    intentAdapter: ['pod-security', 'network', 'workload', 'kyverno', 'kubearmor', 'tls-scan'],
    tlsScanImage: undefined,
    teamLabel: 'team',
    drainGrace: 5000,
    evaluationBudget: 2_500_000,
    logLevel: 'info',
    traceEndpoint: undefined,
  });
});

test('each adapter of the program can be offered, and is offered by default', async () => {
  const known = intentAdapters.map(({ id }) => id);
  expect(runSettings.intentAdapter.fallback?.value).toEqual(known);
  expect(await run([`--intent-adapter=${known.join(',')}`])).toMatchObject({
    settings: { intentAdapter: known },
  });
});

describe('given values', () => {
  test.each([
    [['--leader-elect=false'], {}, { leaderElect: false }],
    [['--leader-elect'], { REEVE_LEADER_ELECT: 'false' }, { leaderElect: true }],
    [['--certs-dir=d'], { REEVE_MANAGE_WEBHOOKS: 'false' }, { manageWebhooks: false }],
    [['--shared-namespace', 'a', '--shared-namespace=b'], {}, { sharedNamespace: ['a', 'b'] }],
    [
      ['--resource-kind', 'v1/ConfigMap,apps/v1/Deployment'],
      {},
      { resourceKind: ['v1/ConfigMap', 'apps/v1/Deployment'] },
    ],
    [['--tls-cert=c', '--tls-key=k', '--tls-ca=a'], {}, { tlsCert: 'c', tlsKey: 'k', tlsCa: 'a' }],
    [['--tls-cert=c', '--tls-key=k'], {}, { tlsCa: undefined }],
    [['--tls-cert=c', '--tls-key=k', '--manage-webhooks=false'], {}, { manageWebhooks: false }],
    [['--certs-dir=d', '--manage-webhooks=false', '--cert-lifetime=1m'], {}, { certsDir: 'd' }],
    [['--role=reconciler', '--manage-webhooks=false', '--ca-lifetime=1m'], {}, { manageWebhooks: false }],
    [
      ['--ca-lifetime=3m', '--cert-lifetime=1m', '--ca-settling=10s'],
      {},
      { caLifetime: 180_000, certLifetime: 60_000, caSettling: 10_000 },
    ],
    [['--tls-cert=c', '--tls-key=k', '--role=reconciler'], {}, { role: 'reconciler' }],
    [['--resync', '1h30m'], {}, { resync: 5_400_000 }],
    [['--trace-endpoint=http://otel:4318'], {}, { traceEndpoint: 'http://otel:4318' }],
    [
      [],
      { REEVE_TRACE_ENDPOINT: 'https://otel.example.com/x' },
      { traceEndpoint: 'https://otel.example.com/x' },
    ],
    // The OpenTelemetry operator may inject these variables. Only an operator of Reeve turns tracing on.
    [[], { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318' }, { traceEndpoint: undefined }],
  ])('%j %j', async (args, env, settings) => {
    expect(await run(args, env)).toMatchObject({ kind: 'run', settings });
  });

  test('the cluster is found as kubectl and Pods find it', async () => {
    const environment = {
      KUBECONFIG: '/k',
      HOME: '/h',
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
      KUBERNETES_SERVICE_PORT: '443',
    };
    expect(await run([], { ...environment, OTHER: 'x' })).toMatchObject({ environment });
  });
});

test('the longest duration that a message names is accepted', async () => {
  expect(await run(['--resync=24h'])).toMatchObject({ settings: { resync: 86_400_000 } });
});

describe('wrong values', () => {
  test.each([
    [['--role', 'leader'], '--role: "leader" is not valid; accepted: all, webhook, reconciler'],
    [['--concurrency', '0'], '--concurrency: "0" is not valid; accepted: a whole number from 1 to 256'],
    [['--service-port', '0'], '--service-port: "0" is not valid; accepted: a whole number from 1 to 65535'],
    [
      ['--resource-kind', 'ConfigMap'],
      '--resource-kind: "ConfigMap" is not valid; accepted: version/Kind or group/version/Kind, such as v1/ResourceQuota',
    ],
    [
      ['--resync', '0s'],
      '--resync: "0s" is not valid; accepted: a duration such as 10m, more than 0 and up to 24h',
    ],
    [['--tls-ca', 'a'], '--tls-ca goes with --tls-cert'],
    ...['otel:4318', 'grpc://otel:4317', 'http://otel/?a=b', 'http://'].map((url): [string[], string] => [
      ['--trace-endpoint', url],
      `--trace-endpoint: "${url}" is not valid; accepted: http://HOST:PORT or https://HOST:PORT`,
    ]),
    // The log must not show a password.
    [
      ['--trace-endpoint', 'http://user:word@otel'],
      '--trace-endpoint: "http://…@otel" is not valid; accepted: http://HOST:PORT or https://HOST:PORT',
    ],
    [
      ['--manage-webhooks=false'],
      '--manage-webhooks=false requires --tls-cert and --tls-key, or --certs-dir: API servers learn of an authority of Reeve only from the webhook configurations that Reeve writes',
    ],
    [
      ['--ca-lifetime=167h', '--cert-lifetime=56h'],
      '--ca-lifetime must be at least three times --cert-lifetime: the last certificate of an authority must expire before the authority',
    ],
    [
      ['--cert-lifetime=1m', '--ca-settling=11s'],
      '--ca-settling must be at most a sixth of --cert-lifetime: after the loss of an authority no certificate is signed for that time, and a certificate is renewed when a third of its lifetime is left',
    ],
    [
      ['--cert-lifetime', '59s'],
      '--cert-lifetime: "59s" is not valid; accepted: a duration such as 168h, from 1m and up to 87600h',
    ],
  ])('%j', async (args, problem) => {
    expect(await run(args)).toEqual({
      kind: 'wrong',
      problems: [problem],
      hint: 'reeve run --help',
      code: 2,
    });
  });
});
