// Turns rights that an account lacks into few RBAC rules, which can be copied into a role.
import type { ResourceAttributes } from '../kube/access-review.ts';

export interface MissingRule {
  /** The user that lacks the right. Undefined for the user of this command. */
  readonly user?: string;
  /** The namespace of the Role that should have the rule. Undefined for a ClusterRole. */
  readonly namespace?: string;
  /** https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources */
  readonly rule: {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  };
}

/** A right that a user lacks. `user` is undefined for the user of this command. */
export interface LackedRight extends ResourceAttributes {
  readonly user?: string;
}

/** Joins rules that differ in one list only, so that the result gives the same rights and no more. */
export function missingRules(lacked: readonly LackedRight[]): readonly MissingRule[] {
  const fields = ['verbs', 'resourceNames', 'resources'] as const;
  return fields.reduce<readonly MissingRule[]>((missing, field) => {
    // A rule without names covers all names, and must stay without names.
    const groups = Map.groupBy(missing, ({ rule, ...place }) =>
      JSON.stringify([place, { ...rule, [field]: field in rule }]),
    );
    return [...groups.values()].flatMap(([first, ...others]) => {
      if (first === undefined || others.length === 0) return first ?? [];
      const values = [first, ...others].flatMap(({ rule }) => rule[field] ?? []);
      return { ...first, rule: { ...first.rule, [field]: [...new Set(values)] } };
    });
  }, lacked.map(missingRule));
}

function missingRule({ user, namespace, ...right }: LackedRight): MissingRule {
  const { group, resource, subresource, name, verb } = right;
  return {
    ...(user === undefined ? {} : { user }),
    ...(namespace === undefined ? {} : { namespace }),
    rule: {
      apiGroups: [group],
      resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
      ...(name === undefined ? {} : { resourceNames: [name] }),
      verbs: [verb],
    },
  };
}
