// Reads and writes IP addresses and ranges as Go's net/netip does.
import { Boxed } from './value.ts';

export class Ip extends Boxed {
  readonly kind = 'net.IP';
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    super();
    this.family = family;
    this.bits = bits;
  }

  equals(other: this): boolean {
    return this.family === other.family && this.bits === other.bits;
  }

  get length(): number {
    return this.family === 4 ? 32 : 128;
  }

  /** Returns the first bits as a number. */
  first(count: number): bigint {
    return this.bits >> BigInt(this.length - count);
  }

  override toString(): string {
    return this.family === 4 ? textOfIPv4(this.bits) : textOfIPv6(this.bits);
  }
}

export class Cidr extends Boxed {
  readonly kind = 'net.CIDR';
  readonly ip: Ip;
  readonly length: number;

  constructor(ip: Ip, length: number) {
    super();
    this.ip = ip;
    this.length = length;
  }

  equals(other: this): boolean {
    return (
      this.length === other.length && this.ip.family === other.ip.family && this.ip.bits === other.ip.bits
    );
  }

  containsIp(ip: Ip): boolean {
    return ip.family === this.ip.family && ip.first(this.length) === this.ip.first(this.length);
  }

  containsCidr(other: Cidr): boolean {
    return other.length >= this.length && this.containsIp(other.ip);
  }

  masked(): Cidr {
    const rest = BigInt(this.ip.length - this.length);
    return new Cidr(new Ip(this.ip.family, (this.ip.bits >> rest) << rest), this.length);
  }

  override toString(): string {
    return `${this.ip.toString()}/${this.length}`;
  }
}

const MAX_TEXT = 100;

/** Returns undefined for a text that Kubernetes refuses: no address, one with a zone, or IPv4 inside IPv6. */
export function parseIp(text: string): Ip | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const octets = parseOctets(text);
  if (octets !== undefined) return new Ip(4, octets);
  const bits = text.includes(':') ? parseIPv6(text) : undefined;
  if (bits === undefined || bits >> 32n === 0xffffn) return undefined;
  return new Ip(6, bits);
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.lastIndexOf('/');
  const length = text.slice(slash + 1);
  const ip = slash === -1 ? undefined : parseIp(text.slice(0, slash));
  if (ip === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length) || Number(length) > ip.length)
    return undefined;
  return new Cidr(ip, Number(length));
}

function parseOctets(text: string): bigint | undefined {
  const octets = text.split('.');
  if (
    octets.length !== 4 ||
    !octets.every((octet) => /^(?:0|[1-9]\d{0,2})$/.test(octet) && Number(octet) < 256)
  ) {
    return undefined;
  }
  return octets.reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n);
}

function parseIPv6(text: string): bigint | undefined {
  const halves = text.split('::');
  const [head, tail] = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  if (halves.length > 2 || head === undefined) return undefined;
  if (halves.length === 1) return head.length === 8 ? joinGroups(head) : undefined;
  if (tail === undefined || head.length + tail.length > 7) return undefined;
  return joinGroups([...head, ...Array<bigint>(8 - head.length - tail.length).fill(0n), ...tail]);
}

/** Reads groups of 16 bits. The last two may be an IPv4 address. */
function parseGroups(text: string, isEnd: boolean): readonly bigint[] | undefined {
  if (text === '') return [];
  const words = text.split(':');
  const octets = isEnd ? parseOctets(words.at(-1) ?? '') : undefined;
  const plain = octets === undefined ? words : words.slice(0, -1);
  if (!plain.every((word) => /^[0-9a-fA-F]{1,4}$/.test(word))) return undefined;
  const groups = plain.map((word) => BigInt(`0x${word}`));
  return octets === undefined ? groups : [...groups, octets >> 16n, octets & 0xffffn];
}

function joinGroups(groups: readonly bigint[]): bigint {
  return groups.reduce((bits, group) => (bits << 16n) | group, 0n);
}

function textOfIPv4(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
}

/** Leaves out the first of the longest runs of two or more zero groups. */
function textOfIPv6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  let [start, length] = [0, 0];
  for (let index = 0; index < groups.length; index += 1) {
    const end = groups.findIndex((group, at) => at >= index && group !== '0');
    const run = (end === -1 ? groups.length : end) - index;
    if (run > length) [start, length] = [index, run];
  }
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}
