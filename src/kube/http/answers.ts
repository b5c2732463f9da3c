// Turns error answers of the API server, and everything else that can happen to a request, into a KubeError.
import { STATUS_CODES, type IncomingHttpHeaders } from 'node:http';
import { errorCode, KubeError, type Refusal } from '../../base/kube-error.ts';
import { ownMember } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';

/** Returns the error for a complete answer that the API server would not send. */
export function malformedAnswer(): KubeError {
  return new KubeError({ code: 200, reason: 'MalformedAnswer', retryable: true });
}

/** Returns the error for a missing answer. */
export function noAnswer(reason: string): KubeError {
  return new KubeError({ code: 0, reason, retryable: true });
}

/** Turns any error of a client into a KubeError. Aborted requests and broken connections reject with other classes. */
export function kubeErrorOf(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  // The default reason of a signal has a name instead of a code.
  if (error instanceof DOMException) return noAnswer(error.name);
  return noAnswer(errorCode(error) ?? 'Unknown');
}

/**
 * Reads the head and the body of an error answer. Of a request about a Secret, none of their text goes further.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
 */
export function kubeErrorOfAnswer(
  code: number,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  isAboutSecret: boolean,
): KubeError {
  const status = statusIn(body);
  const details = ownMember(status, 'details');
  const seconds = retryAfterSeconds(headers['retry-after'], ownMember(details, 'retryAfterSeconds'));
  return new KubeError({
    code,
    reason: reasonIn(status) ?? reasonOfCode(code),
    causes: causesIn(details),
    retryable: isRetryable(code),
    ...(code >= 400 && code < 500 ? { refusal: refusalIn(status, isAboutSecret) } : {}),
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }),
  });
}

/** 401 is retryable, because tokens are replaced while the program runs. */
function isRetryable(code: number): boolean {
  return code >= 500 || [401, 408, 409, 429].includes(code);
}

function statusIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    // A proxy in between may have sent a page.
    return undefined;
  }
}

/** Admission webhooks choose the reason of a refusal, and may send any text. Only a single word is accepted. */
function reasonIn(value: unknown): string | undefined {
  const reason = ownMember(value, 'reason');
  return typeof reason === 'string' && /^[A-Z][A-Za-z]{1,63}$/.test(reason) ? reason : undefined;
}

const maxCauses = 20;

function causesIn(details: unknown): readonly string[] {
  const causes = ownMember(details, 'causes');
  if (!Array.isArray(causes)) return [];
  const reasons = causes.slice(0, maxCauses).map(reasonIn);
  return [...new Set(reasons.filter((reason) => reason !== undefined))];
}

/** HTTP also allows a date in the header, which the API server never sends. */
function retryAfterSeconds(header: string | undefined, detail: unknown): number | undefined {
  const seconds = header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) : detail;
  return typeof seconds === 'number' && seconds > 0 ? seconds : undefined;
}

/** Returns the reason for a code. 503 gives `ServiceUnavailable`, as in the API server. */
function reasonOfCode(code: number): string {
  return STATUS_CODES[code]?.replaceAll(/[^A-Za-z]/g, '') ?? 'Unknown';
}

// Reads from an error answer why the API server refused a write, by the forms that its messages have.

interface Form {
  readonly by: Refusal['by'];
  readonly pattern: RegExp;
  /** True if the text cannot quote the object. */
  readonly isSafe?: true;
}

/** `secrets "x" is forbidden: `. https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go */
const forbidden = String.raw`^\S+(?: "[^"]*")? is forbidden: `;

