// The flags of `reeve run`.
import { isSubdomain } from '../api/kubernetes-names.ts';
import {
  durationPlaceholder,
  file,
  hostSetting,
  installSettings,
  parsePositiveDuration,
  processSettings,
  webhookSettings,
} from './common-settings.ts';
import {
  choiceSetting,
  durationSetting,
  integerSetting,
  listSetting,
  optionalText,
  switchSetting,
  textSetting,
} from './setting-kinds.ts';
import type { Settings, Values } from './settings.ts';
import { parseGoDuration } from '../base/time.ts';

const hookModes = ['Off', 'Ignore', 'Fail'] as const;
const roles = ['all', 'webhook', 'reconciler'] as const;
const aDayMs = 86_400_000;
const tenYearsMs = 3650 * aDayMs;
const aMinuteMs = 60_000;

/** Kinds that give a namespace limits and a start, and that nobody but their author writes. */
const usualKinds = [
  'v1/ConfigMap',
  'v1/LimitRange',
  'v1/ResourceQuota',
  'v1/ServiceAccount',
  'networking.k8s.io/v1/NetworkPolicy',
];

export const runSettings = {
  role: choiceSetting('all', roles, {
    placeholder: 'ROLE',
    help: 'What this process does: answer reviews, keep what namespaces contain, or both.',
  }),
  kubeconfig: optionalText({
    ...file,
    help: 'How to reach the cluster. Without it: as a pod of the cluster, else as kubectl does.',
  }),
  host: hostSetting('0.0.0.0'),
  ...webhookSettings,
  tlsCa: optionalText({
    ...file,
    help: 'With --tls-cert: the authority that API servers check it by; read again when it changes. Without it, somebody else writes the caBundle. In a --certs-dir it is ca.crt.',
  }),
  serviceName: textSetting('reeve-webhook', {
    placeholder: 'NAME',
    help: 'The Service by which API servers reach the webhook.',
    accepted: 'the name of a Service',
  }),
  servicePort: integerSetting(443, 1, 65_535, { placeholder: 'PORT', help: 'The port of that Service.' }),
  manageWebhooks: switchSetting(
    'Whether to apply the webhook configurations; without it, apply manifests/webhooks yourself.',
    true,
  ),
  caLifetime: durationSetting('8760h', tenYearsMs, parseLifetime, {
    ...durationPlaceholder,
    help: 'How long the authority is valid that the replicas share; without files of a certificate. Renewed at two thirds.',
    accepted: 'a duration such as 8760h, from 1m and up to 87600h',
  }),
  certLifetime: durationSetting('168h', tenYearsMs, parseLifetime, {
    ...durationPlaceholder,
    help: 'How long a serving certificate is valid that it signs. Renewed at two thirds.',
    accepted: 'a duration such as 168h, from 1m and up to 87600h',
  }),
  caSettling: durationSetting('30s', aDayMs, parsePositiveDuration, {
    ...durationPlaceholder,
    help: 'How long API servers get to learn of a new authority before it signs.',
    accepted: 'a duration such as 30s, more than 0 and up to 24h',
  }),
  secretsRbacFailurePolicy: choiceSetting('Ignore', hookModes, {
    placeholder: 'POLICY',
    help: 'Whether Secrets, Roles and RoleBindings can be written while no webhook answers; Off: they are not reviewed at all. The same for all roles.',
  }),
  ...installSettings,
  secretName: listSetting(isSubdomain, {
    placeholder: 'NAME',
    help: 'The name of a Secret that shares may make. May be given several times; without any, all names.',
    accepted: 'names of Secrets',
  }),
  leaderElect: switchSetting(
    'Whether replicas agree on one that writes; without it there must be one.',
    true,
  ),
  concurrency: integerSetting(16, 1, 256, {
    placeholder: 'NUMBER',
    help: 'How many namespaces are worked on at once.',
  }),
  resync: durationSetting('10m', aDayMs, parsePositiveDuration, {
    ...durationPlaceholder,
    help: 'How often every namespace is looked at again, though nothing was heard of it.',
    accepted: 'a duration such as 10m, more than 0 and up to 24h',
  }),
  resourceKind: listSetting(
    (text) => /^([a-z0-9.-]+\/)?v[a-z0-9]+\/[A-Z][A-Za-z0-9]*$/.test(text),
    {
      placeholder: 'KIND',
      help: 'A kind that policies may provide as contents.resources. May be given several times.',
      accepted: 'version/Kind or group/version/Kind, such as v1/ResourceQuota',
    },
    usualKinds,
  ),
  ...processSettings,
} satisfies Settings;

export type RunFlags = Values<typeof runSettings>;

/** Shorter ones could not be renewed in time. */
function parseLifetime(text: string): number | undefined {
  const value = parseGoDuration(text);
  return value === undefined || value < aMinuteMs ? undefined : value;
}
