// IP addresses and ranges: https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-ip-address-library
import { BOOL, INT, STRING, typeOfKind } from '../types/type.ts';
import { evaluationError } from '../values/evaluation-error.ts';
import { parseCidr, parseIp, type Cidr, type Ip } from '../values/ip.ts';
import type { Value } from '../values/value.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

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
