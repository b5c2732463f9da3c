// Classifies the error of a write: whether to retry the write, and how to report the object.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { DoneStep } from '../../policy/plan/plan.ts';
import { KubeError, type Refusal } from '../../base/kube-error.ts';

export type WriteError =
  /** The object to change or delete no longer exists. */
  | { readonly kind: 'not-found' }
  /** The namespace is being deleted, so no work is left in it. */
  | { readonly kind: 'namespace-terminating' }
  /** A conflict, or a server that is busy or unreachable. Retry soon. */
  | {
      readonly kind: 'transient';
      readonly reason: string;
      readonly minDelayMs: number;
      /** True if there was no answer, as after a timeout. The next request would most likely wait as long. */
      readonly isUnanswered?: true;
    }
  /** The write fails in the same way until something changes. `minDelayMs`: reconcile again after this delay. */
  | {
      readonly kind: 'permanent';
      readonly reason: string;
      readonly message: string;
      readonly minDelayMs?: number;
    };

/** The limit of a delay that a server or proxy requires. */
const maxRetryAfterMs = 300_000;

const permissionMs = 30_000;

type WriteOperation = 'create' | 'change' | 'delete';

/** Names the ClusterRole of a RoleBinding in the message, and the role that the old RoleBinding still grants. */
export function classifyStepError(error: unknown, step: DoneStep): WriteError {
  if (step.kind === 'delete' || step.kind === 'release') return classifyWriteError(error, 'delete');
  if (step.kind === 'fields') return classifyWriteError(error, 'change');
  const { kind, object, live } = step;
  const role = roleOf(object);
  const operation = kind === 'create' || kind === 'replace' ? 'create' : 'change';
  const result = classifyWriteError(error, operation, role === undefined ? role : `ClusterRole ${role}`);
  const old = live?.content.kind === 'object' ? roleOf(live.content.object) : undefined;
  if (result.kind !== 'permanent' || old === undefined || old === role) return result;
  return { ...result, message: `${result.message}; the old RoleBinding stays and grants ClusterRole ${old}` };
}

function roleOf(object: KubeObject): string | undefined {
  const name = ownMember(object['roleRef'], 'name');
  return typeof name === 'string' ? name : undefined;
}

/** Throws an error of the program again, which is no KubeError. `role`: the ClusterRole of a RoleBinding. */
export function classifyWriteError(error: unknown, operation: WriteOperation, role?: string): WriteError {
  if (!(error instanceof KubeError)) throw error;
  const { code, reason, causes, refusal, retryAfterMs = 0 } = error;
  if (causes.includes('NamespaceTerminating')) return { kind: 'namespace-terminating' };
  // For a change or a deletion, the same answer means that the RoleBinding is missing.
  if (operation === 'create' && refusal?.by === 'role') return rejection(error, role);
  // For a create, 404 means a missing namespace, which its watch will report, or a missing kind, which nothing reports.
  if (code === 404)
    return operation === 'create' ? { kind: 'transient', reason, minDelayMs: 0 } : { kind: 'not-found' };
  if (code === 409) return { kind: 'transient', reason, minDelayMs: 0 };
  if (isTransient(error)) {
    const minDelayMs = Math.min(retryAfterMs, maxRetryAfterMs);
    return { kind: 'transient', reason, minDelayMs, ...(code === 0 ? { isUnanswered: true } : {}) };
  }
  return rejection(error, role);
}

/** True for no answer (0), a token that is not accepted now (401), too many requests (429), or a server error (5xx). */
function isTransient({ code, retryable }: KubeError): boolean {
  return retryable || code === 0 || code === 401 || code === 429 || code >= 500;
}

/** Tries again after a while, because nothing reports a new right, or a change of a policy, a webhook or a quota. */
function rejection({ code, reason, refusal = { by: 'unknown' } }: KubeError, role = 'this role'): WriteError {
  const lacksRight = refusal.by === 'rights' || refusal.by === 'escalation';
  const isLasting = refusal.by === 'fields' || (refusal.by === 'unknown' && code !== 403);
  return {
    kind: 'permanent',
    reason: lacksRight ? 'InsufficientPermissions' : refusal.by === 'role' ? 'RoleMissing' : 'Rejected',
    message: refusalSentence(refusal, `${code} ${reason}`, role),
    ...(isLasting ? {} : { minDelayMs: permissionMs }),
  };
}

/** Writes the refusal as a sentence about Reeve's own account. */
export function refusalSentence({ by, name = '', text }: Refusal, answer: string, role: string): string {
  const why = text === undefined ? '' : `: ${text}`;
  switch (by) {
    case 'rights':
      return `the install gives Reeve's account no right to ${name} here`;
    case 'escalation':
      return `the install gives Reeve's account no right to bind ${role}`;
    case 'role':
      return `ClusterRole ${name} does not exist`;
    case 'policy':
      return `ValidatingAdmissionPolicy ${name} refuses it${why}`;
    case 'webhook':
      return `admission webhook ${name} refuses it${why}`;
    case 'quota':
      return `ResourceQuota ${name} refuses it${why}`;
    case 'podSecurity':
      return `Pod Security ${name} refuses it${why}`;
    case 'fields':
      return `the API server finds it invalid${why}`;
    case 'unknown':
      return `the API server refuses it (${answer})${why}`;
    default:
      return by satisfies never;
  }
}
