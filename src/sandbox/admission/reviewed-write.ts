// Describes one write as webhooks and policies see it.
// https://pkg.go.dev/k8s.io/api/admission/v1#AdmissionRequest
import { compileSelector } from '../../schema/selector.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Bindings } from '../../cel/expression.ts';
import type { Resource, ServedSubresource } from '../resource.ts';
import type { User } from '../access/users.ts';
import type { SandboxStore } from '../store.ts';
import { storedNamespace, type RuleWithOperations, type WriteSelector } from './configurations.ts';

export interface ReviewedWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly resource: Resource;
  readonly subresource: ServedSubresource | undefined;
  readonly namespace: string | undefined;
  /** Empty for a create with generateName, and for each object of a deletecollection. */
  readonly name: string;
  /** Undefined for a delete. */
  readonly object: KubeObject | undefined;
  /** Undefined for a create. */
  readonly oldObject: KubeObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions (patches and applies) or DeleteOptions, with kind and apiVersion. */
  readonly options: JsonObject;
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Returns the name of a Namespace for the Namespace itself, and an empty text for other cluster-scoped objects. */
function namespaceNameOf({ resource, namespace, name }: ReviewedWrite): string {
  return resource.kind === 'Namespace' ? name : (namespace ?? '');
}

/** Returns the variables of expressions without namespaceObject, which is null in matchConditions. */
export function bindingsOf(write: ReviewedWrite): Bindings {
  return { object: write.object, oldObject: write.oldObject, request: admissionRequest(write) };
}

/** Returns the request without its objects, which expressions read as `object` and `oldObject`. */
export function admissionRequest(write: ReviewedWrite): JsonObject {
  const { resource, subresource, name, operation, user, dryRun, options } = write;
  const { group, version, plural } = resource;
  const kind = { group, version, kind: resource.kind };
  const requestResource = { group, version, resource: plural };
  return {
    kind,
    resource: requestResource,
    requestKind: kind,
    requestResource,
    ...(subresource === undefined ? {} : { subResource: subresource, requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespaceNameOf(write) === '' ? {} : { namespace: namespaceNameOf(write) }),
    operation,
    userInfo: user,
    dryRun,
    options,
  };
}

// Decides whether the rules and selectors of a webhook or a policy match a write.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-rules

/** Throws an ApiError when the write is in a namespace that does not exist. */
export function matchesWebhook(store: SandboxStore, webhook: WriteSelector, write: ReviewedWrite): boolean {
  return hasRule(webhook.rules, write) && isSelected(store, webhook, write);
}

/** A binding may leave out all terms. */
export function matchesResources(store: SandboxStore, match: WriteSelector, write: ReviewedWrite): boolean {
  if (hasRule(match.excludeResourceRules, write)) return false;
  const { resourceRules = [] } = match;
  return (resourceRules.length === 0 || hasRule(resourceRules, write)) && isSelected(store, match, write);
}

function hasRule(rules: readonly RuleWithOperations[] = [], write: ReviewedWrite): boolean {
  const { resource, subresource = '', operation, name } = write;
  return rules.some(
    ({ operations, apiGroups, apiVersions, resources, scope = '*', resourceNames = [] }) =>
      ['*', resource.isNamespaced ? 'Namespaced' : 'Cluster'].includes(scope) &&
      accepts(operations, operation) &&
      accepts(apiGroups, resource.group) &&
      accepts(apiVersions, resource.version) &&
      resources.some((text) => isResource(text, resource.plural, subresource)) &&
      (resourceNames.length === 0 || resourceNames.includes(name)),
  );
}

function accepts(list: readonly string[], given: string): boolean {
  return list.includes('*') || list.includes(given);
}

/** `*` matches every resource without its subresources; `namespaces/*` matches the resource and its subresources. */
function isResource(text: string, plural: string, subresource: string): boolean {
  const [resource = '', part = ''] = text.split('/', 2);
  return accepts([resource], plural) && accepts([part], subresource);
}

function isSelected(store: SandboxStore, selection: WriteSelector, write: ReviewedWrite): boolean {
  const { object, oldObject, resource, subresource } = write;
  const ofObject = compileSelector(selection.objectSelector ?? {});
  const isMeant = [object, oldObject].some((each) => each && ofObject.matches(each.metadata.labels ?? {}));
  const ofNamespace = compileSelector(selection.namespaceSelector ?? {});
  const isNamespace = resource.kind === 'Namespace';
  // A namespaceSelector never excludes other cluster-scoped objects.
  if (!isMeant || ofNamespace.keys.size === 0 || !(resource.isNamespaced || isNamespace)) return isMeant;
  // For a write of a Namespace, the new labels count.
  const itself = isNamespace && subresource === undefined ? object : undefined;
  const { metadata } = itself ?? storedNamespace(store, namespaceNameOf(write));
  return ofNamespace.matches(metadata.labels ?? {});
}
