// namespaces.requesters: only these may create matched namespaces. They may `use` the policy without RBAC.
import { quoted } from '../base/text.ts';
import { list, object, text, type Infer } from '../schema/schema.ts';
import { ruleForm, type Requester, type Rule } from './rule.ts';
import { serviceAccountUser } from './subjects.ts';

const field = object({
  description:
    'The only users who may create matched namespaces. They may also use this policy without an RBAC rule, which means: change a namespace so that the policy starts or stops matching it. Cluster administrators may use the policy too, but may create matched namespaces only if they are listed here.',
  fields: {
    groups: names('Groups, by their exact names. Example: [platform].', 'A group.'),
    users: names('Users, by their exact names. Example: [alice@example.com].', 'A user.'),
    serviceAccounts: list({
      description: 'Service accounts as namespace/name. Example: [argocd/argocd-application-controller].',
      items: text({
        description: 'A service account.',
        maxLength: 317,
        pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
        accepted: 'namespace/name of a service account',
      }),
      maxItems: 100,
      unique: 'set',
    }),
  },
  rules: [
    {
      accepted: 'at least one group, user or service account',
      must: 'have',
      cel: '(has(self.groups) && self.groups.size() > 0) || (has(self.users) && self.users.size() > 0) || (has(self.serviceAccounts) && self.serviceAccounts.size() > 0)',
      offender: ({ groups = [], users = [], serviceAccounts = [] }) =>
        groups.length + users.length + serviceAccounts.length > 0 ? undefined : [],
    },
  ],
});

function names(description: string, item: string) {
  return list({
    description,
    items: text({ description: item, minLength: 1, maxLength: 512 }),
    maxItems: 100,
    unique: 'set',
  });
}

export type RequestersSpec = Infer<typeof field>;

export const requesters = ruleForm({
  id: 'namespaces.requesters',
  judges: 'namespaces',
  field,
  operations: ['CREATE'],
  readsSender: true,
  judgedWhen: 'a namespace is created',
  compile: requestersRule,
  examples: ({ users = [], groups = [], serviceAccounts = [] }) => {
    const [group] = groups;
    const [as = 'example-user'] = [
      ...users,
      ...serviceAccounts.map((account) => `serviceaccount:${account}`),
    ];
    return {
      usual: { sender: group === undefined ? { as } : { as: 'example-user', groups: [group] } },
      writes: [{ title: 'as another user', sender: { as: 'another-user' } }],
    };
  },
});

function requestersRule(spec: RequestersSpec): Rule {
  const accepted = describeRequesters(spec);
  const compared = (username: string) => ({
    path: 'request.userInfo',
    found: `user ${quoted(username)}`,
    accepted,
  });
  return {
    shape: 'step',
    judge({ review: { operation, requester }, matchesNew }) {
      if (operation !== 'CREATE' || !matchesNew || isRequester(spec, requester)) return [];
      return [{ ...compared(requester.username), identity: undefined }];
    },
    compared: (_, { operation, username }) => (operation === 'CREATE' ? [compared(username)] : []),
  };
}

export function isRequester(spec: RequestersSpec, requester: Requester): boolean {
  return (
    spec.users?.includes(requester.username) === true ||
    spec.groups?.some((group) => requester.groups.includes(group)) === true ||
    spec.serviceAccounts?.some((account) => serviceAccountUser(account) === requester.username) === true
  );
}

function describeRequesters(spec: RequestersSpec): string {
  return [
    ...(spec.groups ?? []).map((group) => `group ${quoted(group)}`),
    ...(spec.users ?? []).map((user) => `user ${quoted(user)}`),
    ...(spec.serviceAccounts ?? []).map((account) => `service account ${quoted(account)}`),
  ].join(', ');
}
