// Tests ValidatingAdmissionPolicies: the writes that they judge, their expressions and their messages.
import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import { policyProblems, whyNotEvaluated } from '../../../../src/sandbox/admission/expressions.ts';
import { clusterRoles, configMap, configMaps, namespaces, Scene } from './scene.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';
const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };

function policy(spec: JsonObject, name = 'p'): JsonObject {
  const matchConstraints = { resourceRules: [rule] };
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints, ...spec },
  };
}

function binding(spec: JsonObject = {}, name = 'b'): JsonObject {
  const kind = 'ValidatingAdmissionPolicyBinding';
  return {
    apiVersion,
    kind,
    metadata: { name },
    spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
  };
}

let scene: Scene;
const object = configMap({}, { data: { a: '1' } });

beforeEach(() => {
  scene = new Scene();
  scene.namespace('here', { labels: { team: 'a' } });
});

async function saidOf(spec: JsonObject, bound: JsonObject = {}): Promise<string> {
  scene.put(policy(spec));
  scene.put(binding(bound));
  const failure = await scene.refusal(scene.write({ resource: configMaps, object }));
  return failure?.message.replace(/.*denied request: /, '') ?? 'admitted';
}

describe('a refusal', () => {
  test.each([
    [undefined, 'Invalid', 422],
    ['Forbidden', 'Forbidden', 403],
    ['Unauthorized', 'Unauthorized', 401],
    ['RequestEntityTooLarge', 'RequestEntityTooLarge', 413],
  ])('a refusal with the reason %s has the code and reason of Kubernetes', async (given, reason, code) => {
    const validation = {
      expression: 'false',
      message: ' no ',
      ...(given === undefined ? {} : { reason: given }),
    };
    scene.put(policy({ validations: [validation] }));
    scene.put(binding());
    const message = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
    expect(await scene.refusal(scene.write({ resource: configMaps, object }))).toEqual({
      code,
      reason,
      message: `configmaps "one" is forbidden: ${message}`,
      details: { name: 'one', kind: 'configmaps', causes: [{ reason: '', message }] },
    });
  });

  test('a refusal names an object of a collection only in the message', async () => {
    scene.put(policy({ validations: [{ expression: 'false' }] }));
    scene.put(binding());
    const collection = scene.write({ resource: configMaps, oldObject: object, name: '' });
    const refusal = await scene.refusal(collection);
    expect(refusal?.message).toMatch(/^configmaps "Unknown" is forbidden: .*: failed expression: false$/);
  });

  test.each([
    ['"computed " + object.data.a', 'computed 1'],
    ['" "', 'written'],
    ['object.data.none', 'written'],
  ])('a refusal has the message of %s or the written message', async (messageExpression, said) => {
    const validations = [{ expression: 'false', message: 'written', messageExpression }];
    expect(await saidOf({ validations })).toBe(said);
  });
});

