// namespaces.requesters: only these may create matched namespaces. They may `use` the policy without RBAC.
import type { RequestersSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { quoted } from '../../base/text.ts';
import type { Requester } from '../terms/review.ts';
import type { Rule } from './rule.ts';
import { serviceAccountUser } from './subjects.ts';

export function requestersRule(spec: RequestersSpec): Rule {
  const accepted = describeRequesters(spec);
  return {
    shape: 'step',
    id: 'namespaces.requesters',
    judge({ review: { operation, requester }, matchesNew }) {
      if (operation !== 'CREATE' || !matchesNew || isRequester(spec, requester)) return [];
      const found = `user ${quoted(requester.username)}`;
      return [{ path: 'request.userInfo', found, accepted, identity: undefined }];
    },
  };
}

export function isRequester(spec: RequestersSpec, requester: Requester): boolean {
  return (
    spec.users?.includes(requester.username) === true ||
    spec.groups?.some((group) => requester.groups.includes(group)) === true ||
    spec.serviceAccounts?.some((account) => serviceAccountUser(account) === requester.username) === true
  );
}

export function describeRequesters(spec: RequestersSpec): string {
  const named = [
    ...(spec.groups ?? []).map((group) => `group ${quoted(group)}`),
    ...(spec.users ?? []).map((user) => `user ${quoted(user)}`),
    ...(spec.serviceAccounts ?? []).map((account) => `service account ${quoted(account)}`),
  ];
  return named.length === 0 ? 'no user, because the policy lists no requesters' : named.join(', ');
}