/** Each pattern begins at the start of the message, because a webhook or a policy can choose the rest. */
const forms: readonly Form[] = [
  // https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go
  {
    by: 'rights',
    pattern: new RegExp(`${forbidden}User "[^"]*" cannot (?<verb>\\w+) resource "(?<resource>[\\w/.-]+)"`),
  },
  // https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/registry/rbac/validation/rule.go
  {
    by: 'escalation',
    pattern: new RegExp(
      `${forbidden}user "[^"]*".* is attempting to grant RBAC permissions not currently held`,
      's',
    ),
  },
  // https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/registry/rbac/rolebinding/policybased/storage.go
  // The name is that of the role, behind the resource of the binding.
  { by: 'role', pattern: /^rolebindings\.rbac\.authorization\.k8s\.io "(?<name>[^"]+)" not found$/ },
  // https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go
  {
    by: 'policy',
    pattern: new RegExp(
      `${forbidden}ValidatingAdmissionPolicy '(?<name>[\\w.-]+)' with binding '[^']+' denied request: (?<text>.*)`,
      's',
    ),
  },
  // https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go
  {
    by: 'webhook',
    pattern:
      /^admission webhook "(?<name>[\w.-]+)" denied the request(?:: (?<text>.*)| without explanation)$/s,
  },
  // https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go
  {
    by: 'quota',
    pattern: new RegExp(`${forbidden}exceeded quota: (?<name>[\\w.-]+), (?<text>[\\w./=,: -]+)$`),
    isSafe: true,
  },
  {
    by: 'quota',
    pattern: new RegExp(`${forbidden}failed quota: (?<name>[\\w.-]+): (?<text>[\\w./=,;: -]+)$`),
    isSafe: true,
  },
  // https://github.com/kubernetes/pod-security-admission/blob/v0.36.0/admission/admission.go
  {
    by: 'podSecurity',
    pattern: new RegExp(`${forbidden}violates PodSecurity "(?<name>[^"]+)": (?<text>.*)`, 's'),
  },
];

const maxMessageLength = 4096;
const maxTextLength = 400;

/** Returns text of the API server about a Secret only if that text cannot quote the Secret. */
export function refusalIn(status: unknown, isAboutSecret: boolean): Refusal {
  const given = ownMember(status, 'message');
  const message = typeof given === 'string' ? given.slice(0, maxMessageLength) : '';
  for (const { by, pattern, isSafe = false } of forms) {
    const match = pattern.exec(message);
    if (match === null) continue;
    const { name, verb, resource, text } = match.groups ?? {};
    const named = verb === undefined ? name : `${verb} ${resource ?? ''}`;
    return refusal(by, named, isAboutSecret && !isSafe ? undefined : text);
  }
  const fields = fieldsIn(status, isAboutSecret);
  if (fields !== undefined) return refusal('fields', undefined, fields);
  return refusal(
    'unknown',
    undefined,
    isAboutSecret ? undefined : message.replace(new RegExp(forbidden), ''),
  );
}

function refusal(by: Refusal['by'], name: string | undefined, text: string | undefined): Refusal {
  const line = text?.trim().replaceAll(/\s+/g, ' ') ?? '';
  return {
    by,
    ...(name === undefined ? {} : { name: clipped(name, 253) }),
    ...(line === '' ? {} : { text: clipped(line, maxTextLength) }),
  };
}

/** https://pkg.go.dev/k8s.io/apimachinery/pkg/util/validation/field#ErrorType */
const words: ReadonlyMap<unknown, string> = new Map([
  ['FieldValueRequired', 'is missing'],
  ['FieldValueNotFound', 'names what does not exist'],
  ['FieldValueDuplicate', 'is there twice'],
  ['FieldValueNotSupported', 'is not supported'],
  ['FieldValueForbidden', 'is not allowed'],
  ['FieldValueTooLong', 'is too long'],
  ['FieldValueTooMany', 'has too many entries'],
  ['FieldValueTypeInvalid', 'has the wrong type'],
]);

const maxShown = 3;

/** Returns the invalid fields. https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
function fieldsIn(status: unknown, isAboutSecret: boolean): string | undefined {
  const causes = ownMember(ownMember(status, 'details'), 'causes');
  const lines = (Array.isArray(causes) ? causes : []).flatMap((cause: unknown) =>
    lineOf(cause, isAboutSecret),
  );
  if (lines.length === 0) return undefined;
  const shown = lines.slice(0, maxShown).join('; ');
  return lines.length > maxShown ? `${shown}; and ${lines.length - maxShown} more` : shown;
}

/** The message of a cause quotes the value. The path of a field holds keys of a Secret, and never their values. */
function lineOf(cause: unknown, isAboutSecret: boolean): readonly string[] {
  const [field, message, reason] = ['field', 'message', 'reason'].map((name) => ownMember(cause, name));
  if (typeof field !== 'string' || field === '') return [];
  if (!isAboutSecret && typeof message === 'string' && message !== '') return [`${field}: ${message}`];
  return /^[\w.[\]/-]+$/.test(field) ? [`${field} ${words.get(reason) ?? 'is invalid'}`] : [];
}
