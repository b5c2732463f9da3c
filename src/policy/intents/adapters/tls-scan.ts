// Keeps `assessTLS` with a CronJob that runs the scanner k8tls: https://github.com/kubearmor/k8tls
import { defaultParams } from '../../../api/intents/intent-ids.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { ObjectType } from '../../../base/object-type.ts';
import type { Intent, IntentAdapter } from '../adapter.ts';
import { intentObjectName } from '../object-names.ts';

const cronJobType: ObjectType = { apiVersion: 'batch/v1', kind: 'CronJob' };
const configMapType: ObjectType = { apiVersion: 'v1', kind: 'ConfigMap' };

/** A Job adds 11 characters: https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#job-creation */
const longestName = 52;

const temporaryFolder = '/tmp';
const addressesFolder = '/etc/tls-scan';
const addressesKey = 'addresses';
const scannerFolder = '/home/k8tls';

/**
 * Finds the Services of the namespace by the variables that the kubelet sets, so the Pod needs no token. Those of the API server
 * are in each namespace and are left out. A line for the scanner is `address:port name`.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const script = [
  `cd ${temporaryFolder}`,
  // The scanner reads this file in a folder `config` of the working directory.
  `mkdir -p config && ln -sf ${scannerFolder}/fips-140-3.json config/`,
  String.raw`env | sed -n '/^KUBERNETES_PORT_/d; s#^\(.*\)_PORT_[0-9]*_TCP=tcp://\(.*\)$#\2 \L\1#p' | sort > addresses`,
  `if [ -f ${addressesFolder}/${addressesKey} ]; then cat ${addressesFolder}/${addressesKey} >> addresses; fi`,
  // The table for people is printed by the scanner itself.
  `${scannerFolder}/tlsscan --infile addresses && cat report.json`,
].join('\n');

export const tlsScanAdapter: IntentAdapter = {
  id: 'tls-scan',
  needs: [],
  lacks: ({ tlsScanImage }) =>
    tlsScanImage === undefined
      ? 'the installation names no image of a scanner (--tls-scan-image)'
      : undefined,
  provides: [cronJobType, configMapType],
  // A scan reports, whatever the action: there is nothing to block.
  supports({ id }, workloads) {
    if (id !== 'assessTLS') return false;
    return workloads === undefined || 'a scan asks Services, and cannot select Pods';
  },
  render(intent, { settings, isClusterWide }) {
    const name = intentObjectName({ name: intent.name, workloads: undefined, maxLength: longestName });
    const { externalAddresses = [], namespace } = intent.params ?? {};
    const addresses = externalAddresses.length === 0 ? undefined : externalAddresses;
    return {
      resources: [
        {
          ...cronJobType,
          metadata: { name },
          spec: cronJobSpec(intent, podSpec(settings.tlsScanImage ?? '', addresses && name)),
        },
        ...(addresses === undefined ? [] : [configMap(name, addresses)]),
      ],
      // A tenant's binding scans its own namespace only.
      ...(isClusterWide && namespace !== undefined ? { onlyIn: namespace } : {}),
    };
  },
};

/** Each line names the address twice: the second one is its name in the report. */
function configMap(name: string, addresses: readonly string[]) {
  const lines = addresses.map((address) => `${address} ${address}\n`);
  return { ...configMapType, metadata: { name }, data: { [addressesKey]: lines.join('') } };
}

function cronJobSpec({ params }: Intent, pod: JsonObject): JsonObject {
  return {
    schedule: params?.schedule ?? defaultParams.schedule,
    concurrencyPolicy: 'Forbid',
    startingDeadlineSeconds: 3600,
    successfulJobsHistoryLimit: 1,
    failedJobsHistoryLimit: 1,
    jobTemplate: {
      spec: {
        backoffLimit: 1,
        activeDeadlineSeconds: 3600,
        // The log of the Pod is the report. It can be read for a week.
        ttlSecondsAfterFinished: 604_800,
        template: { spec: pod },
      },
    },
  };
}

/** Meets the level restricted: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted */
function podSpec(image: string, addressesMap: string | undefined): JsonObject {
  const mounts = [{ name: 'tmp', mountPath: temporaryFolder }];
  const volumes: readonly JsonObject[] = [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }];
  const addresses =
    addressesMap === undefined ? [] : [{ name: 'addresses', mountPath: addressesFolder, readOnly: true }];
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: true,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'scan',
        image,
        command: ['/bin/sh', '-c', script],
        env: [
          { name: 'CERT_WARN_BEFORE_DAYS', value: '30' },
          { name: 'TABLED_YAML', value: `${scannerFolder}/tabled.yaml` },
        ],
        resources: {
          requests: { cpu: '50m', memory: '64Mi' },
          limits: { cpu: '500m', memory: '256Mi' },
        },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [...mounts, ...addresses],
      },
    ],
    volumes: [
      ...volumes,
      ...(addressesMap === undefined ? [] : [{ name: 'addresses', configMap: { name: addressesMap } }]),
    ],
  };
}
