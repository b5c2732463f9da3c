// What the expressions are judged on: a write, which is sent as a dry run for each policy that shall judge it.
import type { ApiRequest } from './api-client.ts';

export interface Requester {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Subject {
  readonly name: string;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** For a namespaced object: the name of its namespace. */
  readonly namespace?: string;
  readonly requester?: Requester;
  /** A write that changes nothing may be done in earnest. */
  readonly inEarnest?: true;
}

/** Which policies judge a request stands where no expression looks. */
export const judgeKey = 'cel-parity.reeve.dev/judge';

const administrator: Requester = { user: 'cel-parity-administrator' };

export function requestOf(subject: Subject, judge: string): ApiRequest {
  const { user, groups = [], extra = {} } = subject.requester ?? administrator;
  const extras = [...Object.entries(extra), [judgeKey, [judge]] as const];
  return {
    method: subject.method,
    path: subject.inEarnest === true ? subject.path : `${subject.path}?dryRun=All`,
    body: subject.body,
    headers: {
      'impersonate-user': user,
      // RBAC lets the group do everything.
      'impersonate-group': [...groups, 'system:masters'],
      ...Object.fromEntries(
        extras.map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, values]),
      ),
    },
  };
}
