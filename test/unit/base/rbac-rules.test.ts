import { describe, expect, it } from 'vitest';
import { ruleAllows, rulesIn } from '../../../src/base/rbac-rules.ts';

const pods = { apiGroups: [''], resources: ['pods', 'secrets/status', '*/scale'], verbs: ['get', 'list'] };
const named = { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['*'] };
const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const urls = { nonResourceURLs: ['/api', '/logs/*', '/x**'], verbs: ['get'] };

const on = (verb: string, resource: string, rest: object = {}) => ({ verb, group: '', resource, ...rest });
const at = (path: string, verb = 'get') => ({ verb, path });

describe('a rule of a role', () => {
  it.each([
    [pods, on('get', 'pods'), true],
    [pods, on('get', 'pods', { name: 'x', namespace: 'n' }), true],
    [pods, on('watch', 'pods'), false],
    [pods, on('get', 'pods', { group: 'apps' }), false],
    [pods, on('get', 'pods', { subresource: 'log' }), false],
    [pods, on('get', 'pods', { subresource: 'scale' }), true],
    [pods, on('get', 'secrets', { subresource: 'status' }), true],
    [pods, on('get', 'secrets'), false],
    [pods, on('*', 'pods'), false],
    [named, on('get', 'secrets', { name: 'b' }), true],
    [named, on('get', 'secrets', { name: 'c' }), false],
    [named, on('list', 'secrets'), false],
    [named, on('create', 'secrets'), false],
    [named, on('create', 'secrets', { name: 'a' }), true],
    [named, on('deletecollection', 'secrets'), false],
    [all, on('bind', 'roles', { group: 'x', subresource: 'y', name: 'z' }), true],
    [all, on('*', '*', { group: '*' }), true],
    [all, at('/api'), false],
    [urls, at('/api'), true],
    [urls, at('/api', 'post'), false],
    [urls, at('/apis'), false],
    [urls, at('/logs/a/b'), true],
    [urls, at('/logs'), false],
    [urls, at('/xyz'), true],
    [urls, on('get', '/api'), false],
  ])('%j permits %j: %s', (rule, action, expected) => {
    expect(ruleAllows(rule, action)).toBe(expected);
  });

  it.each([
    undefined,
    null,
    'x',
    { rules: 'x' },
    { rules: [null, 1, 'get'] },
    { rules: [{ verbs: '*', apiGroups: { 0: '*' }, resources: [['*']] }] },
  ])('%j contains no rules', (role) => {
    expect(rulesIn(role).some((rule) => ruleAllows(rule, on('get', 'pods')))).toBe(false);
  });
});
