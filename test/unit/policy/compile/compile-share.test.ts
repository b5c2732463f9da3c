// What a share compiles to: whom it reaches, and what its copies look like.
import { kinds } from '../../../../src/api/kinds.ts';
import { describe, expect, it } from 'vitest';
import { compileShare, type CompiledShare } from '../../../../src/policy/compile/compile-policy.ts';
import { matchNamespace } from '../../../../src/policy/terms/match.ts';
import { knownNamespace } from '../../../support/engine.ts';

const source = { namespace: 'reeve-shared', name: 'regcred' };
const everywhere = { namespaceSelector: {} };

function compile(spec: object): CompiledShare {
  const parsed = kinds.SecretShare.parse({
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'SecretShare',
    metadata: { name: 'pull' },
    spec: { source, targets: everywhere, ...spec },
  });
  if (!parsed.ok) throw new Error('refused');
  const compilation = compileShare(parsed.value);
  if (!compilation.ok) throw new Error('refused');
  return compilation.value;
}

const plain = { name: 'regcred', type: '', keys: undefined, labels: {}, isImmutable: false };

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
          immutable: true,
        },
      },
      {
        name: 'regcred',
        type: 'example.com/pull',
        keys: [{ from: 'a', to: '__proto__' }],
        labels: { constructor: 'x' },
        isImmutable: true,
      },
    ],
  ])('%s', (_title, spec, copy) => {
    const share = compile(spec);
    expect(share).toMatchObject({ name: 'pull', source, isSuspended: false });
    expect(share.copy).toEqual(copy);
  });

  it('copies are left alone while the share is suspended', () => {
    expect(compile({ suspend: true }).isSuspended).toBe(true);
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
    ['a label alone', { namespaceSelector: labelled(), names: ['ci-*'] }, 'a', { pull: 'true' }, false],
  ])('%s', (_title, targets, name, labels, reached) => {
    const { match } = compile({ targets });
    expect(matchNamespace(match, knownNamespace(name, labels)).kind).toBe(reached ? 'yes' : 'no');
  });
});

function labelled(): object {
  return { matchLabels: { pull: 'true' } };
}
