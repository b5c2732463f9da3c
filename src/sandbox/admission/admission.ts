// Sends every write through the stored webhooks and admission policies.
import type { KubeObject } from '../../base/kube-object.ts';
import type { Kinds } from '../resource.ts';
import type { SandboxStore } from '../store.ts';
import type { ReviewedWrite } from './reviewed-write.ts';
import { enforcePolicies } from './policies.ts';
import { callWebhook, type CallWebhook } from './webhook-call.ts';
import { callMutatingWebhooks, callValidatingWebhooks } from './webhooks.ts';

export interface Admission {
  /**
   * Returns the object as the mutating webhooks leave it. They see a delete too, but cannot change it. Rejects with
   * an ApiError.
   */
  mutate(write: ReviewedWrite): Promise<KubeObject | undefined>;
  /** Applies the admission policies first, then the validating webhooks in parallel. Rejects with an ApiError. */
  validate(write: ReviewedWrite): Promise<void>;
}

interface AdmissionPorts {
  readonly store: SandboxStore;
  readonly kinds: Kinds;
  readonly call?: CallWebhook;
  readonly uid: () => string;
}

/** Reads the stored configurations for every write, so that a change takes effect at once. */
export function createAdmission(ports: AdmissionPorts): Admission {
  const webhooks = { call: callWebhook, ...ports };
  return {
    mutate: async (write) =>
      decidesAboutWrites(write) ? write.object : await callMutatingWebhooks(webhooks, write),
    validate: async (write) => {
      if (!decidesAboutWrites(write) || write.resource.kind.endsWith('WebhookConfiguration')) {
        enforcePolicies(ports, write);
      }
      if (!decidesAboutWrites(write)) await callValidatingWebhooks(webhooks, write);
    },
  };
}

/** No webhook sees these kinds and no policy sees a policy, so that a mistake in one can be undone. */
function decidesAboutWrites({ resource }: ReviewedWrite): boolean {
  return resource.group === 'admissionregistration.k8s.io';
}
