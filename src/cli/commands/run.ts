// The command `reeve run`: runs on a cluster until a signal stops it.
import { isLabelKey, isReservedKey, isSubdomain } from '../../base/kubernetes-names.ts';
import { commandOf } from '../command.ts';
import {
  tlsProblems,
  durationPlaceholder,
  file,
  hostSetting,
  labelKeyAccepted,
  parseLabelKey,
  installSettings,
  parsePositiveDuration,
  processSettings,
  webhookSettings,
} from '../flags/common-settings.ts';
import {
  choiceSetting,
  durationSetting,
  integerSetting,
  listSetting,
  optionalText,
  switchSetting,
  textSetting,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import { parseGoDuration } from '../../base/time.ts';

const hookModes = ['Off', 'Ignore', 'Fail'] as const;
const roles = ['all', 'webhook', 'reconciler'] as const;
const aDayMs = 86_400_000;
const tenYearsMs = 3650 * aDayMs;
const aMinuteMs = 60_000;

/** Kinds for limits and a first setup of a namespace, whose objects no other controller changes. */
const defaultKinds = [
  'v1/ConfigMap',
  'v1/LimitRange',
  'v1/ResourceQuota',
  'v1/ServiceAccount',
  'networking.k8s.io/v1/NetworkPolicy',
];

/** The ids in src/policy/intents/adapters.ts. That file is not imported, because `--help` must not load the engine. */
const adapterIds: readonly string[] = [
  'pod-security',
  'network',
  'workload',
  'kyverno',
  'kubearmor',
  'tls-scan',
];

export const kindAccepted = 'version/Kind or group/version/Kind, such as v1/ResourceQuota';

export function isKindText(text: string): boolean {
  return /^([a-z0-9.-]+\/)?v[a-z0-9]+\/[A-Z][A-Za-z0-9]*$/.test(text);
}

export const runSettings = {
  role: choiceSetting('all', roles, {
    placeholder: 'ROLE',
    help: 'What this process does: answer reviews, keep the contents of namespaces, or both.',
  }),
  kubeconfig: optionalText({
    ...file,
    help: 'The kubeconfig. Without it: the cluster of the Pod, otherwise as kubectl finds it.',
  }),
  host: hostSetting('0.0.0.0'),
  ...webhookSettings,
  tlsCa: optionalText({
    ...file,
    help: 'With --tls-cert: the authority for the caBundle, read again when it changes. Without it, you write the caBundle yourself. In a --certs-dir it is ca.crt.',
  }),
  serviceName: textSetting('reeve-webhook', {
    placeholder: 'NAME',
    help: 'The Service of the webhook.',
    accepted: 'the name of a Service',
  }),
  servicePort: integerSetting(443, 1, 65_535, { placeholder: 'PORT', help: 'The port of that Service.' }),
  manageWebhooks: switchSetting(
    'Apply the webhook configurations. If false, apply manifests/webhooks yourself.',
    true,
  ),
  caLifetime: durationSetting('8760h', tenYearsMs, parseLifetime, {
    ...durationPlaceholder,
    help: 'The lifetime of the authority that the replicas share, if no certificate files are given. Renewed after two thirds.',
    accepted: 'a duration such as 8760h, from 1m and up to 87600h',
  }),
  certLifetime: durationSetting('168h', tenYearsMs, parseLifetime, {
    ...durationPlaceholder,
    help: 'The lifetime of a serving certificate of that authority. Renewed after two thirds.',
    accepted: 'a duration such as 168h, from 1m and up to 87600h',
  }),
  caSettling: durationSetting('30s', aDayMs, parsePositiveDuration, {
    ...durationPlaceholder,
    help: 'How long a new authority waits before it signs, so that API servers learn of it.',
    accepted: 'a duration such as 30s, more than 0 and up to 24h',
  }),
  secretsRbacFailurePolicy: choiceSetting('Ignore', hookModes, {
    placeholder: 'POLICY',
    help: 'The failurePolicy for Secrets, Roles and RoleBindings. Off: they are not reviewed at all. Use the same value for all roles.',
  }),
  ...installSettings,
  secretName: listSetting(isSubdomain, {
    placeholder: 'NAME',
    help: 'The name of a Secret that shares may create. May be given several times. Default: all names.',
    accepted: 'names of Secrets',
  }),
  enforcedKey: listSetting((key) => isLabelKey(key) && !isReservedKey(key), {
    placeholder: 'KEY',
    help: 'The key of a label or annotation whose value policies with namespaces.enforced and existing: Repair may change on existing namespaces. May be given several times. Default: none.',
    accepted: 'keys such as istio.io/rev, but none of reeve.dev',
  }),
  auditSecrets: switchSetting(
    'Judge existing Secrets by the rules of policies, page by page, every ten minutes. Needs manifests/audit-secrets.',
    false,
  ),
  reports: switchSetting(
    'Keep one Report of openreports.io in each namespace, like reeve report --write, where that kind is served. Needs manifests/reports.',
    false,
  ),
  namespaceClaims: switchSetting(
    'Create the Namespaces that NamespaceClaims ask for. Use the same value for all roles. Needs manifests/claims.',
    false,
  ),
  leaderElect: switchSetting(
    'Elect one replica to write, through a Lease. Turn it off only if exactly one replica runs.',
    true,
  ),
  concurrency: integerSetting(16, 1, 256, {
    placeholder: 'NUMBER',
    help: 'How many namespaces are reconciled at once.',
  }),
  resync: durationSetting('10m', aDayMs, parsePositiveDuration, {
    ...durationPlaceholder,
    help: 'How often every namespace is reconciled without an event.',
    accepted: 'a duration such as 10m, more than 0 and up to 24h',
  }),
  resourceKind: listSetting(
    isKindText,
    {
      placeholder: 'KIND',
      help: 'A kind that policies may provide as contents.resources. May be given several times, and replaces the default list: name all kinds, in the Deployments of both roles.',
      accepted: kindAccepted,
    },
    defaultKinds,
  ),
  intentAdapter: listSetting(
    (text) => adapterIds.includes(text),
    {
      placeholder: 'ADAPTER',
      help: 'An adapter that may render intents. May be given several times. Default: all adapters. Use the same list for all roles.',
      accepted: adapterIds.join(', '),
    },
    adapterIds,
  ),
  tlsScanImage: optionalText({
    placeholder: 'IMAGE',
    help: 'The image that checks TLS for intents with the id assessTLS. Without it, no adapter supports that id.',
    accepted: 'the name of an image',
  }),
  teamLabel: {
    ...textSetting('team', {
      placeholder: 'KEY',
      help: 'The label of a Namespace whose value is its team. reeve report groups by it.',
      accepted: labelKeyAccepted,
    }),
    parse: parseLabelKey,
  },
  ...processSettings,
} satisfies Settings;

export type RunFlags = Values<typeof runSettings>;

/** Other commands read these flags from a Deployment, so this file loads the program only when it runs. */
export const command = commandOf({
  flags: runSettings,
  outputs: {},
  check: checkedRun,
  endsBySignal: true,
  run: async ({ settings, environment }, io) => {
    const { startProgram } = await import('../../app/run.ts');
    const { findApiServer } = await import('../../kube/auth/find-api-server.ts');
    const { runUntilStopped } = await import('../running.ts');
    return await runUntilStopped(settings, io, async (log, starting) => {
      const findServer = async () => await findApiServer({ kubeconfig: settings.kubeconfig, environment });
      const program = await startProgram(settings, findServer, log, { starting });
      return {
        readyLine: `reeve runs: ${program.description}`,
        failed: program.failed,
        stop: (graceMs, signal) => program.stop(graceMs, signal),
      };
    });
  },
});

/** A shorter lifetime would not leave enough time for renewal. */
function parseLifetime(text: string): number | undefined {
  const value = parseGoDuration(text);
  return value === undefined || value < aMinuteMs ? undefined : value;
}

function checkedRun(settings: RunFlags): readonly string[] {
  const { role, tlsCert, tlsCa, certsDir } = settings;
  const problems = [...tlsProblems(settings)];
  if (tlsCa !== undefined && tlsCert === undefined) problems.push('--tls-ca goes with --tls-cert');
  const hasFiles = tlsCert !== undefined || certsDir !== undefined;
  return role === 'reconciler' || hasFiles ? problems : [...problems, ...authorityProblems(settings)];
}

/** Checks the settings of the authority that the replicas create and share. */
function authorityProblems(settings: RunFlags): readonly string[] {
  const { manageWebhooks, caLifetime, certLifetime, caSettling } = settings;
  const problems: string[] = [];
  if (!manageWebhooks) {
    problems.push(
      '--manage-webhooks=false requires --tls-cert and --tls-key, or --certs-dir: API servers learn of an authority of Reeve only from the webhook configurations that Reeve writes',
    );
  }
  if (caLifetime < 3 * certLifetime) {
    problems.push(
      '--ca-lifetime must be at least three times --cert-lifetime: the last certificate of an authority must expire before the authority',
    );
  }
  if (caSettling > certLifetime / 6) {
    problems.push(
      '--ca-settling must be at most a sixth of --cert-lifetime: after the loss of an authority no certificate is signed for that time, and a certificate is renewed when a third of its lifetime is left',
    );
  }
  return problems;
}
