// Compiles any node of the tree: checks its types as Kubernetes does and makes the step that evaluates it.
import type { Literal, Node } from '../syntax/ast.ts';
import { compileCall } from './call.ts';
import type { ExpressionCompilation, Compiled } from './compilation.ts';
import { compileIndex } from './index-access.ts';
import { compileList, compileMap } from './aggregate.ts';
import { compileLoop } from './loop.ts';
import { compileIdentifier } from './name.ts';
import { compileOperator, isOperator } from './operator.ts';
import { compileOptionalMap } from './optional-map.ts';
import { compileSelect } from './select.ts';

export function compileNode(compilation: ExpressionCompilation, node: Node): Compiled {
  switch (node.kind) {
    case 'literal':
      return compileLiteral(node);
    case 'identifier':
      return compileIdentifier(compilation, node);
    case 'select':
      return compileSelect(compilation, node);
    case 'index':
      return compileIndex(compilation, node);
    case 'call':
      return isOperator(node.name) ? compileOperator(compilation, node) : compileCall(compilation, node);
    case 'list':
      return compileList(compilation, node);
    case 'map':
      return compileMap(compilation, node);
    case 'loop':
      return compileLoop(compilation, node);
    case 'optional-map':
      return compileOptionalMap(compilation, node);
    default:
      return node satisfies never;
  }
}

function compileLiteral({ type, value }: Literal): Compiled {
  return { type, step: () => value };
}
