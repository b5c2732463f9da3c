// Asks the webhooks and the admission policies that are stored about every write.
import type { KubeObject } from '../../base/kube-object.ts';
import type { SandboxStore } from '../store.ts';
import type { ReviewedWrite } from './reviewed-write.ts';
import { enforcePolicies } from './policies.ts';
import { callWebhook, type CallWebhook } from './webhook-call.ts';
import { callMutatingWebhooks, callValidatingWebhooks } from './webhooks.ts';

export interface Admission {
  /** The object that the mutating webhooks leave; for a delete they are asked too, and change nothing. Rejects with an ApiError. */
  mutate(write: ReviewedWrite): Promise<KubeObject | undefined>;
  /** First the admission policies, then the validating webhooks, side by side. Rejects with an ApiError. */
  validate(write: ReviewedWrite): Promise<void>;
}

interface AdmissionPorts {
  readonly store: SandboxStore;
  readonly call?: CallWebhook;
  readonly uid: () => string;
}

/** The configurations are read anew for every write. */
export function createAdmission(ports: AdmissionPorts): Admission {
  const webhooks = { call: callWebhook, ...ports };
  return {
    mutate: async (write) =>
      decidesAboutWrites(write) ? write.object : await callMutatingWebhooks(webhooks, write),
    validate: async (write) => {
      if (!decidesAboutWrites(write) || write.resource.kind.endsWith('WebhookConfiguration')) {
        enforcePolicies(ports.store, write);
      }
      if (!decidesAboutWrites(write)) await callValidatingWebhooks(webhooks, write);
    },
  };
}

/** Whoever has locked everybody out can undo it: no webhook is asked about those, and no policy about policies. */
function decidesAboutWrites({ resource }: ReviewedWrite): boolean {
  return resource.group === 'admissionregistration.k8s.io';
}
