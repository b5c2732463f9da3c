// The rules of the code that the linter has no rules for: imports, state of modules, and the clock.
import { posix, relative, resolve, sep } from 'node:path';
import { importFault, type ImportTables } from './import-fault.ts';

/** As much of a syntax tree as these rules read: https://github.com/estree/estree */
interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Context {
  readonly filename: string;
  readonly options: readonly unknown[];
  report(fault: { readonly node: Node; readonly message: string }): void;
}

type Visitor = Readonly<Record<string, (node: Node) => void>>;

const root = resolve(import.meta.dirname, '..', '..');

function imports(context: Context): Visitor {
  const file = relative(root, context.filename).replaceAll(sep, posix.sep);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- oxlint.config.ts gives what it checked itself
  const tables = context.options[0] as ImportTables;
  const check = (node: Node): void => {
    const specifier = fieldOf(node, 'source')?.['value'];
    if (fieldOf(node, 'source') === undefined) return;
    const message =
      typeof specifier === 'string'
        ? importFault(file, specifier, tables)
        : 'a module is named by a plain text';
    if (message !== undefined) context.report({ node, message });
  };
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
    TSImportType: check,
  };
}

/** A module holds no state: nothing at its top can be set, nor filled later, nor be changed by who imports it. */
function moduleState(context: Context): Visitor {
  return {
    Program: (program) => {
      const statements = nodesOf(program['body']);
      const exported = new Set(statements.flatMap(exportedNames));
      for (const { declaration, isExported } of statements.map(declarationOf)) {
        if (declaration?.type !== 'VariableDeclaration') continue;
        if (declaration['kind'] !== 'const')
          context.report({ node: declaration, message: 'a module has no variables' });
        for (const node of nodesOf(declaration['declarations'])) {
          const isPublic = isExported || exported.has(nameOf(node['id']));
          const message = collectionFault(node, isPublic);
          if (message !== undefined) context.report({ node, message });
        }
      }
    },
  };
}

function declarationOf(statement: Node): {
  readonly declaration?: Node | undefined;
  readonly isExported: boolean;
} {
  return statement.type === 'ExportNamedDeclaration'
    ? { declaration: fieldOf(statement, 'declaration'), isExported: true }
    : { declaration: statement, isExported: false };
}

/** Reads `export { a, b }`. */
function exportedNames(statement: Node): readonly string[] {
  return statement.type === 'ExportNamedDeclaration'
    ? nodesOf(statement['specifiers']).map((specifier) => nameOf(specifier['local']))
    : [];
}

const collections = ['Map', 'Set', 'WeakMap', 'WeakSet', 'Array'];

function collectionFault(declarator: Node, isPublic: boolean): string | undefined {
  const type = fieldOf(fieldOf(fieldOf(declarator, 'id'), 'typeAnnotation'), 'typeAnnotation');
  const value = withoutType(fieldOf(declarator, 'init'));
  const content = contentOf(value);
  if (content?.length === 0) return 'a collection that begins empty is state';
  const isMutable = type === undefined ? content !== undefined : isMutableType(type);
  return isPublic && isMutable ? 'give what is exported a readonly type' : undefined;
}

/** The value of `x satisfies T` and `x as T`; that of `x as const` cannot be changed, and stays as it is. */
function withoutType(value: Node | undefined): Node | undefined {
  const isCast = value?.type === 'TSSatisfiesExpression' || value?.type === 'TSAsExpression';
  const isConst = nameOf(fieldOf(fieldOf(value, 'typeAnnotation'), 'typeName')) === 'const';
  return isCast && !isConst ? withoutType(fieldOf(value, 'expression')) : value;
}

/** What a new collection is made of, or undefined for any other value. */
function contentOf(value: Node | undefined): readonly Node[] | undefined {
  if (value?.type === 'ArrayExpression') return nodesOf(value['elements']);
  const isNew = value?.type === 'NewExpression' && collections.includes(nameOf(value['callee']));
  return isNew ? nodesOf(value['arguments']) : undefined;
}

function isMutableType(type: Node): boolean {
  return type.type === 'TSArrayType' || collections.includes(nameOf(type['typeName']));
}

/** The time is an argument: without one, Date asks the clock. */
function noClock(context: Context): Visitor {
  const check = (node: Node): void => {
    const asks = node.type === 'CallExpression' || nodesOf(node['arguments']).length === 0;
    if (nameOf(node['callee']) === 'Date' && asks)
      context.report({ node, message: 'the time is an argument' });
  };
  return { NewExpression: check, CallExpression: check };
}

function fieldOf(node: Node | undefined, name: string): Node | undefined {
  const field = node?.[name];
  return isNode(field) ? field : undefined;
}

function nodesOf(list: unknown): readonly Node[] {
  return Array.isArray(list) ? list.filter(isNode) : [];
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : '';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

// oxlint-disable-next-line import/no-default-export -- oxlint takes a plugin from the default export of its file
export default {
  meta: { name: 'design' },
  rules: {
    imports: { meta: { schema: false }, create: imports },
    'module-state': { create: moduleState },
    'no-clock': { create: noClock },
  },
};
