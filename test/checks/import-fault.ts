// Judges one import of one file by the tables of oxlint.config.ts: which folder, library and built-in module it may have.
import { builtinModules } from 'node:module';
import { posix } from 'node:path';

export interface ImportTables {
  /** What each folder of src may import beside itself. */
  readonly mayImport: Readonly<Record<string, readonly string[]>>;
  /** Inside these rooms each folder imports only itself and the folders to its left. */
  readonly ordered: Readonly<Record<string, readonly string[]>>;
  /** The built-in modules of the pure folders; every other folder may import all. */
  readonly mayUse: Readonly<Record<string, readonly string[]>>;
  /** The only file of src that imports each library; null while there is none. */
  readonly doors: Readonly<Record<string, string | null>>;
  /** For a room with entrances: the only files of it that other rooms import. */
  readonly entrances: Readonly<Record<string, readonly string[]>>;
}

/** Returns the problem, or undefined. Paths start at the repository: src/policy/decide/decide.ts. */
export function importFault(file: string, specifier: string, tables: ImportTables): string | undefined {
  const name = packageOf(specifier);
  if (builtinModules.includes(name)) return `write node:${specifier}`;
  if (!file.startsWith('src/')) return undefined;
  if (specifier.startsWith('.')) return fileFault(file, posix.join(posix.dirname(file), specifier), tables);
  if (specifier.startsWith('node:')) return builtinFault(file, specifier, tables);
  return libraryFault(file, name, tables);
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** undefined for the files at the root of src, which join everything. */
function folderOf(file: string): string | undefined {
  const [, folder, ...rest] = file.split('/');
  return rest.length === 0 ? undefined : folder;
}

function orderFault(file: string, target: string, { ordered }: ImportTables): string | undefined {
  const room = folderOf(file);
  const order = room === undefined || folderOf(target) !== room ? undefined : ordered[room];
  if (order === undefined) return undefined;
  const [from, to] = [file, target].map((path) => path.split('/')[2] ?? '');
  if (from === to) return undefined;
  const allowed = order.slice(0, order.indexOf(from ?? ''));
  return allowed.includes(to ?? '') ? undefined : `${from} does not import ${to}: ${order.join(' -> ')}`;
}

function fileFault(file: string, target: string, tables: ImportTables): string | undefined {
  const { mayImport, entrances } = tables;
  if (!target.startsWith('src/')) return 'src imports nothing outside of src';
  const [from, to] = [folderOf(file), folderOf(target)];
  if (to === undefined) return rootFault(file, target);
  if (from !== undefined && from !== to && mayImport[from]?.includes(to) !== true)
    return `${from} does not import ${to}`;
  const against = orderFault(file, target, tables);
  if (against !== undefined) return against;
  const closed = Object.entries(entrances).find(
    ([folder, doorways]) =>
      target.startsWith(`${folder}/`) && !file.startsWith(`${folder}/`) && !doorways.includes(target),
  );
  return closed === undefined ? undefined : `from outside, only ${closed[1].join(' and ')} are imported`;
}

/** The files at the root are where everything begins: main.ts reads config.ts, and nothing imports main.ts. */
function rootFault(file: string, target: string): string | undefined {
  return file === 'src/main.ts' ? undefined : `only src/main.ts imports ${target}`;
}

function builtinFault(file: string, specifier: string, { mayUse }: ImportTables): string | undefined {
  const folder = folderOf(file) ?? '';
  const allowed = mayUse[folder];
  return allowed === undefined || allowed.includes(specifier)
    ? undefined
    : `${folder} is pure: of the built-in modules it has ${allowed.join(', ') || 'none'}`;
}

function libraryFault(file: string, name: string, { doors }: ImportTables): string | undefined {
  const door = doors[name];
  if (door === undefined) return `${name} is not a dependency of the program`;
  if (door === null) return `${name} has no door yet`;
  return file === door ? undefined : `${name} is imported in ${door} only`;
}
