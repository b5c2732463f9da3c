// Tests that a misspelled or misused part of `request` is found when a policy is loaded.
import { expect, test } from 'vitest';
import { compileExpression } from '../../../../src/cel/expression.ts';
import type { ExpressionResult } from '../../../../src/cel/expression.ts';

const request = {
  kind: { group: '', version: 'v1', kind: 'Namespace' },
  requestKind: { group: '', version: 'v1', kind: 'Namespace' },
  operation: 'CREATE',
  dryRun: true,
  options: { fieldManager: 'kubectl' },
  userInfo: { username: 'jane', groups: ['dev', 'ops'], extra: { constructor: ['own'] } },
};

function compile(source: string): ExpressionResult {
  return compileExpression(source, { variables: ['request'] }, 'bool');
}

test.each([
  'request.userInfo.username.startsWith("jan")',
  'request.userInfo.groups.exists(g, g == "dev")',
  'request.userInfo.extra.constructor == ["own"]',
  '!has(request.userInfo.uid) && !has(request.userInfo.extra.toString)',
  'request.userInfo.?uid.orValue("none") == "none"',
  'request.?userInfo.?groups.orValue([]).size() == 2',
  'request.kind == request.requestKind && request.kind in [request.requestKind]',
  'request.userInfo != null',
  'request == request && type(request) == map',
  'dyn(request.userInfo)["username"] == "jane"',
  'request.dryRun',
  'request.options.fieldManager == "kubectl"',
  '{"a": request.kind}.a.kind == "Namespace"',
])('%s is true', (source) => {
  const result = compile(source);
  expect(result.ok && result.expression.evaluate({ request })).toEqual({ ok: true, value: true });
});

test.each([
  [
    'request.userInfo.userName == ""',
    'a value of type kubernetes.UserInfo has no field userName; did you mean username?',
  ],
  [
    'has(request.userInfo.missing)',
    'a value of type kubernetes.UserInfo has no field missing; it has username, uid, groups, extra',
  ],
  [
    'request.?kind.?toString.hasValue()',
    'a value of type kubernetes.GroupVersionKind has no field toString; it has group, version, kind',
  ],
  [
    '[request.userInfo].all(u, u.nobody == "")',
    'a value of type kubernetes.UserInfo has no field nobody; it has username, uid, groups, extra',
  ],
  ['request.uid == ""', 'a value of type kubernetes.AdmissionRequest has no field uid; did you mean kind?'],
  ['request.name.first == ""', 'a value of type string has no field first'],
  ['request.userInfo["username"] == ""', 'a kubernetes.UserInfo cannot be indexed by a string'],
  ['request.userInfo.groups == "dev"', '_==_ does not exist for (list(string), string)'],
  [
    'request.kind == request.resource',
    '_==_ does not exist for (kubernetes.GroupVersionKind, kubernetes.GroupVersionResource)',
  ],
  ['request.dryRun == "true"', '_==_ does not exist for (bool, string)'],
  ['request.operation', 'the result must be a bool but is a string'],
])('%s does not compile: %s', (source, message) => {
  expect(compile(source)).toMatchObject({ ok: false, problem: { message } });
});
