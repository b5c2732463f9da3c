// What becomes of the authorities in the webhook configurations, when they are ours and when others write them.
import { describe, expect, it, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import {
  carriesBundle,
  webhooksWithoutBundle,
  withFoundBundles,
  withWantedBundle,
} from '../../../src/registration/configuration-keeper.ts';

const pem = '-----BEGIN CERTIFICATE-----\n';
const ours = Buffer.from(pem).toString('base64');
const theirs = 'dGhlaXJz';

function configuration(bundles: Readonly<Record<string, string | undefined>>): KubeObject {
  const webhooks = Object.entries(bundles).map(([name, caBundle]) => ({
    name,
    failurePolicy: 'Fail',
    clientConfig: { service: { name: 'front' }, ...(caBundle === undefined ? {} : { caBundle }) },
  }));
  return { metadata: { name: 'reeve' }, webhooks };
}

test.each<readonly [string, KubeObject | undefined, boolean]>([
  ['all webhooks have it', configuration({ a: ours, b: ours }), true],
  ['one has another', configuration({ a: ours, b: theirs }), false],
  ['one has more', configuration({ a: ours, b: ours + theirs }), false],
  ['one has none', configuration({ a: ours, b: undefined }), false],
  ['there are no webhooks', configuration({}), false],
  ['there is no list', { metadata: {} }, false],
  ['there is no configuration', undefined, false],
])('a configuration carries the bundle or not when %s', (_, stored, expected) => {
  expect(carriesBundle(stored, pem)).toBe(expected);
});

describe('bundles of others', () => {
  const wanted = configuration({ a: undefined, b: undefined });

  it('a bundle of another writer is kept, and a webhook without a bundle is listed', () => {
    const made = withFoundBundles(wanted, configuration({ b: theirs, c: theirs }));
    expect(made['webhooks']).toEqual([
      { name: 'a', failurePolicy: 'Ignore', clientConfig: { service: { name: 'front' } } },
      { name: 'b', failurePolicy: 'Fail', clientConfig: { service: { name: 'front' }, caBundle: theirs } },
    ]);
    expect(webhooksWithoutBundle(made)).toEqual(['a']);
  });

  it.each([
    ['nothing is stored', undefined],
    ['they are empty', configuration({ a: '', b: '' })],
  ])('every webhook lacks a bundle when %s', (_, stored) => {
    const made = withFoundBundles(wanted, stored);
    expect(webhooksWithoutBundle(made)).toEqual(['a', 'b']);
  });
});

it('our bundle is set only on webhooks that call our Service', () => {
  const elsewhere = { name: 'c', clientConfig: { service: { name: 'other' }, caBundle: theirs } };
  const stored = configuration({ a: theirs, b: undefined });
  const webhooks = [...(stored['webhooks'] as readonly object[]), elsewhere];
  const made = withWantedBundle({ ...stored, webhooks }, configuration({ x: ours }));
  expect(made['webhooks']).toEqual([
    ...(configuration({ a: ours, b: ours })['webhooks'] as readonly object[]),
    elsewhere,
  ]);
});
