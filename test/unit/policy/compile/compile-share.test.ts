// What a share compiles to: whom it reaches, and what its copies look like.
import { kinds } from '../../../../src/api/kinds.ts';
import { describe, expect, it } from 'vitest';
import {
  compileConfigMapShare,
  compileShare,
  type CompiledShare,
} from '../../../../src/policy/compile/compile-share.ts';
import { renderPath } from '../../../../src/base/problem.ts';
import { unlimitedBudget } from '../../../../src/policy/terms/budget.ts';
import { matchNamespace } from '../../../../src/policy/terms/match.ts';
import { knownNamespace } from '../../../support/engine.ts';

const source = { namespace: 'reeve-shared', name: 'regcred' };
const pull = { pull: 'true' };
const everywhere = { namespaceSelector: {} };

function load(spec: object) {
  const parsed = kinds.SecretShare.parse({
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'SecretShare',
    metadata: { name: 'pull' },
    spec: { source, targets: everywhere, ...spec },
  });
  if (!parsed.ok) throw new Error('refused');
  return compileShare(parsed.value);
}

function compile(spec: object): CompiledShare {
  const compilation = load(spec);
  if (!compilation.ok) throw new Error('refused');
  return compilation.value;
}

const plain = { name: 'regcred', type: '', keys: undefined, labels: {}, annotations: {}, isImmutable: false };

describe('the copies', () => {
  it.each<readonly [string, object, object]>([
    ['without a target, are as the source', {}, plain],
    ['with an empty target too', { target: {} }, plain],
    ['have the name they are given', { target: { name: 'pull' } }, { ...plain, name: 'pull' }],
    [
      'have what is said of them',
      {
        target: {
          type: 'example.com/pull',
          keys: [{ from: 'a', to: '__proto__' }],
          labels: { constructor: 'x' },
          annotations: { constructor: 'y' },
          immutable: true,
        },
      },
      {
        name: 'regcred',
        type: 'example.com/pull',
        keys: [{ from: 'a', to: '__proto__' }],
        labels: { constructor: 'x' },
        annotations: { constructor: 'y' },
        isImmutable: true,
      },
    ],
  ])('%s', (_title, spec, copy) => {
    const share = compile(spec);
    expect(share).toMatchObject({ name: 'pull', sources: [source], isSuspended: false });
    expect(share.copy).toEqual(copy);
  });

  it('copies are left alone while the share is suspended', () => {
    expect(compile({ suspend: true }).isSuspended).toBe(true);
  });
});

describe('templates of the copies', () => {
  const target = {
    name: "pull-${namespaceObject.metadata.labels['team']}",
    labels: { team: "${namespaceObject.metadata.labels['team']}" },
    annotations: { note: 'of ${namespaceObject.metadata.name}, $${literal}' },
  };
  const share = compile({ target });
  const copyIn = (labels: Readonly<Record<string, string>>) =>
    share.copyIn(knownNamespace('a', labels), unlimitedBudget);

  it('a copy has the name, labels and annotations that its namespace gives', () => {
    expect(share.readsNamespace).toBe(true);
    expect(copyIn({ team: 'red' })).toEqual({
      kind: 'present',
      value: {
        name: 'pull-red',
        labels: { team: 'red' },
        annotations: { note: 'of a, ${literal}' },
      },
    });
  });

  it('a namespace without a label that the templates read gets no copy', () => {
    expect(copyIn({})).toMatchObject({ kind: 'skipped', message: 'label team is missing' });
  });

  it('a name that Kubernetes refuses is an error that names the label', () => {
    expect(copyIn({ team: 'A_b' })).toMatchObject({
      kind: 'error',
      message: expect.stringMatching(
        /^name \(from label team\) is "pull-A_b"; accepted: at most 253/,
      ) as string,
    });
  });

  it.each([
    ['name', 'pull-${request.name}', 'spec.target.name'],
    ['name', 'pull-${', 'spec.target.name'],
    ['name', "pull-${'{{'}{{", 'spec.target.name'],
    ['labels', { a: '${namespaceObject.metadata.label}' }, 'spec.target.labels.a'],
    ['annotations', { a: '${1}' }, 'spec.target.annotations.a'],
  ])('the %s %j does not compile', (field, value, path) => {
    const compilation = load({ target: { [field]: value } });
    expect(compilation.ok ? [] : compilation.problems.map((each) => renderPath(each.path))).toEqual([path]);
  });
});

