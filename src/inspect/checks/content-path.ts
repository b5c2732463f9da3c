// Finds the field of a provider that an object of a namespace comes from.
import type { Path } from '../../base/problem.ts';
import type { Claim } from '../../policy/desired/provider.ts';
import type { LocatedDefinition } from '../../state/definitions.ts';

export interface LocatedFinding {
  readonly provider: LocatedDefinition;
  readonly path: Path;
  readonly message: string;
}

export function contentPathOf({ definition }: LocatedDefinition, { type, name }: Claim): Path {
  if (definition.kind === 'SecretShare') return ['spec', 'target'];
  if (definition.intents !== undefined) return ['spec', 'intents'];
  const { roleBindings = [], resources = [] } = definition.object.spec.contents ?? {};
  const binding = roleBindings.findIndex((each) => each.name === name);
  if (type.kind === 'RoleBinding' && binding !== -1) return ['spec', 'contents', 'roleBindings', binding];
  const resource = resources.findIndex((each) => each.kind === type.kind && each.metadata.name === name);
  return resource === -1 ? ['spec', 'contents'] : ['spec', 'contents', 'resources', resource];
}
