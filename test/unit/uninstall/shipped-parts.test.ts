// The parts that an uninstall deletes: everything in manifests/, in an order that blocks no request.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kindDefinitions } from '../../../src/api/kinds.ts';
import { readShippedParts, shippedParts } from '../../../src/uninstall/facts.ts';

const manifests = join(import.meta.dirname, '..', '..', '..', 'manifests');

/** Reads text, so that a bug of the YAML reader hides nothing. */
function shippedNames(): readonly string[] {
  const files = globSync(join(manifests, '{crds,install,named-secrets,all-in-one,webhooks}', '*.yaml'));
  const documents = files.flatMap((file) => readFileSync(file, 'utf8').split(/^---$/m));
  const names = documents.flatMap((document) => {
    const kind = /^kind: (\w+)$/m.exec(document)?.[1];
    const name = /^metadata:(?: \{ ?|\n {2}(?:annotations:\n(?: {4}.*\n)+ {2})?)name: ([\w.-]+)/m.exec(
      document,
    )?.[1];
    return kind === undefined ? [] : [`${kind} ${name}`];
  });
  return [...new Set(names)].filter((name) => !name.startsWith('Namespace '));
}

test('the parts contain each shipped object once', async () => {
  const parts = await readShippedParts({ namespace: 'reeve-system' });
  const all = Object.values(parts).flat();
  const names = all.map(({ kind, name }) => `${kind} ${name}`);
  expect(names).toEqual(expect.arrayContaining([...shippedNames()]));
  expect(names).toContain('Secret reeve-webhook-ca');
  const whole = all.map((ref) => JSON.stringify(ref));
  expect(new Set(whole).size).toBe(whole.length);
});

test('each object with a namespace is in one of the install, so nothing of other programs is deleted', async () => {
  const parts = await readShippedParts({ namespace: 'reeve-system' });
  const all = Object.values(parts).flat() as readonly { readonly namespace?: string }[];
  const namespaces = all.map(({ namespace }) => namespace);
  expect(new Set(namespaces)).toEqual(new Set([undefined, 'reeve-shared', 'reeve-system']));
});

test('webhook configurations, guards and definitions are parts of their own', async () => {
  const { hooksOwner, hooks, guards, definitions } = await readShippedParts({ namespace: 'reeve-system' });
  expect(hooksOwner.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['ClusterRole reeve-webhook']);
  expect(hooks.map(({ kind }) => kind).sort()).toEqual([
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
  ]);
  expect(guards.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['reeve-guard', 'reeve-jail', 'reeve-jail-owner']),
  );
  expect(definitions.map(({ name }) => name).sort()).toEqual(
    kindDefinitions.map(({ plural }) => `${plural}.reeve.dev`).toSorted(),
  );
});

test('the right to answer reviews is no part of the role that owns the webhook configurations', async () => {
  const { program, rights, rest } = await readShippedParts({ namespace: 'reeve-system' });
  expect(program.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Deployment']));
  expect(program.map(({ kind }) => kind)).not.toContain('ClusterRoleBinding');
  expect(rights.map(({ name }) => name)).toEqual(expect.arrayContaining(['reeve-webhook-reviews']));
  expect(rest.map(({ kind, name }) => `${kind} ${name}`)).toContain('ClusterRole reeve-webhook-reviews');
});

test('objects of the shipped namespace are deleted in the namespace of the install', () => {
  const metadata = { name: 'reeve-webhook', namespace: 'reeve-system' };
  const elsewhere = { ...metadata, namespace: 'other' };
  const objects = [metadata, elsewhere].map((each) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: each,
  }));
  const { rest } = shippedParts(objects, { namespace: 'platform' });
  expect(rest.map(({ kind, namespace }) => `${kind} ${namespace}`)).toEqual([
    'Service platform',
    'Service other',
    'Secret platform',
    'Secret platform',
  ]);
});
