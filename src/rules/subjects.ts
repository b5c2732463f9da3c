// rbac.forbiddenSubjects: users, groups and accounts that RoleBindings must not grant to, in any spelling.
import { compileGlob } from '../cel/regex.ts';
import { alternatives, clipped, quoted } from '../base/text.ts';
import type { KubeObject } from '../base/metadata.ts';
import { everyOperation, ruleForm, type ExampleWrite, type RuleViolation } from './rule.ts';
import { isJsonObject, ownMember } from '../base/json.ts';
import { list, text } from '../schema/schema.ts';
import { stringField } from './fields.ts';

const serviceAccountUserPrefix = 'system:serviceaccount:';
const kinds = ['User', 'Group', 'ServiceAccount'];

export const forbiddenSubjects = ruleForm({
  id: 'rbac.forbiddenSubjects',
  judges: 'rolebindings',
  field: list({
    description:
      'The subjects that no RoleBinding may have, as User/<name>, Group/<name> or ServiceAccount/<namespace>/<name>; globs are allowed. Other spellings of the same subject are refused too, such as User/system:serviceaccount:<namespace>:<name>. Example: [Group/system:authenticated, User/system:anonymous].',
    items: text({
      description: 'User/<name>, Group/<name> or ServiceAccount/<namespace>/<name>.',
      maxLength: 520,
      pattern: '^((User|Group)/\\S(.*\\S)?|ServiceAccount/[-a-z0-9*]+/[-a-z0-9.*]+)$',
      accepted: 'User/<name>, Group/<name> or ServiceAccount/<namespace>/<name>',
    }),
    maxItems: 100,
    unique: 'set',
  }),
  operations: everyOperation,
  compile(forbidden) {
    const globs = forbidden.map(compileGlob);
    const accepted = `a subject other than ${alternatives(forbidden)}`;
    return {
      shape: 'state',
      graced: true,
      judge: (binding, { budget }) =>
        subjectsOf(binding).flatMap((subject, index) => {
          budget.spend(1 + (globs.length >> 1));
          const spellings = spellingsOf(subject, binding.metadata.namespace ?? '');
          const match = globs.find((glob) => spellings.some((spelling) => glob.matches(spelling)));
          if (match !== undefined)
            return [violationAt(index, spellings[0] ?? '', `no subject ${match.source}`)];
          if (kinds.includes(subject.kind)) return [];
          return [violationAt(index, `kind ${quoted(subject.kind)}`, 'kind User, Group or ServiceAccount')];
        }),
      compared: ({ subjects }) =>
        (Array.isArray(subjects) ? subjects : []).map((subject: unknown, index) => {
          const found = clipped(
            `${String(ownMember(subject, 'kind'))}/${String(ownMember(subject, 'name'))}`,
          );
          return { path: `subjects[${index}]`, found, accepted };
        }),
    };
  },
  examples: (forbidden) => ({ writes: forbidden.slice(0, 1).map(subjectExample) }),
});

/** Written as in a policy: `ServiceAccount/argocd/controller`. */
function subjectExample(written: string): ExampleWrite {
  const [kind = '', ...names] = written.replaceAll('*', 'example').split('/');
  const [namespace = '', name = ''] = names;
  const subject =
    kind === 'ServiceAccount'
      ? { kind, namespace, name }
      : { apiGroup: 'rbac.authorization.k8s.io', kind, name: names.join('/') };
  return { title: `to ${[kind, ...names].join('/')}`, object: { subjects: [subject] } };
}

/** `argocd/controller` -> `system:serviceaccount:argocd:controller` */
export function serviceAccountUser(account: string): string {
  return serviceAccountUserPrefix + account.replace('/', ':');
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

function subjectsOf(binding: KubeObject): readonly Subject[] {
  const { subjects } = binding;
  if (!Array.isArray(subjects)) return [];
  return subjects.filter(isJsonObject).map((subject) => ({
    kind: stringField(subject, 'kind'),
    name: stringField(subject, 'name'),
    namespace: stringField(subject, 'namespace'),
  }));
}

/**
 * A service account is also a user with a name of a fixed form. Its default namespace is that of the binding.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-subjects
 */
function spellingsOf({ kind, name, namespace }: Subject, bindingNamespace: string): readonly string[] {
  if (kind === 'ServiceAccount') {
    const account = `${namespace === '' ? bindingNamespace : namespace}/${name}`;
    return [`ServiceAccount/${account}`, `User/${serviceAccountUser(account)}`];
  }
  if (kind !== 'User' || !name.startsWith(serviceAccountUserPrefix)) return [`${kind}/${name}`];
  const account = name.slice(serviceAccountUserPrefix.length).replace(':', '/');
  return [`User/${name}`, `ServiceAccount/${account}`];
}

function violationAt(index: number, found: string, accepted: string): RuleViolation {
  return {
    path: `subjects[${index}]`,
    // Computed on demand: a binding can have tens of thousands of subjects, and few are shown.
    get found() {
      return clipped(found);
    },
    accepted,
    identity: found,
  };
}
