// Which fields of our kinds read templates, and what the others say of `${` and `{{`.
import { kinds } from '../../../src/api/kinds.ts';
import { describe, expect, it } from 'vitest';
import { apiVersion } from '../../../src/schema/names.ts';
import { renderProblem, type Problem } from '../../../src/base/problem.ts';

type Parsed = { readonly ok: true } | { readonly ok: false; readonly problems: readonly Problem[] };

const parsers = {
  NamespacePolicy: kinds.NamespacePolicy.parse,
  SecretShare: kinds.SecretShare.parse,
  SecurityIntent: kinds.SecurityIntent.parse,
  ClusterSecurityIntentBinding: kinds.ClusterSecurityIntentBinding.parse,
} satisfies Record<string, (value: unknown) => Parsed>;
type Kind = keyof typeof parsers;

function problemsOf(kind: Kind, spec: object): readonly string[] {
  const parsed: Parsed = parsers[kind]({ apiVersion, kind, metadata: { name: 'test' }, spec });
  return parsed.ok ? [] : parsed.problems.map(renderProblem);
}

const share = { source: { namespace: 'reeve-shared', name: 'regcred' }, targets: { names: ['*'] } };
const template = "${namespaceObject.metadata.labels['team']}";
const rendered = '{{ .Values.team }}';

describe.each([template, rendered])('the text %s', (mark) => {
  it.each<readonly [field: string, kind: Kind, spec: object]>([
    ['spec.match.names[0]', 'NamespacePolicy', { match: { names: [`a-${mark}`] } }],
    ['spec.match.excludeNames[0]', 'NamespacePolicy', { match: { excludeNames: [`a-${mark}`] } }],
    [
      'spec.match.namespaceSelector.matchLabels.team',
      'NamespacePolicy',
      { match: { namespaceSelector: { matchLabels: { team: mark } } } },
    ],
    [
      'spec.namespaces.requesters.groups[0]',
      'NamespacePolicy',
      { namespaces: { requesters: { groups: [`lead-${mark}`] } } },
    ],
    [
      'spec.namespaces.requesters.users[0]',
      'NamespacePolicy',
      { namespaces: { requesters: { users: [mark] } } },
    ],
    [
      'spec.namespaces.required.annotations.contact.values[0]',
      'NamespacePolicy',
      { namespaces: { required: { annotations: { contact: { values: [mark] } } } } },
    ],
    ['spec.secrets.forbiddenTypes[0]', 'NamespacePolicy', { secrets: { forbiddenTypes: [mark] } }],
    ['spec.rbac.allowedRoleRefs[0]', 'NamespacePolicy', { rbac: { allowedRoleRefs: [`Role/${mark}`] } }],
    [
      'spec.rbac.forbiddenSubjects[0]',
      'NamespacePolicy',
      { rbac: { forbiddenSubjects: [`Group/lead-${mark}`] } },
    ],
    ['spec.exceptions[0].namespaces[0]', 'NamespacePolicy', exception({ namespaces: [mark] })],
    ['spec.contact', 'NamespacePolicy', { contact: mark }],
    ['spec.targets.names[0]', 'SecretShare', { ...share, targets: { names: [mark] } }],
    ['spec.target.type', 'SecretShare', { ...share, target: { type: mark.replaceAll(' ', '') } }],
    ['spec.tags[0]', 'SecurityIntent', { id: 'escapeToHost', tags: [mark] }],
    ['spec.intents[0]', 'ClusterSecurityIntentBinding', { intents: [mark] }],
  ])('the text is refused in %s, which reads no template', (field, kind, spec) => {
    const problems = problemsOf(kind, spec);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(`${field}: found "`);
    expect(problems[0]).toMatch('; this field reads no template, so ${ and {{ are refused');
  });

  it('the text is refused as a key of a default', () => {
    const labels = { [mark.replaceAll(' ', '')]: 'a' };
    expect(problemsOf('NamespacePolicy', { namespaces: { defaults: { labels } } })).toHaveLength(1);
  });

  it.each<readonly [string, object]>([
    ['message', { validations: [{ name: 'x', expression: 'true', message: `write ${mark}` }] }],
    ['reason of an exception', exception({ reason: mark })],
    ['value of a default annotation', { namespaces: { defaults: { annotations: { a: mark } } } }],
    ['name of a RoleBinding', { contents: { roleBindings: [binding(mark)] } }],
    ['expression', { match: { matchConditions: [{ name: 'x', expression: `'${rendered}' != '\${'` }] } }],
  ])('the text is accepted in the %s', (_, spec) => {
    expect(problemsOf('NamespacePolicy', spec)).toEqual([]);
  });
});

function exception(more: object) {
  return { exceptions: [{ namespaces: ['a'], rules: ['secrets.tls'], ...more }] };
}

function binding(name: string) {
  return {
    name,
    roleRef: { kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'Group', name: `lead-${name}` }],
  };
}

describe('a template in a regular expression', () => {
  const refused = [
    '^${request.userInfo.username}-',
    'a|${b}',
    String.raw`\\${'$'}{`,
    '[[:alpha:]]${',
    '[a]${',
    '(x)${y}',
    '[[:a][:b]${]x',
  ];
  const accepted = [
    '^[^${}]*$',
    String.raw`^\$\{`,
    String.raw`\${'$'}{x}`,
    '[$]{2}',
    '[]${]',
    '[^]${]',
    '[[:alpha:]${]',
    'a{2}$',
    '{{',
    '$[a]{',
  ];
  it.each([
    ...refused.map((pattern) => [pattern, 'refused'] as const),
    ...accepted.map((pattern) => [pattern, 'accepted'] as const),
  ])('the pattern %s is %s', (pattern, result) => {
    const problems = problemsOf('NamespacePolicy', { namespaces: { name: { pattern } } });
    expect(problems).toHaveLength(result === 'refused' ? 1 : 0);
    if (result === 'refused') expect(problems[0]).toMatch('this field reads no template');
  });
});
