// Writes requests for Secrets, Roles and RoleBindings that the rules of one policy may allow or refuse.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { missingKeys } from '../../api/secret-share/secret-share.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import {
  roleBindingType,
  roleType,
  secretObjectType,
  type ObjectType,
} from '../../policy/terms/provider-id.ts';
import { roleRefExample } from '../../rules/role-refs.ts';
import type { ExampleObject } from '../../rules/rule.ts';
import { stringField } from '../../rules/fields.ts';
import { rules, valueIn, type ListedRule } from '../../rules/rules.ts';
import { typeExample } from '../../rules/secret-types.ts';
import { subjectExample } from '../../rules/subjects.ts';
import { roleExample } from '../../rules/wildcard-rules.ts';
import type { ExamplePolicy } from './example-namespaces.ts';
import type { SuiteRequest } from './suite.ts';

/** A request, and what it does: `creating Namespace team-a`. */
export interface Example {
  readonly title: string;
  readonly request: SuiteRequest;
  /** True for the creation of the Namespace that the other examples change. A suite has it even if it covers no rule. */
  readonly isFirst?: true;
}

/** The types of the objects, and an object that few rules refuse. */
const usual: Readonly<
  Record<'secrets' | 'roles' | 'rolebindings', ExampleObject & { readonly type: ObjectType }>
> = {
  secrets: { type: secretObjectType, ...typeExample('Opaque') },
  roles: { type: roleType, ...roleExample('that reads pods', 'get') },
  rolebindings: {
    type: roleBindingType,
    fields: { ...roleRefExample('ClusterRole/view').fields, ...subjectExample('Group/example').fields },
  },
};

/** First what few rules refuse and what these allow, then what these refuse. */
export function objectExamples(
  { object: { spec } }: Pick<ExamplePolicy, 'object'>,
  namespace: string,
  listed: readonly ListedRule[] = rules,
): readonly Example[] {
  return (['secrets', 'roles', 'rolebindings'] as const).flatMap((resource) => {
    const examples = listed.flatMap((rule) => {
      const value = valueIn(spec, rule);
      return rule.judges !== resource || value === undefined ? [] : [rule.examples(value)];
    });
    const { type, ...start } = usual[resource];
    const allowed = examples.flatMap((each) => each.allowed ?? []);
    const refused = examples.flatMap((each) => each.refused ?? []);
    const all = examples.length === 0 ? [] : [start, ...allowed, ...refused];
    // Examples without a title are parts of one object, which has of the others what is allowed.
    const parts = [start, ...allowed].filter(({ title }) => title === undefined);
    const whole = Object.fromEntries(parts.flatMap(({ fields }) => Object.entries(fields)));
    return all.map(({ title, fields }) => {
      const object = title === undefined ? { ...whole, ...fields } : fields;
      return creationOf({ ...type, metadata: { name: 'example', namespace }, ...object }, title);
    });
  });
}

function creationOf(create: Required<SuiteRequest>['create'], title: string | undefined): Example {
  const { kind, metadata } = create;
  const words = title ?? bindingTitle(create);
  return {
    title: `creating a ${kind} ${words} in Namespace ${metadata.namespace ?? ''}`,
    request: { create },
  };
}

/** `of ClusterRole view to ServiceAccount argocd/controller` */
function bindingTitle({ roleRef, subjects }: JsonObject): string {
  const subject: unknown = Array.isArray(subjects) ? subjects[0] : undefined;
  const names = ['namespace', 'name'].map((field) => word(subject, field)).filter((name) => name !== '');
  return `of ${word(roleRef, 'kind')} ${word(roleRef, 'name')} to ${word(subject, 'kind')} ${names.join('/')}`;
}

function word(object: unknown, field: string): string {
  return isJsonObject(object) ? stringField(object, field) : '';
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
