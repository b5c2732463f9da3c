// Reads from an error answer why the API server refused a write, by the forms that its messages have.
import { ownMember } from '../../base/json.ts';
import type { Refusal } from '../../base/kube-error.ts';
import { clipped } from '../../base/text.ts';

interface Form {
  readonly by: Refusal['by'];
  readonly pattern: RegExp;
  /** True if the text cannot quote the object. */
  readonly isSafe?: true;
}

/** `secrets "x" is forbidden: `. https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go */
const forbidden = String.raw`^\S+(?: "[^"]*")? is forbidden: `;

/** Each pattern begins at the start: what follows can be chosen by a webhook or a policy. */
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

/** Gives no text of the API server about a Secret, unless the text cannot quote the Secret. */
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
