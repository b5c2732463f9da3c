// rbac.forbiddenSubjects: users, groups and accounts that RoleBindings must not grant to, in any spelling.
import { compileGlob } from '../../cel/patterns.ts';
import { clipped, quoted } from '../../base/text.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { RuleViolation, Rule } from './rule.ts';
import { isJsonObject } from '../../base/json.ts';
import { stringField } from './fields.ts';

const serviceAccountUserPrefix = 'system:serviceaccount:';
const kinds = ['User', 'Group', 'ServiceAccount'];

export function forbiddenSubjectsRule(forbidden: readonly string[]): Rule {
  const globs = forbidden.map(compileGlob);
  return {
    shape: 'state',
    id: 'rbac.forbiddenSubjects',
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
  };
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
