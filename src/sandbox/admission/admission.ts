// Asks the webhooks and the admission policies that are stored about every write.
import type { KubeObject } from '../../base/kube-object.ts';
import type { ObjectStore } from '../store/store.ts';
import type { AdmittedWrite } from './admitted-write.ts';
import { judgeByPolicies } from './policies.ts';
import { callWebhook, type CallWebhook } from './webhook-call.ts';
import { askMutating, askValidating } from './webhooks.ts';

export interface Admission {
  /** The object that the mutating webhooks leave; for a delete they are asked too, and change nothing. Rejects with an ApiError. */
  mutate(write: AdmittedWrite): Promise<KubeObject | undefined>;
  /** First the admission policies, then the validating webhooks, side by side. Rejects with an ApiError. */
  validate(write: AdmittedWrite): Promise<void>;
}

interface AdmissionPorts {
  readonly store: ObjectStore;
  readonly call?: CallWebhook;
  readonly uid: () => string;
}

/** The configurations are read anew for every write. */
export function createAdmission(ports: AdmissionPorts): Admission {
  const webhooks = { call: callWebhook, ...ports };
  return {
    mutate: async (write) => (decidesAboutWrites(write) ? write.object : await askMutating(webhooks, write)),
    validate: async (write) => {
      if (!decidesAboutWrites(write) || write.resource.kind.endsWith('WebhookConfiguration')) {
        judgeByPolicies(ports.store, write);
      }
      if (!decidesAboutWrites(write)) await askValidating(webhooks, write);
    },
  };
}

/** Whoever has locked everybody out can undo it: no webhook is asked about those, and no policy about policies. */
function decidesAboutWrites({ resource }: AdmittedWrite): boolean {
  return resource.group === 'admissionregistration.k8s.io';
}