describe('the ConfigMap of Kubernetes with its authority', () => {
  const root = 'kube-root-ca.crt';
  const loadMaps = (target: object | undefined, name: string) => {
    const parsed = kinds.ConfigMapShare.parse({
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'ConfigMapShare',
      metadata: { name: 'ca' },
      spec: {
        sources: [{ kind: 'ConfigMap', namespace: 'reeve-shared', name }],
        targets: everywhere,
        ...(target === undefined ? {} : { target }),
      },
    });
    if (!parsed.ok) throw new Error('refused');
    return compileConfigMapShare(parsed.value);
  };

  it.each([
    ['without a name of their own', undefined, root],
    ['with its name', { name: root }, 'ca'],
  ])('copies %s do not compile', (_title, target, name) => {
    const compilation = loadMaps(target, name);
    expect(compilation.ok ? [] : compilation.problems).toMatchObject([
      {
        path: ['spec', 'target', 'name'],
        accepted: expect.stringContaining('Kubernetes keeps this ConfigMap') as string,
      },
    ]);
  });

  it('a namespace that a template gives this name gets no copy', () => {
    const compilation = loadMaps({ name: "${namespaceObject.metadata.labels['name']}" }, 'ca');
    if (!compilation.ok) throw new Error('refused');
    const namespace = knownNamespace('a', { name: root });
    expect(compilation.value.copyIn(namespace, unlimitedBudget)).toMatchObject({ kind: 'error' });
  });

  it('the source may have this name', () => {
    expect(loadMaps({ name: 'cluster-ca' }, root).ok).toBe(true);
  });
});

describe('the targets', () => {
  it.each<readonly [string, object, string, Readonly<Record<string, string>>, boolean]>([
    ['a selector of everything', everywhere, 'a', {}, true],
    ['the glob for everything', { names: ['*'] }, 'a', {}, true],
    ['a name', { names: ['b', 'a'] }, 'a', {}, true],
    ['another name', { names: ['b'] }, 'a', {}, false],
    ['a label', { namespaceSelector: { matchLabels: { pull: 'true' } } }, 'a', { pull: 'true' }, true],
    ['no label', { namespaceSelector: { matchLabels: { pull: 'true' } } }, 'a', {}, false],
    ['an excluded name', { names: ['*'], excludeNames: ['ci-*'] }, 'ci-1', {}, false],
    ['a name without the label', { namespaceSelector: labelled(), names: ['ci-*'] }, 'ci-1', {}, false],
    ['both', { namespaceSelector: labelled(), names: ['ci-*'] }, 'ci-1', { pull: 'true' }, true],
    ['the first alternative', { anyOf: [{ names: ['a'] }, { names: ['b'] }] }, 'a', {}, true],
    [
      'the second alternative',
      { anyOf: [{ names: ['b'] }, { namespaceSelector: labelled() }] },
      'a',
      pull,
      true,
    ],
    ['no alternative', { anyOf: [{ names: ['b'] }, { namespaceSelector: labelled() }] }, 'a', {}, false],
    ['an alternative alone', { names: ['c'], anyOf: [{ names: ['a'] }] }, 'a', {}, false],
    ['an alternative and the other terms', { names: ['*'], anyOf: [{ names: ['a'] }] }, 'a', {}, true],
    ['an alternative that excludes it', { anyOf: [{ names: ['*'], excludeNames: ['a'] }] }, 'a', {}, false],
    ['a name excluded from all', { anyOf: [{ names: ['*'] }], excludeNames: ['a'] }, 'a', {}, false],
    ['a label alone', { namespaceSelector: labelled(), names: ['ci-*'] }, 'a', { pull: 'true' }, false],
  ])('%s', (_title, targets, name, labels, reached) => {
    const { match } = compile({ targets });
    expect(matchNamespace(match, knownNamespace(name, labels)).kind).toBe(reached ? 'yes' : 'no');
  });
});

function labelled(): object {
  return { matchLabels: { pull: 'true' } };
}
