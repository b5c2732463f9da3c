// The kind ConfigMapShare: what parses, and the problems of what does not.
import { expect, test } from 'vitest';
import { kinds } from '../../../src/api/kinds.ts';
import { renderProblem } from '../../../src/base/problem.ts';

const source = { namespace: 'reeve-shared', name: 'ca' };
const targets = { names: ['app-*'] };

function problemsOf(spec: unknown): readonly string[] {
  const metadata = { name: 'test' };
  const object = { apiVersion: 'reeve.dev/v1alpha1', kind: 'ConfigMapShare', metadata, spec };
  const parsed = kinds.ConfigMapShare.parse(object);
  return parsed.ok ? [] : parsed.problems.map(renderProblem);
}

test.each<readonly [string, object]>([
  ['a ConfigMap without keys', { sources: [source], targets }],
  ['named keys of a Secret', { sources: [{ ...source, kind: 'Secret', keys: [{ from: 'a' }] }], targets }],
  ['a bundle', { sources: [source], targets, target: { format: 'PEMBundle', key: 'ca.crt' } }],
  [
    'one key under two names',
    { sources: [{ ...source, keys: [{ from: 'a' }, { from: 'a', to: 'b' }] }], targets },
  ],
])('a share can have %s', (_what, spec) => {
  expect(problemsOf(spec)).toEqual([]);
});

test.each<readonly [string, object, string]>([
  [
    'a Secret without keys',
    { sources: [{ ...source, kind: 'Secret' }], targets },
    'spec.sources[0].keys: found nothing; accepted: the keys to copy, if the source is a Secret',
  ],
  [
    'another kind',
    { sources: [{ ...source, kind: 'Secrets', keys: [{ from: 'a' }] }], targets },
    'spec.sources[0].kind: found "Secrets"; accepted: ConfigMap or Secret',
  ],
  [
    'one key twice',
    {
      sources: [
        { ...source, keys: [{ from: 'a' }] },
        { ...source, keys: [{ from: 'b', to: 'a' }] },
      ],
      targets,
    },
    'spec.sources[1].keys[0].to: found "a"; accepted: each key of the copies once, over all sources',
  ],
  [
    'a format without a key',
    { sources: [source], targets, target: { format: 'PEMBundle' } },
    'spec.target.key: found nothing; accepted: both format and key, or neither',
  ],
  [
    'another format',
    { sources: [source], targets, target: { format: 'PemBundle', key: 'ca.crt' } },
    'spec.target.format: found "PemBundle"; accepted: PEMBundle',
  ],
  [
    'a new name in a bundle',
    {
      sources: [{ ...source, keys: [{ from: 'a', to: 'b' }] }],
      targets,
      target: { format: 'PEMBundle', key: 'c' },
    },
    'spec.sources[0].keys[0].to: found "b"; accepted: no new name, because the bundle has one key',
  ],
  [
    'a label of Reeve',
    { sources: [source], targets, target: { labels: { 'reeve.dev/configmapshare': 'x' } } },
    'spec.target.labels["reeve.dev/configmapshare"]: must not set app.kubernetes.io/managed-by or keys of reeve.dev/',
  ],
])('a share cannot have %s', (_what, spec, problem) => {
  expect(problemsOf(spec)).toEqual([problem]);
});
