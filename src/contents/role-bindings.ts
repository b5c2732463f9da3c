// The kind of content `roleBindings`: RoleBindings to ClusterRoles.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember } from '../base/json.ts';
import {
  accountsGroupPrefix,
  isNamespaceName,
  isReservedSubject,
  reservedPrefix,
} from '../base/kubernetes-names.ts';
import { groupOf, roleBindingType } from '../base/object-type.ts';
import { duration, notBoth, time } from '../schema/common-fields.ts';
import { choice, list, object, text, type Infer } from '../schema/schema.ts';
import {
  forEach,
  labelText,
  metadataFields,
  pathSegment,
  subdomain,
  templateHint,
  templateText,
} from './content-fields.ts';
import { createOnce, modeField } from './create-once.ts';
import {
  contentKind,
  keeping,
  writing,
  type Difference,
  type TextCheck,
  type TextChecks,
} from './content.ts';

/** The only group of `system:` that a subject may be: the ServiceAccounts of the namespace itself. */
export const ownAccounts = `${accountsGroupPrefix}\${namespaceObject.metadata.name}`;

function isReserved(subject: { readonly kind: string; readonly name: string }): boolean {
  return isReservedSubject(subject) && !(subject.kind === 'Group' && subject.name === ownAccounts);
}

const subject = object({
  description: 'Who gets the role.',
  fields: {
    kind: choice('What the subject is.', ['User', 'Group', 'ServiceAccount']),
    name: templateText(
      `The name of the user, group or service account. ${templateHint} Example: "ad-kubernetes-\${namespaceObject.metadata.name}".`,
      8192,
    ),
    namespace: templateText(
      `The namespace of the service account: required for a ServiceAccount, not allowed otherwise. ${templateHint} Example: "\${namespaceObject.metadata.name}".`,
      8192,
    ),
    forEach,
  },
  required: ['kind', 'name'],
  rules: [
    {
      accepted: 'a namespace if the kind is ServiceAccount, and none otherwise',
      must: 'have',
      // `namespace` is a reserved word of CEL, which the API server escapes.
      cel: "(self.kind == 'ServiceAccount') == has(self.__namespace__)",
      offender: ({ kind, namespace }) =>
        (kind === 'ServiceAccount') === (namespace !== undefined) ? undefined : ['namespace'],
    },
    {
      accepted: `a user or group outside system:, which Kubernetes reserves for itself, or the group ${ownAccounts}`,
      cel: `self.kind == 'ServiceAccount' || !self.name.startsWith('${reservedPrefix}') || (self.kind == 'Group' && self.name == '${ownAccounts}')`,
      offender: (written) => (isReserved(written) ? ['name'] : undefined),
    },
  ],
});

const roleRef = object({
  description:
    'The role that the subjects get in the namespace. Never a template. The author must have the right to bind it, and to create, patch and delete RoleBindings.',
  fields: {
    kind: choice('Always ClusterRole.', ['ClusterRole']),
    name: text({
      description: 'The name of the ClusterRole. Example: edit.',
      minLength: 1,
      maxLength: 253,
      pattern: '^[^/%$\\s]+$',
      accepted: 'the name of a ClusterRole',
    }),
  },
  required: ['kind', 'name'],
});

const roleBinding = object({
  description: 'A RoleBinding that every matched namespace contains.',
  fields: {
    name: templateText(
      `The name of the RoleBinding. ${templateHint} Unique among the roleBindings. Example: ad-kubernetes-\${namespaceObject.metadata.name}.`,
      4096,
    ),
    ...metadataFields('RoleBinding'),
    roleRef,
    subjects: list({
      description: 'Who gets the role. A RoleBinding without any subject is not created.',
      items: subject,
      minItems: 1,
      maxItems: 100,
    }),
    expiresAfter: duration(
      'How long after the creation of the namespace the RoleBinding is deleted. At most one of this and expiresAt. Example: 8h.',
    ),
    expiresAt: time(
      'When the RoleBinding is deleted. At most one of this and expiresAfter. Example: "2027-01-31T00:00:00Z".',
    ),
    forEach,
    mode: modeField('RoleBinding'),
  },
  required: ['name', 'roleRef', 'subjects'],
  rules: [
    notBoth('expiresAfter', 'expiresAt'),
    {
      // Reeve deletes an object at its end, and never deletes an object that it has left to its namespace.
      accepted: `no expiresAfter and no expiresAt with mode ${createOnce}, which never deletes`,
      must: 'have',
      cel: `!has(self.mode) || self.mode != '${createOnce}' || !(has(self.expiresAfter) || has(self.expiresAt))`,
      offender: ({ mode, expiresAfter, expiresAt }) => {
        if (mode !== createOnce || (expiresAfter ?? expiresAt) === undefined) return undefined;
        return [expiresAfter === undefined ? 'expiresAt' : 'expiresAfter'];
      },
    },
  ],
});

type RoleBinding = Infer<typeof roleBinding>;

const rbacGroup = groupOf(roleBindingType.apiVersion);

