// Answers who may do what from the roles and bindings of a state, as the API server's RBAC would.
import { type JsonObject, ownMember } from '../../base/json.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { roleRefOf, ruleAllows, rulesIn, subjectsOf, type ResourceAction } from '../../base/rbac-rules.ts';
import { mastersGroup } from '../../schema/names.ts';
import { roleBindingType, roleType, type ObjectType } from '../../base/object-type.ts';
import type { AccessAnswer } from '../../policy/terms/review.ts';
import type { ClusterState } from './cluster-state.ts';

const { apiVersion } = roleBindingType;
export const clusterRoleType = { apiVersion, kind: 'ClusterRole' } as const;
const clusterRoleBindingType = { apiVersion, kind: 'ClusterRoleBinding' } as const;
/** The kinds that the need `rbac` reads. */
export const rbacTypes: readonly ObjectType[] = [
  roleType,
  roleBindingType,
  clusterRoleType,
  clusterRoleBindingType,
];

interface RightHolder {
  /** `Group/red`, `User/alice`, `User/system:serviceaccount:shop:deployer`. */
  readonly subject: string;
  /** `ClusterRoleBinding/platform-use`, `RoleBinding/shop/deployers`. */
  readonly through: string;
}

export interface StoredAccess {
  /** `unknown` where a role or binding that could not be read may permit it. */
  mayDo(
    user: { readonly username: string; readonly groups: readonly string[] },
    action: ResourceAction,
  ): AccessAnswer;
  /** Leaves out members of system:masters, who may do everything. */
  holdersOf(action: ResourceAction): readonly RightHolder[];
  /** False if a role or binding could not be read, so that there may be more holders. */
  readonly isComplete: boolean;
}

/** The state must have been read with the need `rbac`. */
export function accessOf(state: ClusterState): StoredAccess {
  const isComplete = !state.unread.some((unread) => rbacTypes.some(({ kind }) => kind === unread.kind));
  const bindings = [...state.objects(clusterRoleBindingType), ...state.objects(roleBindingType)];
  // A right of the engine also has the path of a field. RBAC must not read that as the path of a request.
  const permitting = ({ verb, group, resource, subresource, namespace, name }: ResourceAction) => {
    const action = { verb, group, resource, subresource, namespace, name };
    return bindings.filter(
      (binding) =>
        // A RoleBinding gives rights in its own namespace alone.
        (binding.metadata.namespace ?? action.namespace) === action.namespace &&
        rulesOfBinding(binding, state).some((rule) => ruleAllows(rule, action)),
    );
  };
  return {
    isComplete,
    mayDo: ({ username, groups }, action) => {
      if (groups.includes(mastersGroup)) return 'yes';
      const names = new Set([`User/${username}`, ...groups.map((group) => `Group/${group}`)]);
      const isHeld = permitting(action).some((binding) =>
        subjectsOf(binding).some((each) => names.has(each)),
      );
      if (isHeld) return 'yes';
      return isComplete ? 'no' : 'unknown';
    },
    holdersOf: (action) =>
      permitting(action).flatMap((binding) =>
        subjectsOf(binding).map((subject) => ({ subject, through: shownBinding(binding) })),
      ),
  };
}

function rulesOfBinding(binding: KubeObject, state: ClusterState): readonly JsonObject[] {
  const { isLocal, name } = roleRefOf(binding);
  const { namespace = '' } = binding.metadata;
  return rulesIn(isLocal ? state.find(roleType, namespace, name) : state.find(clusterRoleType, '', name));
}

function shownBinding(binding: KubeObject): string {
  const { namespace } = binding.metadata;
  return [binding.kind, ...(namespace === undefined ? [] : [namespace]), nameOf(binding)].join('/');
}

// Says what a RoleBinding grants, and to whom.

const maxSubjects = 5;

/** `ClusterRole/edit for Group/on-call`. */
export function grantText(binding: unknown): string {
  const subjects = ownMember(binding, 'subjects');
  const names = Array.isArray(subjects) ? subjects.map(referenceText) : [];
  const more = names.length - maxSubjects;
  const shown = names.slice(0, maxSubjects).join(', ');
  return `${referenceText(ownMember(binding, 'roleRef'))} for ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A ServiceAccount has a namespace. */
function referenceText(reference: unknown): string {
  const parts = ['kind', 'namespace', 'name'].map((field) => ownMember(reference, field));
  return parts.filter((part) => typeof part === 'string' && part !== '').join('/');
}
