// Tests how the certificates of several sources become one bundle.
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { pemBundleOf, type PemBundle } from '../../../../src/policy/plan/pem-bundle.ts';

const now = new Date('2026-01-01T00:00:00Z');
const [one = '', two = '', three = ''] = rootCertificates.filter(
  (each) => new X509Certificate(each).validToDate.getTime() > now.getTime(),
);

function bundle(texts: readonly string[], at = now): PemBundle | readonly string[] {
  const result = pemBundleOf(
    texts.map((text, index) => ({ path: ['sources', index], text })),
    at,
  );
  return result.ok ? result.value : result.problems.map(({ path, found }) => [...path, found].join(' '));
}

describe('a bundle', () => {
  test('a bundle has each certificate once, and counts the others', () => {
    expect(bundle([`${one}\n${two}\n`, one])).toMatchObject({ certificates: 2, duplicates: 1, expired: 0 });
  });
  test('a bundle has the same bytes for sources in any order, with any line ends and comments', () => {
    const crlf = `# an authority\r\n${two.replaceAll('\n', '\r\n')}\r\n`;
    expect(bundle([crlf, `${three}\n${one}`])).toEqual(bundle([`${one}\n${two}\n${three}\n`]));
  });
  test('a bundle wraps each certificate in the same way and ends it with a line break', () => {
    expect(bundle([one.replaceAll('\n', '\r\n')])).toMatchObject({
      text: new X509Certificate(one).toString(),
    });
  });
  test('a bundle leaves out expired certificates, counts them, and says when the next one expires', () => {
    const ends = [one, two, three].map((each) => new X509Certificate(each).validToDate.getTime());
    const first = Math.min(...ends);
    expect(bundle([one, two, three])).toMatchObject({ nextExpiry: first, expired: 0 });
    const later = bundle([one, two, three], new Date(first));
    expect(later).toMatchObject({ certificates: ends.filter((end) => end > first).length });
    expect(later).toMatchObject({ expired: ends.filter((end) => end === first).length });
  });
});

describe('a source refuses the bundle', () => {
  const broken = one.replace(/[A-Za-z0-9+/]{64}/u, 'A'.repeat(64));
  test.for<[string, readonly string[], string]>([
    ['without a certificate', [one, 'no PEM'], 'sources 1 no certificate'],
    ['with a broken certificate', [broken], 'sources 0 block 1, which cannot be read'],
    [
      'with a cut certificate',
      [`${one}\n${two.slice(0, 200)}`],
      'sources 0 a block without its beginning or end',
    ],
    [
      'with another block',
      [`${one}\n-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n`],
      'sources 0 block 2, which is no certificate',
    ],
  ])('%s', ([, texts, problem]) => {
    expect(bundle(texts)).toEqual([problem]);
  });
  test('a refused bundle names the sources together when several are broken', () => {
    expect(bundle(['', ''])).toEqual(['sources 0 no certificate', 'sources 1 no certificate']);
  });
  test('a refused bundle says that all certificates have expired, so that the last good bundle stays', () => {
    expect(bundle([one], new Date('2999-01-01T00:00:00Z'))).toEqual(['expired certificates alone']);
  });
});
