// What stands in the Secret of the shared authority: it comes back as it was written, and anything else is not taken.
import { beforeAll, describe, expect, test } from 'vitest';
import {
  authorityOf,
  bundleOf,
  encodeState,
  parseState,
  type Authority,
  type AuthorityState,
} from '../../../../src/certs/authority/authority-state.ts';
import { issueAuthority, issueServing, type PemPair } from '../../../../src/certs/issue/issue.ts';
import { servingNames } from '../../../../src/certs/issue/names.ts';
import { testNow } from '../files/issuer.ts';

const hourMs = 3_600_000;
let authorities: readonly Authority[];
let leaf: PemPair;
let state: AuthorityState;

beforeAll(async () => {
  authorities = await Promise.all(
    Array.from({ length: 3 }, async () => authorityOf(await issueAuthority(3 * hourMs, testNow))),
  );
  const [signing, next, retired] = authorities;
  if (signing === undefined || next === undefined || retired === undefined) throw new Error('three');
  leaf = await issueServing(signing, servingNames('reeve-system', []), hourMs, testNow);
  state = { signing, next, retired: [{ certPem: retired.certPem, until: testNow.getTime() + hourMs }] };
});

test('an encoded state decodes to the same state', () => {
  expect(parseState(encodeState(state))).toEqual(state);
  const { signing, next } = state;
  const others: readonly AuthorityState[] = [
    { ...(signing === undefined ? {} : { signing }), retired: [] },
    { ...(next === undefined ? {} : { next }), retired: state.retired },
  ];
  for (const other of others) expect(parseState(encodeState(other))).toEqual(other);
});

test('a new authority is valid from before its creation, for clients whose clock is slow', () => {
  const begin = Math.floor(testNow.getTime() / 1000) * 1000;
  expect(state.signing).toMatchObject({ createdAt: begin, notAfter: begin + 3 * hourMs });
});

test('the key of a retired authority is not written', () => {
  const { keyPem = '', certPem = '' } = authorities[2] ?? {};
  expect(encodeState(state)).toContain(JSON.stringify(certPem));
  expect(encodeState(state)).not.toContain(JSON.stringify(keyPem));
});

test('the bundle lists each authority once, in an order that does not depend on their states', () => {
  const bundle = bundleOf(state);
  expect(bundle.match(/BEGIN CERTIFICATE/g)).toHaveLength(3);
  expect(bundle).not.toContain('PRIVATE KEY');
  const [retired, signing, next] = authorities;
  if (signing === undefined || next === undefined || retired === undefined) throw new Error('three');
  const later = [signing, retired].map(({ certPem }) => ({ certPem, until: 1 }));
  expect(bundleOf({ signing: next, retired: later })).toBe(bundle);
});

test('a retired authority is never trusted beyond its expiry, even if the state says so', () => {
  const [forever] = state.retired.map(({ certPem }) => ({
    certPem,
    until: Date.parse('9999-12-31T00:00:00Z'),
  }));
  if (forever === undefined) throw new Error('one is retired');
  const until = authorities[2]?.notAfter;
  expect(parseState(encodeState({ ...state, retired: [forever] }))?.retired).toEqual([{ ...forever, until }]);
});

describe('an invalid state', () => {
  interface Written {
    signing?: { certificate?: unknown; key?: unknown };
    next?: unknown;
    retired?: unknown;
  }
  const changed = (change: (written: Written) => void): string => {
    const written = JSON.parse(encodeState(state)) as Written;
    change(written);
    return JSON.stringify(written);
  };
  const rows: readonly (readonly [string, () => string])[] = [
    ['nothing', () => ''],
    ['half of it', () => encodeState(state).slice(0, 900)],
    ['a list', () => '[]'],
    ['null', () => 'null'],
    ['a mebibyte of rubbish', () => 'x'.repeat(1024 * 1024)],
    ['a mebibyte of JSON', () => JSON.stringify({ retired: [], more: 'x'.repeat(1024 * 1024) })],
    ['nobody who signs', () => changed((written) => void (delete written.signing, delete written.next))],
    ['no list of retired ones', () => changed((written) => void delete written.retired)],
    [
      'too long a list of them',
      () => changed((written) => void (written.retired = Array.from({ length: 11 }, () => ({})))),
    ],
    ['a retired one without a certificate', () => changed((written) => void (written.retired = [{}]))],
    [
      'a retired one without an end',
      () => changed((written) => void (written.retired = [{ certificate: state.signing?.certPem }])),
    ],
    ['no certificate', () => changed(({ signing = {} }) => void delete signing.certificate)],
    ['no key', () => changed(({ signing = {} }) => void delete signing.key)],
    ['the key of another', () => changed(({ signing = {} }) => void (signing.key = state.next?.keyPem))],
    ['a key that is none', () => changed(({ signing = {} }) => void (signing.key = 'key'))],
    [
      'half a certificate',
      () => changed(({ signing = {} }) => void (signing.certificate = state.signing?.certPem.slice(0, 200))),
    ],
    [
      'two certificates in the place of one',
      () => changed(({ signing = {} }) => void (signing.certificate = String(signing.certificate).repeat(2))),
    ],
    [
      'a certificate that is no authority',
      () => changed((written) => void (written.signing = { certificate: leaf.certPem, key: leaf.keyPem })),
    ],
  ];
  test.each(rows)('%s', (_, text) => {
    expect(parseState(text())).toBeUndefined();
  });

  test('fields of later versions are ignored', () => {
    const added = { ...(JSON.parse(encodeState(state)) as object), version: 2, history: [{ key: 'x' }] };
    expect(parseState(JSON.stringify(added))).toEqual(state);
  });
});
