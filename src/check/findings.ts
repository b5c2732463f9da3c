// Judges the objects of one part of an install. Each function returns problems as sentences, none if the part works.
import { X509Certificate } from 'node:crypto';
import { ownMember } from '../base/json.ts';
import { type KubeObject, nameOf } from '../base/metadata.ts';
import { isEnforced, type Protection } from '../reconcile/guard-monitor.ts';
import { conditionOf } from '../base/condition.ts';
import { expensiveCondition } from '../policy/status/provider-conditions.ts';
import { isSealBroken } from '../registration/configuration-drift.ts';
import { versionAnnotation } from '../registration/wanted-configurations.ts';
import type { LackedRight } from './missing-rules.ts';

type Problems = readonly string[];

/** The result of a look at a part of an install. */
export interface Seen {
  /** Sentences for a person. */
  readonly problems?: readonly string[];
  /** Parts that this account may not or could not look at. This is no problem, because another account can look. */
  readonly unseen?: readonly string[];
  /** Facts that a person may want to know of a part, even if the part works. */
  readonly details?: readonly string[];
  /** Rights without which a problem stays, or without which this account cannot look. */
  readonly lacked?: readonly LackedRight[];
}

/** Clocks of machines differ. */
const clockSkewMs = 30_000;

export function kindProblems(name: string, definition: KubeObject | undefined): Problems {
  if (definition === undefined) return [`CustomResourceDefinition ${name} is missing: apply the kinds again`];
  return conditionIs(definition, 'Established', 'True') ? [] : [`the API server does not serve ${name} yet`];
}

export function protectionProblems(
  protection: Protection,
  found: { readonly policy: KubeObject | undefined; readonly binding: KubeObject | undefined },
): Problems {
  const { policy, binding, meaning } = protection;
  if (isEnforced(protection, found.policy, found.binding)) return [];
  return [
    `${policy} with binding ${binding} is missing or does not deny, so ${meaning}: apply the install again`,
  ];
}

export function deploymentProblems(deployments: readonly KubeObject[]): Problems {
  if (deployments.length === 0)
    return ['no Deployment of Reeve is in the namespace: check --install-namespace'];
  return deployments.flatMap((deployment) => {
    const { spec, status, metadata } = deployment;
    const wanted = Number(ownMember(spec, 'replicas') ?? 1);
    const available = Number(ownMember(status, 'availableReplicas') ?? 0);
    const isSeen =
      Number(ownMember(status, 'observedGeneration') ?? 0) >= Number(ownMember(metadata, 'generation') ?? 0);
    const updated = Number(ownMember(status, 'updatedReplicas') ?? 0);
    if (isSeen && available >= wanted && updated >= wanted) return [];
    const counts = `${Math.min(available, updated)} of ${wanted} replicas`;
    return [
      `Deployment ${nameOf(deployment)} has ${counts} of its present version available: see its Pods and events`,
    ];
  });
}

export interface ExpectedWebhooks {
  readonly namespace: string;
  readonly version: string;
  readonly now: Date;
}

export function webhookProblems(
  kind: string,
  configuration: KubeObject | undefined,
  { namespace, version, now }: ExpectedWebhooks,
): Problems {
  const webhooks = listOf(configuration?.['webhooks']);
  if (configuration === undefined || webhooks.length === 0)
    return [`${kind} reeve is missing, so nothing is reviewed: see the log of the webhook`];
  const written = ownMember(ownMember(configuration.metadata, 'annotations'), versionAnnotation);
  return [
    ...(written === version
      ? []
      : [`${kind} reeve is of version ${String(written)}, and this program of ${version}`]),
    ...(isSealBroken(configuration)
      ? [
          `${kind} reeve was changed by others: Reeve repairs it within seconds, unless no replica holds Lease reeve-webhook`,
        ]
      : []),
    ...webhooks.flatMap((webhook) => {
      const name = String(ownMember(webhook, 'name'));
      const config = ownMember(webhook, 'clientConfig');
      const place = ownMember(ownMember(config, 'service'), 'namespace');
      if (place !== namespace) return [`webhook ${name} leads to namespace ${String(place)}`];
      const problem = bundleProblem(ownMember(config, 'caBundle'), now);
      return problem === undefined ? [] : [`webhook ${name} ${problem}`];
    }),
  ];
}

function bundleProblem(bundle: unknown, now: Date): string | undefined {
  if (typeof bundle !== 'string' || bundle === '') return 'has no authority, so API servers cannot call it';
  const blocks = Buffer.from(bundle, 'base64')
    .toString('latin1')
    .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  try {
    const isValid = (blocks ?? []).some((block) => {
      const { validFromDate, validToDate } = new X509Certificate(block);
      return validFromDate <= now && now < validToDate;
    });
    return isValid ? undefined : 'has no authority that is valid now, so API servers cannot call it';
  } catch {
    return 'has an authority that cannot be read, so API servers cannot call it';
  }
}

export function leaseProblems(name: string, lease: KubeObject | undefined, now: Date): Problems {
  const spec = lease?.['spec'];
  const holder = ownMember(spec, 'holderIdentity');
  const seconds = Number(ownMember(spec, 'leaseDurationSeconds') ?? 0);
  const renewed = Date.parse(String(ownMember(spec, 'renewTime')));
  const isHeld = typeof holder === 'string' && holder !== '';
  if (isHeld && renewed + seconds * 1000 + clockSkewMs >= now.getTime()) return [];
  return [`no replica holds Lease ${name}, so none writes: see the log of ${name}`];
}

/** A provider's own status says what is wrong, and what to do. */
export function providerProblems(kind: string, providers: readonly KubeObject[]): Problems {
  return providers
    .filter((provider) => !conditionIs(provider, 'Ready', 'True'))
    .map((provider) => {
      const ready = conditionsOf(provider).find((each) => ownMember(each, 'type') === 'Ready');
      const reason = ownMember(ready, 'reason');
      const why = typeof reason === 'string' ? reason : 'it has no status yet';
      const { name = '', namespace } = provider.metadata;
      const place = namespace === undefined ? '' : ` -n ${namespace}`;
      const describe = `kubectl describe ${kind.toLowerCase()} ${name}${place}`;
      return `${kind} ${shownName(provider)} is not ready (${why}): see ${describe}`;
    });
}

/** Names the policies that cost too much, with their cost. They work, so their cost is no problem. */
export function costDetails(kind: string, providers: readonly KubeObject[]): readonly string[] {
  return providers.flatMap((provider) => {
    const found = conditionOf(provider.status, expensiveCondition);
    return found?.status === 'True' ? [`${kind} ${shownName(provider)}: ${found.message}`] : [];
  });
}

function shownName({ metadata: { name = '', namespace } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function conditionsOf({ status }: KubeObject): readonly unknown[] {
  return listOf(ownMember(status, 'conditions'));
}

function conditionIs(object: KubeObject, type: string, status: string): boolean {
  return conditionsOf(object).some(
    (each) => ownMember(each, 'type') === type && ownMember(each, 'status') === status,
  );
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
