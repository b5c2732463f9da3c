// Writes an answer as an AdmissionReview. https://pkg.go.dev/k8s.io/api/admission/v1#AdmissionResponse
import { group } from '../api/names.ts';
import type { Answer, Refusal } from './answer.ts';
import { reviewApiVersion, reviewKind } from './decode/decode-envelope.ts';
import type { Subject } from './decode/subject.ts';

export function renderReview(subject: Subject, answer: Answer): string {
  const { refusal, patch, warnings, auditAnnotations } = answer;
  return JSON.stringify({
    apiVersion: reviewApiVersion,
    kind: reviewKind,
    response: {
      uid: subject.uid,
      allowed: refusal === undefined,
      ...(refusal === undefined ? {} : { status: statusOf(refusal, subject) }),
      // Patch and patchType come together or not at all: one without the other is a failed call.
      ...(patch.length === 0 ? {} : { patchType: 'JSONPatch', patch: base64(JSON.stringify(patch)) }),
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(Object.keys(auditAnnotations).length === 0 ? {} : { auditAnnotations }),
    },
  });
}

function statusOf({ code, reason, message, causes }: Refusal, subject: Subject): unknown {
  const details = {
    ...(subject.name === '' ? {} : { name: subject.name }),
    ...kindOf(subject),
    ...(causes.length === 0 ? {} : { causes }),
  };
  return { metadata: {}, status: 'Failure', message, reason, code, details };
}

/** `kind` of the details is the resource, as in the answers of the API server itself. */
function kindOf({ resource }: Subject): { readonly group?: string; readonly kind?: string } {
  const [kind = ''] = resource.split('/');
  switch (kind) {
    case 'other':
      return {};
    case 'roles':
    case 'rolebindings':
      return { group: 'rbac.authorization.k8s.io', kind };
    case 'namespacepolicies':
    case 'secretshares':
      return { group, kind };
    default:
      return { kind };
  }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