/** The names and the metadata are templates, never the role, the expiry or a kind. */
export const roleBindings = contentKind({
  name: 'roleBindings',
  field: list({
    description: 'RoleBindings to ClusterRoles.',
    items: roleBinding,
    maxItems: 50,
    unique: { key: 'name' },
  }),
  ownership: 'object',
  type: roleBindingType,
  namePath: ['name'],
  ownsAllFields: true,
  judgedAs: 'rolebindings',
  template: ({ name, labels, annotations, subjects }) => ({
    value: { name, labels, annotations, subjects },
    isFixed: ([field, , part]) => field === 'subjects' && part === 'kind',
    checks: checksOf(subjects),
    isRepeated: (field) => field.length === 2 && field[0] === 'subjects',
  }),
  render: {
    build: (rendered, { roleRef: role }) => {
      const subjects = subjectsOf(ownMember(rendered, 'subjects'));
      if (subjects.length === 0) return { kind: 'skip', message: 'its lists of subjects are empty' };
      const written = (['labels', 'annotations'] as const).flatMap((field) => {
        const value = ownMember(rendered, field);
        return value === undefined ? [] : [[field, value] as const];
      });
      const body = {
        ...roleBindingType,
        metadata: { name: String(ownMember(rendered, 'name')), ...Object.fromEntries(written) },
        roleRef: { apiGroup: rbacGroup, ...role },
        subjects,
      };
      return { kind: 'object', body };
    },
  },
  expiry: (binding) => ((binding.expiresAfter ?? binding.expiresAt) === undefined ? undefined : binding),
  rights: ({ roleRef: { name } }) => [
    // The right to bind does not cover the RoleBindings of others, which a policy can take over and replace.
    {
      verbs: writing,
      group: rbacGroup,
      resource: 'rolebindings',
      effect: 'create, change and delete RoleBindings',
      field: undefined,
      own: { purpose: 'reconciler', verbs: keeping },
    },
    {
      verbs: ['bind'],
      group: rbacGroup,
      resource: 'clusterroles',
      name,
      effect: `hand out ClusterRole ${name}`,
      field: ['roleRef'],
      handsOut: true,
      own: { purpose: 'bind', verbs: ['bind'] },
    },
  ],
  boundRole: ({ roleRef: { name } }) => ({ name, field: ['roleRef', 'name'] }),
  compare: {
    summary: ({ roleRef: { name } }) => `ClusterRole ${name}`,
    differences,
    isReduced: ({ subjects: old, ...was }, { subjects: now, ...is }) =>
      isDeepStrictEqual(was, is) && now.every((each) => old.some((known) => isDeepStrictEqual(known, each))),
  },
});

const namespaceName: TextCheck = {
  accepts: isNamespaceName,
  accepted: 'the name of a namespace: at most 63 small letters, digits and -',
};

/** A space at an end, as `a, b` gives when it is split at the comma, would make the subject another one. */
function userOrGroup(kind: string): TextCheck {
  return {
    accepts: (name) => name !== '' && name === name.trim() && !isReservedSubject({ kind, name }),
    accepted: `a ${kind} outside ${reservedPrefix}, which Kubernetes reserves; not empty, and without spaces at its ends`,
  };
}

const users = { User: userOrGroup('User'), Group: userOrGroup('Group') };

function checksOf(subjects: RoleBinding['subjects']): TextChecks {
  return ([field, index, part]) => {
    if (field === 'name') return pathSegment;
    if (field === 'labels') return labelText;
    const { kind, name } = (typeof index === 'number' ? subjects[index] : undefined) ?? {};
    if (kind === undefined || (kind === 'Group' && name === ownAccounts)) return undefined;
    if (kind !== 'ServiceAccount') return users[kind];
    return part === 'namespace' ? namespaceName : subdomain;
  };
}

/** Adds the group that the API server defaults, so that desired and stored subjects can be compared. */
function subjectsOf(subjects: unknown): readonly unknown[] {
  return Array.isArray(subjects)
    ? subjects.map((each: unknown) =>
        ownMember(each, 'kind') === 'ServiceAccount' || !isJsonObject(each)
          ? each
          : { apiGroup: rbacGroup, ...each },
      )
    : [];
}

function differences(old: RoleBinding, now: RoleBinding): readonly Difference[] {
  const [before, after] = [old.subjects.map(subjectText), now.subjects.map(subjectText)];
  return [
    // The roleRef cannot be updated. https://kubernetes.io/docs/reference/access-authn-authz/rbac/#clusterrolebinding-example
    ...(old.roleRef.name === now.roleRef.name
      ? []
      : [
          {
            what: 'ClusterRole',
            before: old.roleRef.name,
            after: now.roleRef.name,
            isReplaced: true,
          } as const,
        ]),
    ...(old.forEach === now.forEach
      ? []
      : [{ what: 'forEach', before: old.forEach ?? 'none', after: now.forEach ?? 'none' }]),
    { verb: 'adds', items: after.filter((each) => !before.includes(each)) },
    { verb: 'removes', items: before.filter((each) => !after.includes(each)) },
    ...(old.mode === now.mode
      ? []
      : [{ what: 'mode', before: old.mode ?? 'Keep', after: now.mode ?? 'Keep' }]),
    ...(['labels', 'annotations'] as const).flatMap((field) => mapDifferences(field, old[field], now[field])),
    ...(expiryText(old) === expiryText(now)
      ? []
      : [{ what: 'expires', before: expiryText(old), after: expiryText(now) }]),
  ];
}

function mapDifferences(
  field: 'labels' | 'annotations',
  old: Readonly<Record<string, string>> = {},
  now: Readonly<Record<string, string>> = {},
): readonly Difference[] {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (key) => old[key] !== now[key],
  );
  return keys.map((key) => ({
    what: `${field} ${key}`,
    before: old[key] ?? 'none',
    after: now[key] ?? 'none',
  }));
}

function subjectText({ kind, name, namespace, forEach: source }: RoleBinding['subjects'][number]): string {
  const each = source === undefined ? '' : ` for each of ${source}`;
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}${each}`;
}

function expiryText({ expiresAfter, expiresAt }: RoleBinding): string {
  return expiresAfter === undefined ? (expiresAt ?? 'never') : `after ${expiresAfter}`;
}
