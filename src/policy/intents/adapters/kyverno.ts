// Keeps intents for selected Pods and for Deployments, with Kyverno's Policies.
//
// The fields are those of Kyverno 1.13 and later, where each rule has its own action:
// https://release-1-13-0.kyverno.io/docs/writing-policies/validate/#failure-action
import type { LabelSelector } from '../../../schema/selector.ts';
import { defaultParams } from '../../../api/intents/intent-ids.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { ObjectType } from '../../../base/object-type.ts';
import type { Intent, IntentAdapter, Support } from '../adapter.ts';
import { intentObjectName } from '../object-names.ts';

const kyvernoPolicyType: ObjectType = { apiVersion: 'kyverno.io/v1', kind: 'Policy' };

export const kyvernoAdapter: IntentAdapter = {
  id: 'kyverno',
  needs: [kyvernoPolicyType],
  provides: [kyvernoPolicyType],
  supports({ id, action }, workloads): Support {
    switch (id) {
      case 'cocoWorkload':
        return action === 'Block' || 'Kyverno sets the runtime class, and reports no Deployment without it';
      case 'escapeToHost':
        return workloads !== undefined || 'for all Pods, the labels of the adapter pod-security are enough';
      case 'unAuthorizedSaTokenAccess':
        return (
          workloads !== undefined || 'for all Pods, the adapter workload is enough, with the action Block'
        );
      default:
        return false;
    }
  },
  render(intent, { workloads }) {
    switch (intent.id) {
      case 'cocoWorkload':
        return { resources: runtimeClassPolicies(intent, workloads) };
      case 'escapeToHost':
        return { resources: [podPolicy(intent, workloads, 'escape-to-host', podSecurityRule(intent))] };
      default:
        return { resources: [podPolicy(intent, workloads, 'service-account-token', tokenRule)] };
    }
  },
};

/** Kyverno's refusals name the rule. */
function podPolicy(intent: Intent, workloads: LabelSelector | undefined, name: string, rule: JsonObject) {
  const { action } = intent;
  return policyOf(intent, workloads, {
    // With it, the report of an audit is also a warning for the user.
    emitWarning: action === 'Warn',
    rules: [
      {
        name,
        match: matching(['Pod'], workloads),
        validate: { failureAction: action === 'Block' ? 'Enforce' : 'Audit', ...rule },
      },
    ],
  });
}

function podSecurityRule({ params }: Intent): JsonObject {
  return { podSecurity: { level: params?.psaLevel ?? defaultParams.psaLevel, version: 'latest' } };
}

/**
 * Judges the volumes: the API server has added the one with the token before Kyverno is asked, unless Pod or ServiceAccount opt
 * out. A token with another audience is of no use against the API server.
 * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-token-volume
 */
const tokenRule: JsonObject = {
  cel: {
    expressions: [
      {
        expression:
          '!has(object.spec.volumes) || object.spec.volumes.all(volume, !has(volume.projected) || !has(volume.projected.sources) || volume.projected.sources.all(source, !has(source.serviceAccountToken) || has(source.serviceAccountToken.audience)))',
        message:
          'the Pod must not get a token for the API server: set automountServiceAccountToken to false in the Pod or its ServiceAccount',
      },
    ],
  },
};

/**
 * Two Policies: Kyverno refuses the one for existing Deployments while its background controller may not update them.
 * https://release-1-13-0.kyverno.io/docs/writing-policies/mutate/#mutate-existing-resources
 */
function runtimeClassPolicies(intent: Intent, workloads: LabelSelector | undefined) {
  const runtimeClassName = intent.params?.runtimeClass ?? defaultParams.runtimeClass;
  const patchStrategicMerge = { spec: { template: { spec: { runtimeClassName } } } };
  const selector = workloads === undefined ? {} : { selector: workloads };
  const existing = {
    name: 'existing-deployments',
    // Kyverno also needs an object that starts the rule. This one is in each namespace, and hardly ever written.
    match: { any: [{ resources: { kinds: ['ServiceAccount'], names: ['default'] } }] },
    mutate: {
      mutateExistingOnPolicyUpdate: true,
      targets: [{ apiVersion: 'apps/v1', kind: 'Deployment', ...selector }],
      patchStrategicMerge,
    },
  };
  const later = {
    name: 'new-deployments',
    match: matching(['Deployment'], workloads),
    mutate: { patchStrategicMerge },
  };
  return [
    policyOf(intent, workloads, { rules: [later] }, 'new'),
    policyOf(intent, workloads, { rules: [existing] }, 'existing'),
  ];
}

/** A rule with a selector for Pods is not copied to the kinds that create Pods: https://release-1-13-0.kyverno.io/docs/writing-policies/autogen/ */
function matching(kinds: readonly string[], workloads: LabelSelector | undefined) {
  return {
    any: [{ resources: { kinds, ...(workloads === undefined ? {} : { selector: workloads }) } }],
  };
}

function policyOf(
  { name, severity, description }: Intent,
  workloads: LabelSelector | undefined,
  spec: JsonObject,
  suffix?: string,
) {
  const annotations = {
    'policies.kyverno.io/severity': severity.toLowerCase(),
    // Kyverno would look for variables between two braces.
    ...(description === undefined || description.includes('{{')
      ? {}
      : { 'policies.kyverno.io/description': description }),
  };
  return {
    ...kyvernoPolicyType,
    metadata: { name: intentObjectName({ name, workloads, suffix }), annotations },
    spec,
  };
}
