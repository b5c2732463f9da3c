import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { protections } from '../../../src/reconcile/guard-monitor.ts';

const file = join(import.meta.dirname, '../../../manifests/install/20-reconciler.yaml');

interface Rule {
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

test.each([
  ['validatingadmissionpolicies', protections.map(({ policy }) => policy)],
  ['validatingadmissionpolicybindings', protections.map(({ binding }) => binding)],
])('the reconciler may read the %s that it checks, and no others', (resource, names) => {
  const rules = parseAllDocuments(readFileSync(file, 'utf8')).flatMap(
    (document) => (document.toJS() as { readonly rules?: readonly Rule[] } | null)?.rules ?? [],
  );
  const readable = rules.flatMap(({ resources, resourceNames = [] }) =>
    resources.includes(resource) ? resourceNames : [],
  );
  expect([...readable].sort()).toEqual([...new Set(names)].sort());
});
