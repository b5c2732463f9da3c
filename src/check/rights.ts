// Asks the API server whether Reeve's accounts have each right of the shipped roles.
import { shippedFolder } from '../app/shipped-files.ts';
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import { createAccessReviewer, createSelfReviewer, type ResourceAttributes } from '../kube/access-review.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { readYamlFiles, readObjects } from '../state/yaml-files.ts';
import type { Seen } from './findings.ts';

const roleFiles = {
  webhook: 'install/24-webhook.yaml',
  reconciler: 'install/20-reconciler.yaml',
  reports: 'reports/27-reconciler-reports.yaml',
} as const;

/**
 * Returns undefined when this account may not ask for the rights of the other. `self`: the user name of this process.
 * `purpose`: that of the rights, if it is not the role itself.
 */
export async function rightsSeen(
  client: KubeClient,
  role: 'webhook' | 'reconciler',
  { namespace, self }: { readonly namespace: string; readonly self: string },
  purpose: keyof typeof roleFiles = role,
): Promise<Seen | undefined> {
  const file = roleFiles[purpose];
  const rights = await shippedRights(file, namespace);
  const username = `system:serviceaccount:${namespace}:reeve-${role}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const { signal } = new AbortController();
  const [users, own] = [createAccessReviewer(client), createSelfReviewer(client)];
  const answers = await Promise.all(
    rights.map((right) =>
      self === username ? own.mayDo(right, signal) : users.mayDo({ username, groups }, right, signal),
    ),
  );
  if (answers.includes('unknown')) return undefined;
  const missing = rights.filter((_, index) => answers[index] === 'no');
  if (missing.length === 0) return {};
  const some = [
    ...missing.slice(0, maxNamed).map(namedRight),
    ...(missing.length > maxNamed ? [`and ${missing.length - maxNamed} more`] : []),
  ];
  return {
    problems: [`${username} lacks ${some.join(', ')}: apply manifests/${file} or the chart again`],
    lacked: missing.map((right) => ({ ...right, user: username })),
  };
}

/** Returns the rights that this account lacks, without those about which the API server gives no answer. */
export async function lackedRights(
  client: KubeClient,
  rights: readonly ResourceAttributes[],
): Promise<readonly ResourceAttributes[]> {
  const { signal } = new AbortController();
  const own = createSelfReviewer(client);
  const answers = await Promise.all(rights.map((right) => own.mayDo(right, signal)));
  return rights.filter((_, index) => answers[index] === 'no');
}

const maxNamed = 3;

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#self-subject-review. Empty without an answer. */
export async function ownName(client: KubeClient): Promise<string> {
  const apiVersion = 'authentication.k8s.io/v1';
  const body = { apiVersion, kind: 'SelfSubjectReview' };
  try {
    const review = await client.request({
      method: 'POST',
      path: `/apis/${apiVersion}/selfsubjectreviews`,
      body,
    });
    return String(ownMember(ownMember(ownMember(review, 'status'), 'userInfo'), 'username'));
  } catch (error) {
    if (error instanceof KubeError) return '';
    throw error;
  }
}

/** `patch namespaces/status` */
export function textOfRight({ verb, resource, subresource }: ResourceAttributes): string {
  return `${verb} ${[resource, subresource].filter((part) => part !== undefined).join('/')}`;
}

/** `get leases reeve-webhook` */
function namedRight(right: ResourceAttributes): string {
  return [textOfRight(right), right.name].filter((part) => part !== undefined).join(' ');
}

async function shippedRights(file: string, namespace: string): Promise<readonly ResourceAttributes[]> {
  const { files } = await readYamlFiles(shippedFolder(file));
  const roles = files.flatMap((each) => readObjects(each).objects).map(({ value }) => value);
  return roles.filter(isJsonObject).flatMap((role) => {
    const place = role['kind'] === 'Role' ? { namespace } : {};
    return listOf(role['rules']).flatMap((rule) => rightsOf(rule).map((right) => ({ ...right, ...place })));
  });
}

function rightsOf(rule: JsonObject): readonly ResourceAttributes[] {
  const part = (key: string): readonly string[] => textsOf(ownMember(rule, key));
  const names = part('resourceNames').length === 0 ? [undefined] : part('resourceNames');
  return part('apiGroups').flatMap((group) =>
    part('resources').flatMap((text) =>
      part('verbs').flatMap((verb) => names.map((name) => rightTo(verb, group, text, name))),
    ),
  );
}

function rightTo(verb: string, group: string, text: string, name: string | undefined): ResourceAttributes {
  const [resource = '', subresource] = text.split('/');
  return {
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(name === undefined ? {} : { name }),
  };
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
