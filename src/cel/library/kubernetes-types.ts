// Implements the functions on the value types of Kubernetes: IP addresses, CIDR ranges, quantities and URLs.
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-ip-address-library
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-quantity-library
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-url-library
import { BOOL, INT, STRING, typeOfKind, DOUBLE, listType, mapType } from '../types/type.ts';
import { evaluationError, type Value, Double, CelMap, Boxed, MAX_UINT } from '../values/value.ts';
import { parseCidr, parseIp, type Cidr, type Ip } from '../values/ip.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';
import { parseQuantity, Quantity, sumOf } from '../values/quantity.ts';
import { isRequestUri, parseUrl, queryOf, type Url } from '../values/url.ts';
import { compareStrings } from '../values/equality.ts';

const IP = typeOfKind<Ip>('net.IP');
const CIDR = typeOfKind<Cidr>('net.CIDR');
const NOT_AN_IP = evaluationError('the text is not an IP address');
const NOT_A_CIDR = evaluationError('the text is not a range of IP addresses such as 10.0.0.0/8');

export const networkFunctions: readonly FunctionDefinition[] = [
  defineFunction('ip', [STRING], IP, (text) => parseIp(text) ?? NOT_AN_IP),
  defineFunction('isIP', [STRING], BOOL, (text) => parseIp(text) !== undefined),
  defineFunction('ip.isCanonical', [STRING], BOOL, isCanonical),
  defineFunction('string', [IP], STRING, String),
  defineMethod('family', [IP], INT, ({ family }) => BigInt(family)),
  defineMethod('isUnspecified', [IP], BOOL, ({ bits }) => bits === 0n),
  defineMethod('isLoopback', [IP], BOOL, isLoopback),
  defineMethod('isLinkLocalMulticast', [IP], BOOL, isLinkLocalMulticast),
  defineMethod('isLinkLocalUnicast', [IP], BOOL, isLinkLocalUnicast),
  defineMethod('isGlobalUnicast', [IP], BOOL, isGlobalUnicast),

  defineFunction('cidr', [STRING], CIDR, (text) => parseCidr(text) ?? NOT_A_CIDR),
  defineFunction('isCIDR', [STRING], BOOL, (text) => parseCidr(text) !== undefined),
  defineFunction('string', [CIDR], STRING, String),
  defineMethod('containsIP', [CIDR, STRING], BOOL, (range, text) => containsText(range, text)),
  defineMethod('containsIP', [CIDR, IP], BOOL, (range, ip) => range.containsIp(ip)),
  defineMethod('containsCIDR', [CIDR, STRING], BOOL, containsCidrText),
  defineMethod('containsCIDR', [CIDR, CIDR], BOOL, (range, other) => range.containsCidr(other)),
  defineMethod('ip', [CIDR], IP, ({ ip }) => ip),
  defineMethod('prefixLength', [CIDR], INT, ({ length }) => BigInt(length)),
  defineMethod('masked', [CIDR], CIDR, (range) => range.masked()),
];

function isCanonical(text: string): Value {
  const ip = parseIp(text);
  return ip === undefined ? NOT_AN_IP : ip.toString() === text;
}

function containsText(range: Cidr, text: string): Value {
  const ip = parseIp(text);
  return ip === undefined ? NOT_AN_IP : range.containsIp(ip);
}

function containsCidrText(range: Cidr, text: string): Value {
  const other = parseCidr(text);
  return other === undefined ? NOT_A_CIDR : range.containsCidr(other);
}

function isLoopback(ip: Ip): boolean {
  return ip.family === 4 ? ip.first(8) === 127n : ip.bits === 1n;
}

function isLinkLocalMulticast(ip: Ip): boolean {
  return ip.family === 4 ? ip.first(24) === 0xe00000n : (ip.first(16) & 0xff0fn) === 0xff02n;
}

function isLinkLocalUnicast(ip: Ip): boolean {
  return ip.family === 4 ? ip.first(16) === 0xa9fen : ip.first(10) === 0x3fan;
}

function isGlobalUnicast(ip: Ip): boolean {
  const isMulticast = ip.family === 4 ? ip.first(4) === 0xen : ip.first(8) === 0xffn;
  const isBroadcast = ip.family === 4 && ip.bits === 0xffffffffn;
  return !(ip.bits === 0n || isBroadcast || isMulticast || isLoopback(ip) || isLinkLocalUnicast(ip));
}

const QUANTITY = typeOfKind<Quantity>('kubernetes.Quantity');
const NOT_A_QUANTITY = evaluationError('the text is not a quantity such as 500m or 1Gi');
const NOT_AN_INTEGER = evaluationError('the quantity is not a whole number that fits into an int');

export const quantityFunctions: readonly FunctionDefinition[] = [
  defineFunction('quantity', [STRING], QUANTITY, (text) => parseQuantity(text) ?? NOT_A_QUANTITY),
  defineFunction('isQuantity', [STRING], BOOL, (text) => parseQuantity(text) !== undefined),
  defineFunction('sign', [QUANTITY], INT, (quantity) => BigInt(quantity.compare(Quantity.ZERO))),
  defineMethod('isGreaterThan', [QUANTITY, QUANTITY], BOOL, (a, b) => a.compare(b) > 0),
  defineMethod('isLessThan', [QUANTITY, QUANTITY], BOOL, (a, b) => a.compare(b) < 0),
  defineMethod('compareTo', [QUANTITY, QUANTITY], INT, (a, b) => BigInt(a.compare(b))),
  defineMethod('asApproximateFloat', [QUANTITY], DOUBLE, (quantity) => new Double(quantity.toNumber())),
  defineMethod('asInteger', [QUANTITY], INT, (quantity) => quantity.toInteger() ?? NOT_AN_INTEGER),
  defineMethod('isInteger', [QUANTITY], BOOL, (quantity) => quantity.toInteger() !== undefined),
  defineMethod('add', [QUANTITY, QUANTITY], QUANTITY, (a, b) => sumOf(a, b)),
  defineMethod('add', [QUANTITY, INT], QUANTITY, (a, b) => sumOf(a, Quantity.ofInteger(b))),
  defineMethod('sub', [QUANTITY, QUANTITY], QUANTITY, (a, b) => sumOf(a, b.negated())),
  defineMethod('sub', [QUANTITY, INT], QUANTITY, (a, b) => sumOf(a, Quantity.ofInteger(b).negated())),
];

