// Implements the functions on the value types of Kubernetes: IP addresses, CIDR ranges, quantities and URLs.
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-ip-address-library
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-quantity-library
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-url-library
import { BOOL, INT, STRING, typeOfKind, DOUBLE, listType, mapType } from '../types/type.ts';
import { evaluationError, type Value, Double, CelMap } from '../values/value.ts';
import { parseCidr, parseIp, type Cidr, type Ip } from '../values/ip.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';
import { parseQuantity, Quantity, sumOf } from '../values/quantity.ts';
import { isRequestUri, parseUrl, queryOf, type Url } from '../values/url.ts';

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
