// Writes requests for Secrets, Roles and RoleBindings that the rules of one policy may allow or refuse.
import type { RbacRules, SecretRules } from '../../api/namespace-policy/namespace-policy.ts';
import { missingKeys } from '../../api/secret-share/typed-keys.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import type { ExamplePolicy } from './example-namespaces.ts';
import type { SuiteRequest } from './suite.ts';

/** A request, and what it does: `creating Namespace team-a`. */
export interface Example {
  readonly title: string;
  readonly request: SuiteRequest;
  /** True for the creation of the Namespace that the other examples change. A suite has it even if it covers no rule. */
  readonly isFirst?: true;
}

const rbacGroup = 'rbac.authorization.k8s.io';

export function objectExamples({ object, compiled }: ExamplePolicy, namespace: string): readonly Example[] {
  const { secretRules, roleRules, roleBindingRules } = compiled;
  return [
    ...(secretRules.length === 0 ? [] : secretExamples(object.spec.secrets ?? {}, namespace)),
    ...(roleRules.length === 0
      ? []
      : [roleExample('that reads pods', 'get', namespace), roleExample('with a wildcard', '*', namespace)]),
    ...(roleBindingRules.length === 0 ? [] : bindingExamples(object.spec.rbac, namespace)),
  ];
}

/** A larger Secret would make the suite unreadable. */
const maxSize = 4096;

function secretExamples(rules: SecretRules, namespace: string): readonly Example[] {
  const { forbiddenTypes = [], allowedTypes = [], maxBytes = Infinity, dockerConfig, tls } = rules;
  const types = new Set([...allowedTypes, 'Opaque', ...forbiddenTypes, 'example.com/another']);
  const [registry = 'registry.example.com'] = dockerConfig?.allowedRegistries ?? [];
  const registries = [registry.replaceAll('*', 'example'), 'another-registry.example.net'];
  const secret = (title: string, type: string, stringData: Readonly<Record<string, string>>): Example => ({
    title: `creating a Secret ${title} in Namespace ${namespace}`,
    request: {
      create: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'example', namespace },
        type,
        stringData,
      },
    },
  });
  return [
    ...[...types].map((type) => secret(`of type ${type}`, type, { example: 'example' })),
    ...(maxBytes < maxSize
      ? [secret(`of ${maxBytes + 1} bytes`, 'Opaque', { example: 'x'.repeat(maxBytes + 1) })]
      : []),
    ...(dockerConfig === undefined
      ? []
      : registries.map((host) =>
          secret(`for registry ${host}`, 'kubernetes.io/dockerconfigjson', {
            '.dockerconfigjson': JSON.stringify({ auths: { [host]: {} } }),
          }),
        )),
    ...(tls === undefined
      ? []
      : [
          secret('without a certificate', 'kubernetes.io/tls', {
            'tls.crt': 'example',
            'tls.key': 'example',
          }),
        ]),
  ];
}

/** Returns a Secret with all keys that copies of the share need. */
export function sourceOf({ compiled }: ShareDefinition): Required<SuiteRequest>['create'] {
  const { source, copy } = compiled;
  const keys = copy.keys?.map(({ from }) => from) ?? missingKeys(copy.type, [])?.split(/ and | or /);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: source.name, namespace: source.namespace },
    type: copy.type || 'Opaque',
    // JSON also satisfies rules on pull secrets.
    stringData: Object.fromEntries((keys ?? ['example']).map((key) => [key, '{}'])),
  };
}

type ShareDefinition = Extract<ProviderDefinition, { readonly kind: 'SecretShare' }>;

function roleExample(title: string, verb: string, namespace: string): Example {
  return {
    title: `creating a Role ${title} in Namespace ${namespace}`,
    request: {
      create: {
        apiVersion: `${rbacGroup}/v1`,
        kind: 'Role',
        metadata: { name: 'example', namespace },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: [verb] }],
      },
    },
  };
}

function bindingExamples(rules: RbacRules | undefined, namespace: string): readonly Example[] {
  const { allowedRoleRefs = ['ClusterRole/view'], forbiddenSubjects = [] } = rules ?? {};
  const [allowed = ''] = allowedRoleRefs;
  const [forbidden] = forbiddenSubjects;
  return [
    bindingExample(allowed, 'Group/example', namespace),
    bindingExample('ClusterRole/another-role', 'Group/example', namespace),
    ...(forbidden === undefined ? [] : [bindingExample(allowed, forbidden, namespace)]),
  ];
}

/** Both are written as in a policy: `ClusterRole/view`, `ServiceAccount/argocd/controller`. */
function bindingExample(roleRef: string, subject: string, namespace: string): Example {
  const [roleKind = '', roleName = ''] = roleRef.replaceAll('*', 'example').split('/', 2);
  const [kind = '', ...names] = subject.replaceAll('*', 'example').split('/');
  const isAccount = kind === 'ServiceAccount';
  const [accountNamespace = '', account = ''] = names;
  return {
    title: `creating a RoleBinding of ${roleKind} ${roleName} to ${kind} ${names.join('/')} in Namespace ${namespace}`,
    request: {
      create: {
        apiVersion: `${rbacGroup}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'example', namespace },
        roleRef: { apiGroup: rbacGroup, kind: roleKind, name: roleName },
        subjects: [
          isAccount
            ? { kind, namespace: accountNamespace, name: account }
            : { apiGroup: rbacGroup, kind, name: names.join('/') },
        ],
      },
    },
  };
}