const URL_TYPE = typeOfKind<Url>('kubernetes.URL');
const NOT_A_URL = evaluationError('the text is not an absolute URL or path');

export const urlFunctions: readonly FunctionDefinition[] = [
  defineFunction('url', [STRING], URL_TYPE, (text) => parseUrl(text) ?? NOT_A_URL),
  defineFunction('isURL', [STRING], BOOL, isRequestUri),
  defineMethod('getScheme', [URL_TYPE], STRING, ({ scheme }) => scheme),
  defineMethod('getHost', [URL_TYPE], STRING, ({ host }) => host),
  defineMethod('getHostname', [URL_TYPE], STRING, ({ hostname }) => hostname),
  defineMethod('getPort', [URL_TYPE], STRING, ({ port }) => port),
  defineMethod('getEscapedPath', [URL_TYPE], STRING, ({ escapedPath }) => escapedPath),
  defineMethod(
    'getQuery',
    [URL_TYPE],
    mapType(STRING, listType(STRING)),
    ({ query }) => new CelMap(queryOf(query)),
  ),
];

// Implements semantic versions: https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-semver-library

class Semver extends Boxed {
  readonly kind = 'kubernetes.Semver';
  readonly numbers: readonly bigint[];
  readonly preRelease: readonly string[];

  constructor(numbers: readonly bigint[], preRelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.preRelease = preRelease;
  }

  equals(other: this): boolean {
    return this.compare(other) === 0;
  }

  compare(other: Semver): number {
    for (const [index, number] of this.numbers.entries()) {
      const order = compareNumbers(number, other.numbers[index] ?? 0n);
      if (order !== 0) return order;
    }
    return comparePreReleases(this.preRelease, other.preRelease);
  }
}

function compareNumbers(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A release is newer than its pre-releases. In a pre-release, numbers come before words. */
function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Math.sign(Number(a.length === 0) - Number(b.length === 0));
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return a.length < b.length ? -1 : 0;
}

function compareParts(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return compareNumbers(BigInt(a), BigInt(b));
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return Math.sign(compareStrings(a, b));
}

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const MAX_TEXT = 1000;
const SEMVER_TYPE = typeOfKind<Semver>('kubernetes.Semver');
const NOT_A_VERSION = evaluationError('the text is not a semantic version');

function parse(text: string): Semver | undefined {
  const parts = text.length > MAX_TEXT ? null : SEMVER.exec(text);
  if (parts === null) return undefined;
  const numbers = parts.slice(1, 4).map(BigInt);
  const preRelease = parts[4]?.split('.') ?? [];
  const fits = [...numbers, ...preRelease.filter((part) => /^\d+$/.test(part)).map(BigInt)].every(
    (each) => each <= MAX_UINT,
  );
  return fits ? new Semver(numbers, preRelease) : undefined;
}

/** Accepts `v1.2` and `01.02.03` too. */
function parseLoosely(text: string): Semver | undefined {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [
    major,
    ...(minor === undefined ? [] : [minor]),
    ...(rest.length === 0 ? [] : [rest.join('.')]),
  ];
  const trimmed = parts.map((part) => (part.length > 1 ? withoutLeadingZeros(part) : part));
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) return undefined;
  return parse([...trimmed, '0', '0'].slice(0, Math.max(3, parts.length)).join('.'));
}

function withoutLeadingZeros(part: string): string {
  const rest = part.replace(/^0+/, '');
  return /^\d/.test(rest) ? rest : `0${rest}`;
}

function parseAs(text: string, isLoose: boolean): Semver | undefined {
  return isLoose ? parseLoosely(text) : parse(text);
}

function numberOf(version: Semver, index: number): Value {
  return version.numbers[index] ?? 0n;
}

export const semverFunctions: readonly FunctionDefinition[] = [
  defineFunction('semver', [STRING], SEMVER_TYPE, (text) => parse(text) ?? NOT_A_VERSION),
  defineFunction(
    'semver',
    [STRING, BOOL],
    SEMVER_TYPE,
    (text, isLoose) => parseAs(text, isLoose) ?? NOT_A_VERSION,
  ),
  defineFunction('isSemver', [STRING], BOOL, (text) => parse(text) !== undefined),
  defineFunction('isSemver', [STRING, BOOL], BOOL, (text, isLoose) => parseAs(text, isLoose) !== undefined),
  defineMethod('major', [SEMVER_TYPE], INT, (version) => numberOf(version, 0)),
  defineMethod('minor', [SEMVER_TYPE], INT, (version) => numberOf(version, 1)),
  defineMethod('patch', [SEMVER_TYPE], INT, (version) => numberOf(version, 2)),
  defineMethod('isLessThan', [SEMVER_TYPE, SEMVER_TYPE], BOOL, (a, b) => a.compare(b) < 0),
  defineMethod('isGreaterThan', [SEMVER_TYPE, SEMVER_TYPE], BOOL, (a, b) => a.compare(b) > 0),
  defineMethod('compareTo', [SEMVER_TYPE, SEMVER_TYPE], INT, (a, b) => BigInt(a.compare(b))),
];
