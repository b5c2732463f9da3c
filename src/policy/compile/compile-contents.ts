// Compiles the contents of a policy, and renders them for one namespace.
import { roleBindingType, type ObjectType } from './object-key.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { ContentsSpec, RoleBindingContent } from '../../api/namespace-policy/namespace-policy.ts';
import { isReservedSubject } from '../../api/namespace-policy/contents.ts';
import { reservedPrefix } from '../../api/names.ts';
import type { Path } from '../../base/problem.ts';
import { parseDuration } from '../../base/time.ts';
import type { Budget } from '../terms/budget.ts';
import { allOf, mapped, type CompileResult } from '../terms/compile-result.ts';
import { compileValue, type Rendered } from './content-template.ts';

/** A rendered object, still without its namespace and the marks of its owner. */
export interface RenderedContent {
  readonly name: string;
  readonly body: JsonObject;
  /** Milliseconds since the epoch. From then on the object is not desired. */
  readonly expiresAt?: number;
}

/** An object that each matched namespace gets. */
export interface CompiledContent {
  readonly type: ObjectType;
  render(namespaceObject: KubeObject, budget: Budget): Rendered<RenderedContent>;
}

export function compileContents(
  contents: ContentsSpec | undefined,
): CompileResult<readonly CompiledContent[]> {
  const path = ['spec', 'contents'];
  const roleBindings = contents?.roleBindings ?? [];
  const resources = contents?.resources ?? [];
  return allOf([
    ...roleBindings.map((binding, index) => compileRoleBinding(binding, [...path, 'roleBindings', index])),
    ...resources.map((resource, index) => compileResource(resource, [...path, 'resources', index])),
  ]);
}

/** Only the names of the binding and of its subjects are templates, never the role, the expiry or a kind. */
function compileRoleBinding(binding: RoleBindingContent, path: Path): CompileResult<CompiledContent> {
  const { name, subjects, roleRef } = binding;
  const templated = compileValue({ name, subjects }, path, ['kind']);
  return mapped(templated, (render) => ({
    type: roleBindingType,
    render(namespaceObject, budget) {
      const rendered = render(namespaceObject, budget);
      if (rendered.kind !== 'present') return rendered;
      const shownName = String(ownMember(rendered.value, 'name'));
      if (!isObjectName(shownName)) return noObjectName;
      const subjectsThere = subjectsOf(ownMember(rendered.value, 'subjects'));
      if (subjectsThere.some(isReserved)) return reservedSubject;
      const body = {
        ...roleBindingType,
        metadata: { name: shownName },
        roleRef: { apiGroup: rbacGroup, ...roleRef },
        subjects: subjectsThere,
      };
      const expiresAt = expiryOf(binding, namespaceObject);
      return {
        kind: 'present',
        value: { name: shownName, body, ...(expiresAt === undefined ? {} : { expiresAt }) },
      };
    },
  }));
}

const rbacGroup = 'rbac.authorization.k8s.io';

/** Adds the group that the API server defaults, so that desired and stored subjects can be compared. */
function subjectsOf(subjects: unknown): readonly unknown[] {
  return Array.isArray(subjects)
    ? subjects.map((subject: unknown) =>
        ownMember(subject, 'kind') === 'ServiceAccount' || !isJsonObject(subject)
          ? subject
          : { apiGroup: rbacGroup, ...subject },
      )
    : [];
}

/** Names written out in the policy are checked when it is written. Names from templates are known only here. */
const reservedSubject: Rendered<never> = {
  kind: 'error',
  message: `a subject has become a user or group whose name begins with ${reservedPrefix}, which Kubernetes keeps for itself`,
};

function isReserved(subject: unknown): boolean {
  return isReservedSubject({
    kind: String(ownMember(subject, 'kind')),
    name: String(ownMember(subject, 'name')),
  });
}

/** Names are segments of URL paths. https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names */
function isObjectName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);
}

const noObjectName: Rendered<never> = {
  kind: 'error',
  message: 'its name has become invalid: empty, "." or "..", or with "/" or "%"',
};

function expiryOf(
  { expiresAfter, expiresAt }: RoleBindingContent,
  { metadata }: KubeObject,
): number | undefined {
  if (expiresAt !== undefined) return Date.parse(expiresAt);
  const lifetime = expiresAfter === undefined ? undefined : parseDuration(expiresAfter);
  const { creationTimestamp } = metadata;
  if (lifetime === undefined || typeof creationTimestamp !== 'string') return undefined;
  return Date.parse(creationTimestamp) + lifetime;
}

type ResourceContent = NonNullable<ContentsSpec['resources']>[number];

function compileResource(resource: ResourceContent, path: Path): CompileResult<CompiledContent> {
  const { apiVersion, kind } = resource;
  const templated = compileValue(resource, path, ['apiVersion', 'kind']);
  return mapped(templated, (render) => ({
    type: { apiVersion, kind },
    render(namespaceObject, budget) {
      const rendered = render(namespaceObject, budget);
      if (rendered.kind !== 'present') return rendered;
      const body = isJsonObject(rendered.value) ? rendered.value : {};
      const name = String(ownMember(ownMember(body, 'metadata'), 'name'));
      if (!isObjectName(name)) return noObjectName;
      return { kind: 'present', value: { name, body } };
    },
  }));
}
