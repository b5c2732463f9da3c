// Reads from a program or a library for Linux which loader and which libraries it needs, as `ldd` would, for any platform.
//
// The image for another platform is assembled without running anything of it. The format:
// https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.pheader.html and …/ch5.dynamic.html

export interface ElfNeeds {
  /** The absolute path of the loader. Undefined in a library. */
  readonly loader: string | undefined;
  /** Names such as libc.so.6. */
  readonly libraries: readonly string[];
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

const segmentTypes = { load: 1, dynamic: 2, interpreter: 3 } as const;
const dynamicTags = { needed: 1, stringTable: 5 } as const;
const dynamicEntryBytes = 16;

export function elfNeeds(file: Buffer): ElfNeeds {
  const isSupported = file.subarray(0, 6).equals(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]));
  if (!isSupported) throw new Error('not a little-endian ELF file of 64 bits');
  const segments = segmentsOf(file);
  const interpreter = segments.find(({ type }) => type === segmentTypes.interpreter);
  return {
    loader: interpreter && textAt(file, interpreter.offset),
    libraries: librariesOf(file, segments),
  };
}

function segmentsOf(file: Buffer): readonly Segment[] {
  const first = numberAt(file, 0x20);
  const bytes = file.readUInt16LE(0x36);
  const count = file.readUInt16LE(0x38);
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * bytes;
    return {
      type: file.readUInt32LE(at),
      offset: numberAt(file, at + 8),
      address: numberAt(file, at + 16),
      size: numberAt(file, at + 32),
    };
  });
}

function librariesOf(file: Buffer, segments: readonly Segment[]): readonly string[] {
  const dynamic = segments.find(({ type }) => type === segmentTypes.dynamic);
  if (dynamic === undefined) return [];
  const entries = Array.from({ length: dynamic.size / dynamicEntryBytes }, (_, index) => {
    const at = dynamic.offset + index * dynamicEntryBytes;
    return { tag: numberAt(file, at), value: numberAt(file, at + 8) };
  });
  const table = entries.find(({ tag }) => tag === dynamicTags.stringTable)?.value ?? 0;
  const loaded = segments.find(
    ({ type, address, size }) => type === segmentTypes.load && address <= table && table < address + size,
  );
  if (loaded === undefined) throw new Error('the names of the libraries are not in the file');
  const start = table - loaded.address + loaded.offset;
  return entries
    .filter(({ tag }) => tag === dynamicTags.needed)
    .map(({ value }) => textAt(file, start + value));
}

function numberAt(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at));
}

function textAt(file: Buffer, at: number): string {
  return file.toString('latin1', at, file.indexOf(0, at));
}
