// Keeps intents about what containers run, read and may do, with KubeArmorPolicies.
import type { LabelSelector } from '../../../schema/selector.ts';
import type { IntentId } from '../../../api/intents/intent-ids.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { ObjectType } from '../../../base/object-type.ts';
import type { Intent, IntentAdapter } from '../adapter.ts';
import { intentObjectName } from '../object-names.ts';

const kubeArmorPolicyType: ObjectType = { apiVersion: 'security.kubearmor.com/v1', kind: 'KubeArmorPolicy' };

/** KubeArmor has no warnings. */
const actions = { Block: 'Block', Audit: 'Audit', Warn: 'Audit' };

/** KubeArmor knows 1 to 10. */
const severities = { Low: 1, Medium: 4, High: 7, Critical: 10 };

/** Becomes a KubeArmorPolicy. `rules` are fields of its spec. */
interface Part {
  readonly suffix?: string;
  readonly rules: JsonObject;
}

// Paths and capabilities are those of Nimbus: https://github.com/5GSEC/nimbus/blob/main/docs/adapters.md

const noChroot = programs({ '/usr/sbin': ['chroot'], '/sbin': ['chroot'] });

const noCapabilities = {
  capabilities: {
    matchCapabilities: ['sys_admin', 'sys_ptrace', 'sys_module', 'dac_read_search', 'dac_override'].map(
      (capability) => ({ capability }),
    ),
  },
};

const buildTools = ['make', 'makepkg'];
const downloaders = ['curl', 'wget'];
const packageManagers = [
  'apt',
  'apt-get',
  'dnf',
  'dpkg',
  'gdebi',
  'pacman',
  'rpm',
  'yaourt',
  'yum',
  'zypper',
];
const inSystemFolders = ['apk', 'makepkg', 'pacman', 'yaourt'];

const noTools = programs({
  '/bin': [...packageManagers, ...buildTools, ...downloaders],
  '/usr/bin': [...packageManagers, ...buildTools, ...downloaders],
  '/sbin': inSystemFolders,
  '/usr/sbin': inSystemFolders,
  '/usr/local/bin': downloaders,
});

const noToken = {
  file: { matchDirectories: [{ dir: '/run/secrets/kubernetes.io/serviceaccount/', recursive: true }] },
};

/** `readOnly` allows to read. https://docs.kubearmor.io/kubearmor/documentation/security_policy_specification#file */
const noOtherResolver = { file: { matchPaths: [{ path: '/etc/resolv.conf', readOnly: true }] } };

const noProcessFromWritableFolders = {
  process: {
    matchDirectories: ['/var/tmp/', '/tmp/', '/var/log/', '/app/logs/', '/logs/', '/etc/'].map((dir) => ({
      dir,
      recursive: true,
    })),
  },
};

const partsOf: Readonly<Partial<Record<IntentId, readonly Part[]>>> = {
  dnsManipulation: [{ rules: noOtherResolver }],
  escapeToHost: [
    { suffix: 'chroot', rules: noChroot },
    { suffix: 'capabilities', rules: noCapabilities },
    // An attacker installs first what an escape needs.
    { suffix: 'tools', rules: noTools },
  ],
  exploitPFA: [{ rules: noProcessFromWritableFolders }],
  preventExecutionFromTempOrLogsFolders: [{ rules: noProcessFromWritableFolders }],
  swDeploymentTools: [{ rules: noTools }],
  unAuthorizedSaTokenAccess: [{ rules: noToken }],
};

export const kubeArmorAdapter: IntentAdapter = {
  id: 'kubearmor',
  needs: [kubeArmorPolicyType],
  provides: [kubeArmorPolicyType],
  supports({ id }, workloads) {
    if (partsOf[id] === undefined) return false;
    const selected = armorSelector(workloads);
    return selected.ok || selected.why;
  },
  render(intent, { workloads }) {
    const selected = armorSelector(workloads);
    const selector = selected.ok ? selected.selector : {};
    return {
      resources: (partsOf[intent.id] ?? []).map(({ suffix, rules }) => ({
        ...kubeArmorPolicyType,
        metadata: { name: intentObjectName({ name: intent.name, workloads, suffix }) },
        spec: { selector, ...alertOf(intent), ...rules, action: actions[intent.action] },
      })),
    };
  },
};

/** What KubeArmor's alerts say of the intent. */
function alertOf({ name, description, severity, tags }: Intent): JsonObject {
  return {
    severity: severities[severity],
    message: description ?? `The intent is ${name}.`,
    ...(tags === undefined ? {} : { tags }),
  };
}

function programs(folders: Readonly<Record<string, readonly string[]>>) {
  const paths = Object.entries(folders).flatMap(([folder, names]) =>
    names.map((name) => ({ path: `${folder}/${name}` })),
  );
  return { process: { matchPaths: paths } };
}

// Says in KubeArmor's terms which Pods a label selector selects, where KubeArmor can say it.

/** KubeArmor's matchExpressions look like those of a LabelSelector, but their key is the word `label`. */
interface LabelsExpression {
  readonly key: 'label';
  readonly operator: 'In' | 'NotIn';
  /** As `app=nginx`. */
  readonly values: readonly string[];
}

interface ArmorSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelsExpression[];
}

type SelectedPods =
  { readonly ok: true; readonly selector: ArmorSelector } | { readonly ok: false; readonly why: string };

/** Labels with which KubeArmor selects containers and nodes. */
const ownLabels = 'kubearmor.io/';

/**
 * All matchLabels must hold, and one expression: KubeArmor takes several with In as alternatives, and confuses In with NotIn.
 * https://docs.kubearmor.io/kubearmor/documentation/security_policy_specification#matchexpressions
 */
function armorSelector(workloads: LabelSelector = {}): SelectedPods {
  const { matchLabels, matchExpressions = [] } = workloads;
  const keys = [...Object.keys(matchLabels ?? {}), ...matchExpressions.map(({ key }) => key)];
  const own = keys.find((key) => key.startsWith(ownLabels));
  if (own !== undefined) return { ok: false, why: `KubeArmor gives the label ${own} a meaning of its own` };
  const bare = matchExpressions.find(({ values = [] }) => values.length === 0);
  if (bare !== undefined) return { ok: false, why: `KubeArmor cannot select by the mere label ${bare.key}` };
  const allowed = matchExpressions.filter(({ operator }) => operator === 'In').map(pairsOf);
  const refused = matchExpressions.filter(({ operator }) => operator === 'NotIn').flatMap(pairsOf);
  if (allowed.length + Math.min(refused.length, 1) > 1)
    return { ok: false, why: 'KubeArmor cannot join several conditions with In, or In with NotIn' };
  const expressions: readonly LabelsExpression[] = [
    ...allowed.map((values) => ({ key: 'label', operator: 'In', values }) as const),
    ...(refused.length === 0 ? [] : [{ key: 'label', operator: 'NotIn', values: refused } as const]),
  ];
  return {
    ok: true,
    selector: {
      ...(matchLabels === undefined ? {} : { matchLabels }),
      ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
    },
  };
}

function pairsOf({
  key,
  values = [],
}: NonNullable<LabelSelector['matchExpressions']>[number]): readonly string[] {
  return values.map((value) => `${key}=${value}`);
}
