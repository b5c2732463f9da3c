// Checks that the guard and the jail of the install are in force, and reports when they are not.
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../base/kube-error.ts';
import { isAborted, pause } from '../base/abort.ts';
import { providerLabels } from '../schema/names.ts';
import { ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import type { EventRecorder } from '../base/recorded-event.ts';
import type { ReconcileContext } from './ports.ts';

export interface Protection {
  readonly binding: string;
  readonly policy: string;
  readonly file: string;
  readonly meaning: string;
  /** The label that selects the objects of the binding. Undefined: all objects. */
  readonly label?: string;
}

const guard = {
  file: 'manifests/install/40-guard.yaml',
  meaning: 'other users can change what Reeve keeps, or set its labels',
};
const jail = {
  file: 'manifests/install/41-jail.yaml',
  meaning: "nothing but RBAC limits Reeve's own accounts",
};

/** Returns the protection of one label that names a provider. */
function names(provider: string, label: string): Protection {
  return { binding: `reeve-guard-${provider}-names`, policy: 'reeve-guard-names', label, ...guard };
}

/**
 * The bindings in manifests/install. A policy without a binding does nothing:
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#what-resources-make-a-policy
 */
export const protections: readonly Protection[] = [
  { binding: 'reeve-guard', policy: 'reeve-guard', ...guard },
  names('policy', providerLabels.NamespacePolicy),
  names('share', providerLabels.SecretShare),
  names('config-map-share', providerLabels.ConfigMapShare),
  names('cluster-intent', providerLabels.ClusterSecurityIntentBinding),
  names('intent', providerLabels.SecurityIntentBinding),
  { binding: 'reeve-guard-records', policy: 'reeve-guard-records', ...guard },
  {
    binding: 'reeve-guard-claims',
    policy: 'reeve-guard-claims',
    file: guard.file,
    meaning: 'other users can name another user in a claim, or another claim on a namespace',
  },
  { binding: 'reeve-jail', policy: 'reeve-jail', ...jail },
  { binding: 'reeve-jail-owner', policy: 'reeve-jail-owner', ...jail },
];

type GuardContext = Pick<ReconcileContext, 'clock' | 'writer' | 'observer'>;

const apiVersion = 'admissionregistration.k8s.io/v1';
const policyKind = 'ValidatingAdmissionPolicy';
const bindingKind = 'ValidatingAdmissionPolicyBinding';

/** The interval of eighteen small reads. A watch would need a right to all policies of the cluster. */
const checkMs = 30_000;

/** Runs on the leader only. */
export class GuardMonitor {
  readonly #context: GuardContext;
  readonly #events: EventRecorder;
  /** Keys are the bindings. A binding is missing while its state is unknown. */
  readonly #isInForce = new Map<string, boolean>();
  #hasFailed = false;

  constructor(context: GuardContext, events: EventRecorder) {
    this.#context = context;
    this.#events = events;
  }

  /** Returns whether each binding is in force, for the metrics. */
  states(): Iterable<readonly [binding: string, isInForce: boolean]> {
    return this.#isInForce;
  }

  /** Resolves when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!isAborted(signal)) {
      await this.#check(signal);
      await pause(this.#context.clock, checkMs, signal);
    }
    this.#isInForce.clear();
  }

  async #check(signal: AbortSignal): Promise<void> {
    try {
      for (const protection of protections) this.#take(protection, await this.#read(protection, signal));
      this.#hasFailed = false;
    } catch (error) {
      if (isAborted(signal)) return;
      if (!(error instanceof KubeError)) throw error;
      // The known states stay. An install of an earlier version has no right to read these objects.
      if (!this.#hasFailed) this.#context.observer.unexpectedError('check of the guard and the jail', error);
      this.#hasFailed = true;
    }
  }

  async #read(protection: Protection, signal: AbortSignal): Promise<boolean> {
    const { policy, binding } = protection;
    return isEnforced(
      protection,
      await this.#context.writer.read({ apiVersion, kind: policyKind, name: policy }, signal),
      await this.#context.writer.read({ apiVersion, kind: bindingKind, name: binding }, signal),
    );
  }

  #take({ binding, policy, file, meaning }: Protection, isInForce: boolean): void {
    const { observer } = this.#context;
    const wasInForce = this.#isInForce.get(binding) ?? true;
    this.#isInForce.set(binding, isInForce);
    if (isInForce || !wasInForce) return;
    observer.guardMissing(policy, binding);
    const note =
      `ValidatingAdmissionPolicy ${policy} with binding ${binding} is missing or no longer denies, so ${meaning}; ` +
      `to restore it, apply ${file} of the installed version, or after an install with Helm, run helm upgrade with the same values`;
    // Has no namespace, so its events are in the namespace default, like those of policies.
    const regarding = { apiVersion, kind: bindingKind, name: binding };
    this.#events.record({ regarding, type: 'Warning', reason: 'GuardMissing', action: 'Check', note });
  }
}

/**
 * Checks the parts that a deletion or a quick edit changes, and not the expressions. A user who may write these objects has all
 * the power of Reeve anyway.
 */
export function isEnforced(
  { label }: Pick<Protection, 'label'>,
  policy: KubeObject | undefined,
  binding: KubeObject | undefined,
): boolean {
  const actions = ownMember(binding?.['spec'], 'validationActions');
  return (
    policy !== undefined &&
    ownMember(policy['spec'], 'failurePolicy') !== 'Ignore' &&
    ownMember(binding?.['spec'], 'policyName') === policy.metadata.name &&
    Array.isArray(actions) &&
    actions.includes('Deny') &&
    isDeepStrictEqual(
      limitsOf(binding),
      limitsOf({ metadata: {}, spec: { matchResources: selecting(label) } }),
    )
  );
}

function selecting(label: string | undefined): unknown {
  return label === undefined
    ? {}
    : { objectSelector: { matchExpressions: [{ key: label, operator: 'Exists' }] } };
}

/** Returns the limits that keep a binding from applying to all objects that its policy names. */
function limitsOf(binding: KubeObject | undefined): readonly unknown[] {
  const match = ownMember(binding?.['spec'], 'matchResources');
  const fields = ['namespaceSelector', 'objectSelector', 'resourceRules', 'excludeResourceRules'];
  return fields.map((field) => {
    const limit = ownMember(match, field) ?? {};
    return Object.keys(limit).length === 0 ? {} : limit;
  });
}
