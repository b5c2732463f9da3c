// Says which names, subjects and labels of provided objects Kubernetes accepts.
import { isReservedSubject } from '../../api/namespace-policy/contents.ts';
import { isLabelValue, isNamespaceName, isSubdomain } from '../../schema/kubernetes-names.ts';
import type { RoleBindingContent } from '../../api/namespace-policy/namespace-policy.ts';
import { reservedPrefix } from '../../schema/names.ts';
import type { Path } from '../../base/problem.ts';

export interface TextCheck {
  readonly accepts: (text: string) => boolean;
  readonly accepted: string;
}

/** Returns the check of the text at a path within a content; undefined for text that can be anything. */
export type TextChecks = (field: Path) => TextCheck | undefined;

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names */
const pathSegment: TextCheck = {
  accepts: (name) => name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name),
  accepted: 'a name that is not empty, not "." or "..", and has no "/" or "%"',
};

const subdomain: TextCheck = {
  accepts: isSubdomain,
  accepted: 'at most 253 small letters, digits, - and ., with a letter or digit at both ends',
};

const namespaceName: TextCheck = {
  accepts: isNamespaceName,
  accepted: 'the name of a namespace: at most 63 small letters, digits and -',
};

const labelValue: TextCheck = {
  accepts: isLabelValue,
  accepted: 'a label value: at most 63 letters, digits, -, _ and ., with a letter or digit at both ends',
};

/** A space at an end, as `a, b` gives when it is split at the comma, would make the subject another one. */
function userOrGroup(kind: string): TextCheck {
  return {
    accepts: (name) => name !== '' && name === name.trim() && !isReservedSubject({ kind, name }),
    accepted: `a ${kind} outside ${reservedPrefix}, which Kubernetes reserves; not empty, and without spaces at its ends`,
  };
}

const users = { User: userOrGroup('User'), Group: userOrGroup('Group') };

export function roleBindingChecks({ subjects }: RoleBindingContent): TextChecks {
  return ([field, index, part]) => {
    if (field === 'name') return pathSegment;
    const kind = typeof index === 'number' ? subjects[index]?.kind : undefined;
    if (kind === undefined) return undefined;
    if (kind !== 'ServiceAccount') return users[kind];
    return part === 'namespace' ? namespaceName : subdomain;
  };
}

/** The name of a ServiceAccount, and those of its Secrets. */
export const accountChecks: TextChecks = () => subdomain;

/** The kinds of Kubernetes itself need a DNS subdomain. Other groups can have rules of their own. */
export function resourceChecks(apiVersion: string): TextChecks {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  const name = !group.includes('.') || group.endsWith('.k8s.io') ? subdomain : pathSegment;
  return ([first, second]) => {
    if (first !== 'metadata') return undefined;
    if (second === 'name') return name;
    return second === 'labels' ? labelValue : undefined;
  };
}
