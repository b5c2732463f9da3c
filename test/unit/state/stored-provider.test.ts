// The state of stored policies and shares, read also where they do not load.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import type { ProviderKind } from '../../../src/api/kinds.ts';
import { noDeletions } from '../../../src/policy/terms/deletion-record.ts';
import { loadStored, problemsText } from '../../../src/state/stored-provider.ts';

function object(kind: ProviderKind, spec: unknown, more: object = {}, metadata: object = {}): KubeObject {
  return { apiVersion: 'reeve.dev/v1alpha1', kind, metadata: { name: 'a', ...metadata }, spec, ...more };
}

const source = { namespace: 'shared', name: 'a' };
const goodShare = { source, targets: { names: ['a'] } };
const binding = {
  name: 'x',
  roleRef: { kind: 'ClusterRole', name: 'edit' },
  subjects: [{ kind: 'User', name: 'jane' }],
};

describe('the state of a provider', () => {
  it('the state is read from metadata, spec and status', () => {
    const metadata = {
      uid: 'u',
      generation: 3,
      resourceVersion: '42',
      finalizers: ['example.com/other', 'reeve.dev/cleanup'],
      annotations: { 'reeve.dev/confirm-deletions': '30' },
      deletionTimestamp: '2026-11-21T12:00:00Z',
    };
    const spec = { ...goodShare, deletionPolicy: 'Orphan', maxDeletions: 0, suspend: true };
    const status = { confirmationUsed: '25' };
    expect(loadStored('SecretShare', object('SecretShare', spec, { status }, metadata), undefined)).toEqual(
      expect.objectContaining({
        standing: 'loaded',
        problems: [],
        state: {
          id: 'SecretShare/a',
          uid: 'u',
          generation: 3,
          resourceVersion: '42',
          isValid: true,
          isDeleting: true,
          hasFinalizer: true,
          provides: true,
          isSuspended: true,
          deletionPolicy: 'Orphan',
          maxDeletions: 0,
          confirmation: '30',
          confirmationUsed: '25',
          deletions: noDeletions,
        },
      }),
    );
  });

  it.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['a text', 'spec'],
    [
      'odd fields',
      { deletionPolicy: 'orphan', maxDeletions: '5', suspend: 'true', contents: { resources: {} } },
    ],
    ['numbers that are no counts', { maxDeletions: -1, suspend: 1, contents: [] }],
    ['a fraction', { maxDeletions: 1.5 }],
  ])('the state has its defaults if the spec is %s', (_title, spec) => {
    const { state, standing } = loadStored('NamespacePolicy', object('NamespacePolicy', spec), undefined);
    expect(standing).toBe('refused');
    expect(state).toEqual({
      id: 'NamespacePolicy/a',
      uid: '',
      generation: 0,
      resourceVersion: '',
      isValid: false,
      isDeleting: false,
      hasFinalizer: false,
      provides: false,
      isSuspended: false,
      deletionPolicy: 'Delete',
      maxDeletions: 20,
      confirmation: undefined,
      confirmationUsed: undefined,
      deletions: noDeletions,
    });
  });

  it.each<readonly [string, ProviderKind, unknown, boolean]>([
    ['a share', 'SecretShare', goodShare, true],
    ['a share that does not load', 'SecretShare', {}, true],
    ['a policy without contents', 'NamespacePolicy', {}, false],
    [
      'a policy with none of either',
      'NamespacePolicy',
      { contents: { roleBindings: [], resources: [] } },
      false,
    ],
    ['a policy with a RoleBinding', 'NamespacePolicy', { contents: { roleBindings: [binding] } }, true],
    ['a policy that does not load', 'NamespacePolicy', { contents: { resources: [5] } }, true],
  ])('%s provides: %s', (_title, kind, spec, provides) => {
    expect(loadStored(kind, object(kind, spec), undefined).state.provides).toBe(provides);
  });

  it('the state is read from a version that does not load', () => {
    const spec = { deletionPolicy: 'Orphan', maxDeletions: 3, suspend: true };
    const { state } = loadStored('SecretShare', object('SecretShare', spec), undefined);
    expect(state).toMatchObject({
      deletionPolicy: 'Orphan',
      maxDeletions: 3,
      isSuspended: true,
      isValid: false,
    });
  });
});

describe('the version in force', () => {
  it('a provider is compiled again only if its spec has changed', () => {
    const first = loadStored('NamespacePolicy', object('NamespacePolicy', { suspend: false }), undefined);
    const same = loadStored('NamespacePolicy', object('NamespacePolicy', { suspend: false }), first);
    const other = loadStored('NamespacePolicy', object('NamespacePolicy', { suspend: true }), same);
    expect(same.definition).toBe(first.definition);
    expect(other.definition).not.toBe(first.definition);
    expect(other.definition?.compiled.isSuspended).toBe(true);
  });

  it('metadata that only the API server accepts does not stop a provider from loading', () => {
    const metadata = { annotations: { 'Example.COM/Note': 'x' }, labels: { 'x!': 'y' } };
    const { standing } = loadStored('SecretShare', object('SecretShare', goodShare, {}, metadata), undefined);
    expect(standing).toBe('loaded');
  });

  it('a provider whose expressions do not compile is not in force', () => {
    const spec = { validations: [{ name: 'x', expression: 'a ==' }] };
    const { standing, problems } = loadStored('NamespacePolicy', object('NamespacePolicy', spec), undefined);
    expect(standing).toBe('refused');
    expect(problems).toHaveLength(1);
  });
});

describe('problemsText', () => {
  const problem = { path: ['spec', 'a'], found: 'nothing', accepted: 'text' };

  it('the text names every problem', () => {
    expect(problemsText([problem, { ...problem, path: ['spec', 'b'] }])).toBe(
      'spec.a: found nothing; accepted: text; spec.b: found nothing; accepted: text',
    );
    expect(problemsText([])).toBe('');
  });

  it('a long text is cut so that it fits into a condition', () => {
    const text = problemsText(Array.from({ length: 2000 }, () => problem));
    expect(text.length).toBeLessThan(32_768);
    expect(text).toMatch(/; and \d+ more$/);
  });
});
