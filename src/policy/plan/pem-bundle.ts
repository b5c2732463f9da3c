// Joins the certificates of several texts into one bundle: each once, without expired ones, in an order that does not change.
import { X509Certificate } from 'node:crypto';
import { compiled, refused, type CompileResult, type Problem } from '../../base/problem.ts';

export interface PemBundle {
  readonly text: string;
  readonly certificates: number;
  readonly duplicates: number;
  readonly expired: number;
  /** When the next certificate expires, in milliseconds since the epoch. The bundle must be built again then. */
  readonly nextExpiry: number | undefined;
}

/** One value of a source, and where it is: `["reeve-shared/corp-ca", "ca.crt"]`. */
interface BundlePart {
  readonly path: Problem['path'];
  readonly text: string;
}

const block = /-----BEGIN (?<label>[^-\r\n]{1,64})-----(?<body>[^-]*)-----END \k<label>-----/gu;
const boundary = /-----(?:BEGIN|END) /gu;

/**
 * Text between the blocks is dropped, because bundles hold comments there. Orders by fingerprint, so that a source in another
 * order gives the same bytes. A part that holds anything but certificates refuses the bundle, so that its copies stay.
 */
export function pemBundleOf(parts: readonly BundlePart[], now: Date): CompileResult<PemBundle> {
  const read = parts.map(certificatesOf);
  const problems = read.flatMap((each) => (each.ok ? [] : each.problems));
  if (problems.length > 0) return refused(problems);
  const all = read.flatMap((each) => (each.ok ? each.value : []));
  const unique = new Map(all.map((certificate) => [certificate.fingerprint256, certificate]));
  const kept = [...unique].filter(([, { validToDate }]) => validToDate.getTime() > now.getTime());
  const ordered = kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, certificate]) => certificate);
  if (ordered.length === 0)
    return refused([
      {
        path: [],
        found: unique.size === 0 ? 'no certificate' : 'expired certificates alone',
        accepted: 'at least one certificate that has not expired',
      },
    ]);
  const ends = ordered.map(({ validToDate }) => validToDate.getTime());
  return compiled({
    text: ordered.map((certificate) => certificate.toString()).join(''),
    certificates: ordered.length,
    duplicates: all.length - unique.size,
    expired: unique.size - ordered.length,
    nextExpiry: ends.reduce((a, b) => Math.min(a, b)),
  });
}

/** The problems name the block by its number, and quote nothing. */
function certificatesOf({ path, text }: BundlePart): CompileResult<readonly X509Certificate[]> {
  const blocks = [...text.matchAll(block)];
  const boundaries = [...text.matchAll(boundary)].length;
  const problem = (found: string): CompileResult<never> =>
    refused([{ path, found, accepted: 'certificates in PEM' }]);
  if (blocks.length === 0) return problem('no certificate');
  if (boundaries !== 2 * blocks.length) return problem('a block without its beginning or end');
  const certificates: X509Certificate[] = [];
  for (const [index, { 0: pem, groups = {} }] of blocks.entries()) {
    if (groups['label'] !== 'CERTIFICATE') return problem(`block ${index + 1}, which is no certificate`);
    const certificate = parsed(pem);
    if (certificate === undefined) return problem(`block ${index + 1}, which cannot be read`);
    certificates.push(certificate);
  }
  return compiled(certificates);
}

/** Drops the error, because it may quote the text. */
function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
