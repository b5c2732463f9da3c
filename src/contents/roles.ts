// The kind of content `roles`: Roles with the rules that the policy lists.
import { isDeepStrictEqual } from 'node:util';
import { ownMember, ownMembers } from '../base/json.ts';
import { groupOf, roleType } from '../base/object-type.ts';
import { list, object, text, type SchemaRule } from '../schema/schema.ts';
import {
  forEach,
  labelText,
  metadataDifferences,
  metadataFields,
  pathSegment,
  templateHint,
  templateText,
} from './content-fields.ts';
import { contentKind, keeping, writing, type ContentRight } from './content.ts';

const rbacGroup = groupOf(roleType.apiVersion);

/** The jail refuses these verbs as well, so that a stolen token of Reeve cannot give rights that grow. */
const noGrowth: SchemaRule<string> = {
  accepted: 'another verb',
  mustNot: 'be bind, escalate or impersonate, which give more rights than the Role says',
  cel: "!(self in ['bind', 'escalate']) && !self.startsWith('impersonate')",
  offender: (verb) => (isGrowing(verb) ? [] : undefined),
};

function isGrowing(verb: string): boolean {
  return verb === 'bind' || verb === 'escalate' || verb.startsWith('impersonate');
}

interface Target {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
}

/**
 * The resources whose verb `*` includes one of those verbs.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 * https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/
 */
const growing: readonly Target[] = [
  { groups: ['*', rbacGroup], resources: ['*', 'roles', 'clusterroles'] },
  { groups: ['*', '', 'authentication.k8s.io'], resources: ['*', 'serviceaccounts'] },
];

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

function includesAny(items: readonly string[], any: readonly string[]): boolean {
  return items.some((each) => any.includes(each));
}

function celIncludesAny(field: string, any: readonly string[]): string {
  return `self.${field}.exists(each, each in [${any.map((each) => `'${each}'`).join(', ')}])`;
}

const noHiddenGrowth: SchemaRule<Rule> = {
  accepted: 'verbs by name, because * includes bind, escalate and impersonate on these resources',
  must: 'have',
  cel: `!('*' in self.verbs) || !(${growing
    .map(
      ({ groups, resources }) =>
        `(${celIncludesAny('apiGroups', groups)} && ${celIncludesAny('resources', resources)})`,
    )
    .join(' || ')})`,
  offender: ({ verbs, apiGroups, resources }) =>
    verbs.includes('*') &&
    growing.some((each) => includesAny(apiGroups, each.groups) && includesAny(resources, each.resources))
      ? ['verbs', verbs.indexOf('*')]
      : undefined,
};

function names(description: string, items: Parameters<typeof text>[0], maxItems: number) {
  return list({ description, items: text(items), minItems: 1, maxItems, unique: 'set' });
}

const rule = object({
  description:
    'Verbs on resources, as in a Role of Kubernetes. Never a template. The author must hold each of them, or have the verb escalate on roles.',
  fields: {
    apiGroups: names(
      'The API groups of the resources. "" is the group of Pods, "*" all groups. Example: [apps].',
      {
        description: 'An API group.',
        maxLength: 253,
        pattern: '^([*]|[-a-z0-9.]*)$',
        accepted: 'an API group such as apps, "" or *',
      },
      20,
    ),
    resources: names(
      'The resources, with their subresources, or "*". Example: [deployments, deployments/scale].',
      {
        description: 'A resource.',
        minLength: 1,
        maxLength: 253,
        pattern: '^([*]|[-a-z0-9.]+)(/([*]|[-a-z0-9.]+))?$',
        accepted: 'a resource such as pods, pods/log or *',
      },
      50,
    ),
    resourceNames: names(
      'The names of the objects. Default: all objects. Example: [settings].',
      { description: 'The name of an object.', minLength: 1, maxLength: 253 },
      50,
    ),
    verbs: names(
      'What the Role permits, or "*". Never bind, escalate or impersonate. Example: [get, list, watch].',
      {
        description: 'A verb.',
        minLength: 1,
        maxLength: 63,
        pattern: '^([*]|[-a-z:]+)$',
        accepted: 'a verb such as get, or *',
        rules: [noGrowth],
      },
      20,
    ),
  },
  required: ['apiGroups', 'resources', 'verbs'],
  rules: [noHiddenGrowth],
});

/** The API server is asked for each of them, within the time of one review. */
const maxRights = 500;

/** CEL cannot add up the products within the cost that the API server allows. */
const fewRights: SchemaRule<readonly Rule[]> = {
  accepted: `at most ${maxRights} combinations of verb, API group, resource and name in one Role`,
  must: 'have',
  offender: (rules) => (rules.reduce((sum, each) => sum + sizeOf(each), 0) > maxRights ? [] : undefined),
};

