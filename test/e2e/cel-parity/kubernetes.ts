// Gets verdicts from Kubernetes: stores judges, sends them requests, and deletes them.
import type { ApiClient } from './api-client.ts';
import { askedFor } from './judge.ts';
import type { Judge, Validation } from './judge.ts';
import type { ResultType } from './reeve.ts';
import { requestOf } from './subject.ts';
import type { Subject } from './subject.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';
const policies = `/apis/${apiVersion}/validatingadmissionpolicies`;
const bindings = `/apis/${apiVersion}/validatingadmissionpolicybindings`;
const lastWarning = 'end';

export async function appoint(client: ApiClient, { name, validations }: Judge): Promise<void> {
  const all = [...validations, { expression: 'false', message: lastWarning }];
  await client.mustSend({ method: 'POST', path: policies, body: policyOf(name, all) });
  const spec = { policyName: name, validationActions: ['Warn'] };
  const binding = { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec };
  await client.mustSend({ method: 'POST', path: bindings, body: binding });
}

/** Deletes the judge, even one that an earlier run has left. */
export async function dismiss(client: ApiClient, { name }: Judge): Promise<void> {
  for (const path of [`${bindings}/${name}`, `${policies}/${name}`]) {
    const { status, body } = await client.send({ method: 'DELETE', path });
    if (status !== 200 && status !== 404) throw new Error(`${path}: ${JSON.stringify(body)}`);
  }
}

/** Returns verdicts by question; undefined while the policy is not in force. */
export async function ask(
  client: ApiClient,
  judge: Judge,
  subject: Subject,
): Promise<ReadonlyMap<string, string> | undefined> {
  const answer = await client.mustSend(requestOf(subject, judge.name));
  const head = `Validation failed for ValidatingAdmissionPolicy '${judge.name}' with binding '${judge.name}': `;
  const own = answer.warnings.filter((text) => text.startsWith(head)).map((text) => text.slice(head.length));
  const warnings = new Set(own);
  if (!warnings.has(lastWarning)) return undefined;
  return new Map(judge.questions.map((question, index) => [question, judge.read(warnings, index)]));
}

/** Returns the expressions that the API server refuses to store. */
export async function refusedThere(
  client: ApiClient,
  sources: readonly string[],
  result: ResultType,
): Promise<ReadonlySet<string>> {
  const field = result === 'bool' ? 'expression' : 'messageExpression';
  const validations = sources.map((source) => ({ expression: 'false', [field]: source }));
  const body = policyOf('cel-refused', validations);
  const answer = await client.send({ method: 'POST', path: `${policies}?dryRun=All`, body });
  if (answer.status === 201) return new Set();
  const { details } = answer.body as { readonly details?: { readonly causes?: readonly Cause[] } };
  if (answer.status !== 422 || details?.causes === undefined) throw new Error(JSON.stringify(answer.body));
  return new Set(details.causes.map((cause) => sources[indexOf(cause, field)] ?? ''));
}

interface Cause {
  readonly field: string;
}

function indexOf(cause: Cause, field: string): number {
  const [, index, found] = /^spec\.validations\[(\d+)\]\.(\w+)$/.exec(cause.field) ?? [];
  if (index === undefined || found !== field) throw new Error(JSON.stringify(cause));
  return Number(index);
}

/** Returns a policy that judges only requests with its name. */
function policyOf(name: string, validations: readonly Validation[]): unknown {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: ['namespaces', 'namespaces/status', 'secrets'],
  };
  const spec = {
    failurePolicy: 'Ignore',
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'asked', expression: askedFor(name) }],
    validations,
  };
  return { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec };
}
