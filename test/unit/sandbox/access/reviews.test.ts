import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import { createReviews } from '../../../../src/sandbox/access/reviews.ts';
import { ApiError } from '../../../../src/sandbox/api-error.ts';
import { Tokens } from '../../../../src/sandbox/access/users.ts';
import { binding, cluster, role, user } from './cluster.ts';

const tokens = new Tokens();
const token = tokens.issue({ ...user('ann'), uid: 'u' });
const { access } = cluster(
  binding('ann', 'a', 'Role r', 'User ann'),
  role('r', 'a', { verbs: 'get', resources: 'secrets pods/log', names: 'x y' }),
);
const reviews = createReviews(access, tokens);

function ask(kind: string, body: JsonObject, namespace?: string): unknown {
  const review = reviews.find((each) => each.kind === kind);
  try {
    return review?.answer(user('ann'), body, namespace);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, details } = error.status;
    return [code, details?.causes?.map(({ field }) => field) ?? message];
  }
}

const get = { verb: 'get', resource: 'secrets', namespace: 'a', name: 'x' };
const version = { path: '/version', verb: 'get' };

describe('reviews', () => {
  it('reviews have the names and groups of Kubernetes', () => {
    const shown = reviews.map(
      ({ group, plural, isNamespaced }) => `${plural}.${group}${isNamespaced ? ' in' : ''}`,
    );
    expect(shown).toEqual([
      'subjectaccessreviews.authorization.k8s.io',
      'localsubjectaccessreviews.authorization.k8s.io in',
      'selfsubjectaccessreviews.authorization.k8s.io',
      'selfsubjectrulesreviews.authorization.k8s.io',
      'selfsubjectreviews.authentication.k8s.io',
      'tokenreviews.authentication.k8s.io',
    ]);
  });

  it.each([
    ['oneself', 'Self', { resourceAttributes: get }, { allowed: true }],
    ['oneself on nothing', 'Self', { resourceAttributes: {} }, { allowed: false }],
    ['a path', 'Self', { nonResourceAttributes: version }, { allowed: true }],
    [
      'somebody',
      '',
      { user: 'ann', resourceAttributes: { ...get, resource: 'pods', subresource: 'log' } },
      { allowed: true },
    ],
    ['somebody else', '', { user: 'bob', resourceAttributes: get }, { allowed: false }],
    ['a group', '', { groups: ['system:authenticated'], nonResourceAttributes: version }, { allowed: true }],
    ['a user in no group', '', { user: 'ann', nonResourceAttributes: version }, { allowed: false }],
    ['an administrator', '', { groups: ['system:masters'], resourceAttributes: get }, { allowed: true }],
  ])('a review about %s is answered', (_, prefix, spec, status) => {
    const kind = `${prefix}SubjectAccessReview`;
    const answer = { kind, apiVersion: 'authorization.k8s.io/v1', metadata: {}, spec, status };
    expect(ask(kind, { metadata: { creationTimestamp: null }, spec })).toEqual(answer);
  });

  it('reviews about another user in a namespace are answered', () => {
    const kind = 'LocalSubjectAccessReview';
    const spec = { user: 'ann', resourceAttributes: get };
    const answer = { kind, apiVersion: 'authorization.k8s.io/v1', metadata: { namespace: 'a' }, spec };
    expect(ask(kind, { spec }, 'a')).toEqual({ ...answer, status: { allowed: true } });
  });

  it.each([
    ['SubjectAccessReview', {}, [422, ['spec.user']]],
    [
      'SubjectAccessReview',
      { user: 'x', resourceAttributes: get, nonResourceAttributes: version },
      [422, ['spec.resourceAttributes']],
    ],
    ['SubjectAccessReview', { user: 5 }, [422, ['spec.user']]],
    ['SubjectAccessReview', { user: 'x', resourceAttributes: 'get' }, [422, ['spec.resourceAttributes']]],
    ['SelfSubjectAccessReview', {}, [422, ['spec.resourceAttributes']]],
    ['SelfSubjectRulesReview', {}, [400, 'no namespace on request']],
  ])('%s of %j', (kind, spec, expected) => {
    expect(ask(kind, { spec })).toEqual(expected);
  });

  it('reviews of a namespace may ask about this namespace only', () => {
    const spec = { user: 'ann', resourceAttributes: get };
    expect(ask('LocalSubjectAccessReview', { spec }, 'b')).toEqual([
      422,
      ['spec.resourceAttributes.namespace'],
    ]);
  });

  it('reviews list the rules of the user who asks', () => {
    const answer = ask('SelfSubjectRulesReview', { spec: { namespace: 'a' } });
    expect(answer).toEqual({
      kind: 'SelfSubjectRulesReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {},
      status: {
        incomplete: false,
        resourceRules: [
          {
            verbs: ['create'],
            apiGroups: ['authorization.k8s.io'],
            resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
          },
          { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
          { verbs: ['get'], apiGroups: [''], resources: ['secrets', 'pods/log'], resourceNames: ['x', 'y'] },
        ],
        nonResourceRules: [
          { verbs: ['get'], nonResourceURLs: expect.arrayContaining(['/api/*', '/openapi/*']) as unknown },
        ],
      },
    });
  });

  it('name the user who asks', () => {
    const userInfo = { username: 'ann', groups: ['system:authenticated'] };
    expect(ask('SelfSubjectReview', {})).toMatchObject({ status: { userInfo } });
    expect(ask('TokenReview', { spec: { token } })).toMatchObject({
      status: { authenticated: true, user: { ...userInfo, uid: 'u' } },
    });
    expect(ask('TokenReview', { spec: { token: 'x' } })).toMatchObject({
      status: { user: {}, error: 'invalid bearer token' },
    });
  });
});
