// The search for secret bytes: nothing of a secret gets past it, and nothing else is taken for one.
import { expect, test } from 'vitest';
import { leaksIn, needlesOf, keysAndTokens } from '../../soak/leaks.ts';

const secret = 'canary0123456789abcdef';
const needles = needlesOf('the canary', secret);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['as it is', `a log line with ${secret} in it`, ['the canary']],
  ['in base64, alone', base64(secret), ['the canary in base64']],
  ['in base64, after one byte', base64(`x${secret} more`), ['the canary in base64']],
  ['in base64, after two bytes', base64(`xy${secret} more`), ['the canary in base64']],
  ['in base64, far inside', base64(JSON.stringify({ data: { token: secret } })), ['the canary in base64']],
  ['in both', `${secret} ${base64(secret)}`, ['the canary', 'the canary in base64']],
  ['not at all', `canary ${base64('canary')}`, []],
])('a canary %s', (_, text, leaks) => {
  expect(leaksIn(text, needles)).toEqual(leaks);
});

test.each([
  ['-----BEGIN PRIVATE KEY-----\nMIG', ['a private key']],
  ['-----BEGIN EC PRIVATE KEY-----\nMIG', ['a private key']],
  [base64('-----BEGIN RSA PRIVATE KEY-----\nMIG'), ['a private key in base64']],
  [base64('-----BEGIN PRIVATE KEY-----\nMIG'), ['a private key in base64']],
  ['-----BEGIN CERTIFICATE-----\nMIG', []],
  ['Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6', ['a token']],
  [base64('{"token":"eyJhbGciOiJSUzI1NiIsImtpZCI6'), ['a token in base64']],
])('keys and tokens are found in a text: %s', (text, leaks) => {
  expect(leaksIn(text, keysAndTokens)).toEqual(leaks);
});
