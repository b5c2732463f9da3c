// Compiles what a policy provides and renders it for one namespace.
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

/** An object as the policy writes it for one namespace, still without the namespace and the marks of its owner. */
export interface RenderedContent {
  readonly name: string;
  readonly body: JsonObject;
  /** Milliseconds since the epoch: from then on the object is not desired any more. */
  readonly expiresAt?: number;
}

/** One object that matched namespaces contain. */
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

/** Role, expiry and kinds of subjects are never templated: only what is text for people or names of theirs is. */
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

/** With the group that the API server would fill in, so that what is wanted and what is stored can be compared. */
function subjectsOf(subjects: unknown): readonly unknown[] {
  return Array.isArray(subjects)
    ? subjects.map((subject: unknown) =>
        ownMember(subject, 'kind') === 'ServiceAccount' || !isJsonObject(subject)
          ? subject
          : { apiGroup: rbacGroup, ...subject },
      )
    : [];
}

/** What a policy writes out is refused when it is written; what labels of a namespace make of it is known here only. */
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

/** As a segment of a path, which no name may leave. https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names */
function isObjectName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);
}

const noObjectName: Rendered<never> = {
  kind: 'error',
  message: 'its name has become one that no object can have: empty, "." or "..", or with "/" or "%"',
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
