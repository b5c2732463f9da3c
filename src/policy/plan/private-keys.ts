// Finds private keys in the values of a source by their content. A ConfigMap must hold none, because many users read ConfigMaps.

/** Text that only a private key begins with: PEM, PGP, SSH2, PuTTY, age, .NET and the private member of a JWK. */
const keyTexts: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/u,
  /---- BEGIN SSH2 (?:[A-Z]+ )*PRIVATE KEY ----/u,
  /PuTTY-User-Key-File-\d/u,
  /AGE-SECRET-KEY-1/u,
  /openssh-key-v1/u,
  /<D>[A-Za-z0-9+/=\s]{16,}<\/D>/u,
];

/** Two patterns, because a pattern for both members in any order would be slow on a long text. */
const jwkTexts: readonly RegExp[] = [
  /\bkty\b/u,
  /(?<![A-Za-z0-9_-])[dk]["']?\s{0,20}:\s{0,20}["']?[A-Za-z0-9_-]{16,}/u,
];

/** Runs of base64 and base64url, with or without line breaks. A shorter run holds no key. */
const encodedRuns: readonly RegExp[] = [
  /[A-Za-z0-9+/]{40,}(?:\s+[A-Za-z0-9+/]+)*/gu,
  /[A-Za-z0-9_-]{40,}(?:\s+[A-Za-z0-9_-]+)*/gu,
];

/** DER in hexadecimal. */
const hexRun = /(?:[0-9a-fA-F]{2}){20,}/gu;

/** What JSON, YAML and URLs write in place of a character. A run of base64 must not go on through it. */
const escapes: readonly (readonly [RegExp, (code: string) => string])[] = [
  [/%([0-9a-fA-F]{2})/gu, (code) => String.fromCharCode(Number.parseInt(code, 16))],
  [/\\+u00([0-9a-fA-F]{2})/gu, (code) => String.fromCharCode(Number.parseInt(code, 16))],
  [/\\+[rnt]/gu, () => '\n'],
  [/\\+(["'/])/gu, (code) => code],
];

/** A key in a kubeconfig in a Secret manifest is encoded twice. */
const maxDepth = 3;

/** Returns whether the bytes hold a private key, as text, as DER, or as base64 of either. */
export function holdsPrivateKey(bytes: Buffer, depth = 0): boolean {
  if (isDerKey(bytes) || isKeyStore(bytes)) return true;
  // Text in UTF-16 has a NUL in each character.
  const text = withoutEscapes(bytes.toString('latin1').replaceAll('\0', ''));
  if (keyTexts.some((each) => each.test(text)) || jwkTexts.every((each) => each.test(text))) return true;
  return depth < maxDepth && encodedIn(text).some((each) => holdsPrivateKey(each, depth + 1));
}

function withoutEscapes(text: string): string {
  return escapes.reduce(
    (plain, [escape, characterOf]) => plain.replaceAll(escape, (_, code: string) => characterOf(code)),
    text,
  );
}

/** A line break can end a value or wrap it, so each run is decoded as a whole and in its lines. */
function encodedIn(text: string): readonly Buffer[] {
  const [plain = [], ofUrls = []] = encodedRuns.map((each) =>
    Array.from(text.matchAll(each), ([run]) => run),
  );
  const runs = [...plain, ...ofUrls.filter((run) => /[-_]/u.test(run))];
  return runs
    .flatMap((run) => {
      const lines = run.split(/\s+/u).filter((line) => line.length >= 40);
      return lines[0] === run ? lines : [run, ...lines];
    })
    .map((run) => Buffer.from(run, 'base64'))
    .concat(Array.from(text.matchAll(hexRun), ([run]) => Buffer.from(run, 'hex')));
}

/** Java and Bouncy Castle key stores. A store of certificates alone begins in the same way, so it counts as well. */
function isKeyStore(bytes: Buffer): boolean {
  const magic = bytes.subarray(0, 8).toString('hex');
  return ['feedfeed', 'cececece', '0000000200000014'].some((each) => magic.startsWith(each));
}

// Reads the first elements of DER. A cut value has the same beginning as a whole one.

const [integer, octets, objectId, sequence] = [0x02, 0x04, 0x06, 0x30];

/** The length that some programs write at the beginning of PKCS #12: two zero bytes end the content. */
const indefinite = 0x80;

interface Element {
  readonly tag: number;
  readonly length: number;
  readonly content: Buffer;
  readonly rest: Buffer;
}

function elementOf(bytes: Buffer): Element | undefined {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) return undefined;
  if (first === indefinite)
    return { tag, length: bytes.length - 2, content: bytes.subarray(2), rest: Buffer.of() };
  const size = first < 0x80 ? 0 : first & 0x7f;
  if (size > 4 || bytes.length < 2 + size) return undefined;
  const length = size === 0 ? first & 0x7f : bytes.readUIntBE(2, size);
  const start = 2 + size;
  return {
    tag,
    length,
    content: bytes.subarray(start, start + length),
    rest: bytes.subarray(start + length),
  };
}

/** The object identifiers of encrypted keys: PKCS #5 and PKCS #12 encryption. */
const encryption: readonly string[] = ['2a864886f70d0105', '2a864886f70d010c01'];
/** PKCS #7 data, with which a PKCS #12 file begins. */
const pkcs7 = '2a864886f70d0107';

/** PKCS #8, plain and encrypted, PKCS #1, SEC 1, DSA and PKCS #12. */
function isDerKey(bytes: Buffer): boolean {
  const outer = elementOf(bytes);
  const first = outer?.tag === sequence ? elementOf(outer.content) : undefined;
  if (first === undefined) return false;
  const second = elementOf(first.rest);
  if (first.tag === sequence)
    return second?.tag === octets && encryption.some((each) => identifierOf(first).startsWith(each));
  if (first.tag !== integer || first.length !== 1 || second === undefined) return false;
  const followers = keysOfVersion.get(first.content[0]) ?? [];
  return followers.some((isKey) => isKey(second));
}

/** What follows the version that a key begins with. */
const keysOfVersion = new Map<number | undefined, readonly ((second: Element) => boolean)[]>([
  [0, [isPkcs8, isLongInteger]],
  [1, [isPkcs8, isSec1]],
  [3, [isPkcs12]],
]);

/** PKCS #1 and DSA. The version of other structures is followed by a sequence. */
function isLongInteger({ tag, length }: Element): boolean {
  return tag === integer && length >= 32;
}

function isSec1({ tag, length }: Element): boolean {
  return tag === octets && length >= 16;
}

function isPkcs12(second: Element): boolean {
  return second.tag === sequence && identifierOf(second).startsWith(pkcs7);
}

/** The algorithm comes before the key. A certificate request has the name of its subject there. */
function isPkcs8(second: Element): boolean {
  return second.tag === sequence && identifierOf(second) !== '';
}

/** Returns the object identifier that the sequence begins with, in hexadecimal. Empty if there is none. */
function identifierOf({ content }: Element): string {
  const inner = elementOf(content);
  return inner?.tag === objectId ? inner.content.toString('hex') : '';
}
