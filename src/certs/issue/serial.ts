// Serial numbers that every X.509 reader takes.

export const serialLength = 16;

/**
 * Makes a serial number, as hexadecimal text, of random bytes. The two top bits become 01: a set top bit would make
 * the number negative, which Go refuses (https://go.dev/doc/go1.23#crypto/x509), and a first byte of zero would make
 * it zero or an encoding that is not the shortest one (RFC 5280, section 4.1.2.2; X.690, section 8.3.2).
 */
export function positiveSerial(random: Uint8Array): string {
  if (random.length !== serialLength) throw new RangeError(`a serial number takes ${serialLength} bytes`);
  const bytes = Buffer.from(random);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes.toString('hex');
}