function sizeOf({ verbs, apiGroups, resources, resourceNames = [] }: Rule): number {
  return verbs.length * apiGroups.length * resources.length * Math.max(1, resourceNames.length);
}

const role = object({
  description:
    'A Role that every matched namespace contains. It grants nothing until a RoleBinding of the same policy names it.',
  fields: {
    name: templateText(
      `The name of the Role. ${templateHint} Unique among the roles. Example: deployer.`,
      512,
    ),
    ...metadataFields('Role'),
    rules: list({
      description: 'What the Role permits in its namespace.',
      items: rule,
      minItems: 1,
      maxItems: 30,
      rules: [fewRights],
    }),
    forEach,
  },
  required: ['name', 'rules'],
});

/** The name and the metadata are templates, never the rules. */
export const roles = contentKind({
  name: 'roles',
  field: list({
    description:
      'Roles, for roleBindings of the same policy. Example: [{name: deployer, rules: [{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, patch]}]}].',
    items: role,
    maxItems: 20,
    unique: { key: 'name' },
  }),
  ownership: 'object',
  type: roleType,
  namePath: ['name'],
  ownsAllFields: true,
  judgedAs: 'roles',
  template: ({ name, labels, annotations }) => ({
    value: { name, labels, annotations },
    isFixed: () => false,
    checks: ([field]) => (field === 'name' ? pathSegment : field === 'labels' ? labelText : undefined),
  }),
  render: {
    build: (rendered, { rules }) => {
      const metadata = {
        name: String(ownMember(rendered, 'name')),
        ...ownMembers(rendered, ['labels', 'annotations']),
      };
      return { kind: 'object', body: { ...roleType, metadata, rules } };
    },
  },
  rights: ({ name, rules }) => [
    {
      verbs: writing,
      group: rbacGroup,
      resource: 'roles',
      effect: 'create, change and delete Roles',
      field: undefined,
      own: { purpose: 'reconciler', verbs: keeping },
    },
    ...rules.flatMap((each, index) => rightsIn(each, name, index)),
  ],
  compare: {
    summary: ({ rules: [first, ...more] }) =>
      `${first === undefined ? '' : ruleText(first)}${more.length === 0 ? '' : ` and ${more.length} more`}`,
    differences: (old, now) => {
      const [before, after] = [old.rules.map(ruleText), now.rules.map(ruleText)];
      return [
        { verb: 'adds', items: after.filter((each) => !before.includes(each)) },
        { verb: 'removes', items: before.filter((each) => !after.includes(each)) },
        ...metadataDifferences(old, now),
      ];
    },
    isReduced: ({ rules: old, ...was }, { rules: now, ...is }) =>
      isDeepStrictEqual(was, is) && now.every((each) => old.some((known) => covers(known, each))),
  },
});

/**
 * The author must hold what the Role gives, as if he wrote it himself. Reeve's own account must too, or have the verb escalate.
 * Which of its rules are missing, only the API server can say.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#restrictions-on-role-creation-or-update
 */
function rightsIn(
  { verbs, apiGroups, resources, resourceNames }: Rule,
  roleName: string,
  index: number,
): readonly ContentRight[] {
  const objects = resourceNames?.map((name) => ({ name })) ?? [{}];
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      objects.map((named) => ({
        verbs,
        group,
        resource,
        ...named,
        effect: `hand out Role ${roleName}`,
        field: ['rules', index],
        handsOut: true,
        instead: { verb: 'escalate', group: rbacGroup, resource: 'roles' },
      })),
    ),
  );
}

/** `get, list on pods, deployments.apps` */
function ruleText({ verbs, apiGroups, resources, resourceNames = [] }: Rule): string {
  const objects = apiGroups.flatMap((group) =>
    resources.map((resource) => `${resource}${group === '' ? '' : `.${group}`}`),
  );
  const named = resourceNames.length === 0 ? '' : ` named ${resourceNames.join(', ')}`;
  return `${verbs.join(', ')} on ${objects.join(', ')}${named}`;
}

/** Returns true if the first rule lists all that the second one lists. */
function covers(known: Rule, { verbs, apiGroups, resources, resourceNames }: Rule): boolean {
  return (
    includesAll(known.verbs, verbs) &&
    includesAll(known.apiGroups, apiGroups) &&
    includesAll(known.resources, resources) &&
    (known.resourceNames === undefined ||
      (resourceNames !== undefined && includesAll(known.resourceNames, resourceNames)))
  );
}

function includesAll(known: readonly string[], items: readonly string[]): boolean {
  return items.every((each) => known.includes(each));
}