describe('expressions', () => {
  test.each([
    ['object.data.a == "1" && oldObject == null && request.operation == "CREATE"', 'admitted'],
    ['namespaceObject.metadata.labels.team == "a"', 'admitted'],
    ['object.none == 1', "expression 'object.none == 1' resulted in error: no such key: none"],
  ])('%s: %s', async (expression, said) => {
    expect(await saidOf({ validations: [{ expression }] })).toBe(said);
  });

  test('errors are ignored with failurePolicy Ignore', async () => {
    const validations = [{ expression: 'object.none == 1' }, { expression: 'false', message: 'no' }];
    expect(await saidOf({ failurePolicy: 'Ignore', validations })).toBe('no');
  });

  test('a variable sees earlier variables, holds any value, and its error counts only when it is read', async () => {
    const variables = [
      { name: 'broken', expression: 'object.none' },
      { name: 'list', expression: '[object.data.a, object.metadata.name]' },
      { name: 'map', expression: '{"first": variables.list, "sorted": variables.list.sortBy(x, x)}' },
      { name: 'none', expression: 'oldObject' },
    ];
    const all = [
      'variables.list == ["1", "one"]',
      'variables.map.sorted[1] == "one"',
      'variables.none == null',
    ];
    expect(await saidOf({ variables, validations: [{ expression: all.join(' && ') }] })).toBe('admitted');
    expect(
      whyNotEvaluated(scene.put(policy({ variables, validations: [{ expression: 'true' }] }, 'all'))),
    ).toBeUndefined();
    const failing = policy({ variables, validations: [{ expression: 'variables.broken == 1' }] }, 'q');
    scene.put(failing);
    scene.put(binding({ policyName: 'q' }, 'c'));
    const refusal = await scene.refusal(scene.write({ resource: configMaps, object }));
    expect(refusal?.message).toContain('composited variable "broken" fails to evaluate: no such key: none');
  });

  test.each([
    [['request.userInfo.username == "jane"'], 'no'],
    [['object.data.a == "2"'], 'admitted'],
    [['namespaceObject == null'], 'no'],
    [['object.none', 'false'], 'admitted'],
    [['object.none == 1'], "expression 'object.none == 1' resulted in error: no such key: none"],
  ])('matchConditions %j lead to: %s', async (expressions, said) => {
    const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
    const validations = [{ expression: 'false', message: 'no' }];
    expect(await saidOf({ matchConditions, validations })).toBe(said);
  });

  test('namespaceObject is null for a cluster-scoped object', async () => {
    scene.put(policy({ validations: [{ expression: 'namespaceObject == null' }] }));
    scene.put(binding());
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' } };
    const here = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'here' } };
    expect(await scene.refusal(scene.write({ resource: clusterRoles, object: role }))).toBeUndefined();
    expect(await scene.refusal(scene.write({ resource: namespaces, oldObject: here }))).toBeUndefined();
  });
});

describe('bindings', () => {
  const validations = [{ expression: 'false', message: 'no' }];

  test.each<[string, JsonObject, string, readonly string[]]>([
    ['deny', {}, 'no', []],
    ['of another policy', { policyName: 'other' }, 'admitted', []],
    [
      'warn',
      { validationActions: ['Warn', 'Audit'] },
      'admitted',
      ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"],
    ],
    [
      'of other namespaces',
      { matchResources: { namespaceSelector: { matchLabels: { team: 'b' } } } },
      'admitted',
      [],
    ],
    [
      'of these namespaces',
      { matchResources: { namespaceSelector: { matchLabels: { team: 'a' } } } },
      'no',
      [],
    ],
  ])('%s', async (_, bound, said, warnings) => {
    expect(await saidOf({ validations }, bound)).toBe(said);
    expect(scene.warnings).toEqual(warnings);
  });

  test('a policy without a binding does nothing', async () => {
    scene.put(policy({ validations }));
    expect(await scene.refusal(scene.write({ resource: configMaps, object }))).toBeUndefined();
  });
});

describe('policies that the sandbox cannot evaluate', () => {
  test.each<[string, JsonObject, string | undefined]>([
    ['nothing', { validations: [{ expression: 'true' }] }, undefined],
    [
      'an authorizer',
      { validations: [{ expression: 'authorizer.path("/").check("get").allowed()' }] },
      'there is no method allowed, in authorizer.path("/").check("get").allowed()',
    ],
  ])('%s', (_, spec, why) => {
    expect(whyNotEvaluated({ metadata: {}, ...policy(spec) })).toBe(why);
  });

  test.each<[string, JsonObject, string]>([
    ['no CEL', { validations: [{ expression: 'object.metadata.' }] }, 'unexpected the end'],
    ['an unknown variable', { validations: [{ expression: 'nosuch == 1' }] }, 'there is no variable nosuch'],
    [
      'a variable that is none',
      { validations: [{ expression: 'variables.none == 1' }] },
      'a value of type kubernetes.variables has no field none',
    ],
    [
      'a condition that sees variables',
      { matchConditions: [{ name: 'c', expression: 'variables.a' }], validations: [] },
      'there is no variable variables here',
    ],
  ])('%s is invalid and not stored', (_, spec, why) => {
    const wrong = { metadata: {}, ...policy(spec) };
    expect(whyNotEvaluated(wrong)).toBeUndefined();
    expect(policyProblems(wrong).map(({ message }) => message)).toEqual([
      expect.stringContaining(`compilation failed: ${why}`),
    ]);
  });

  test('a policy that the sandbox cannot evaluate refuses no write', async () => {
    const expression = 'authorizer.path("/").check("get").allowed()';
    expect(await saidOf({ validations: [{ expression }] })).toBe('admitted');
  });
});
