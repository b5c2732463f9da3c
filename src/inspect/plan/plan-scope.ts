// Reads the names of --only: namespaces and providers.
import { isNamespaceName } from '../../api/kubernetes-names.ts';
import { providerNamed } from '../input/object-names.ts';

export interface PlanScope {
  /** Names of namespaces. Empty: all. */
  readonly namespaces: ReadonlySet<string>;
  /** Ids of providers. Empty: all. */
  readonly providers: ReadonlySet<string>;
}

/** Returns the problem if a name cannot be read. */
export function planScopeOf(only: readonly string[]): PlanScope | string {
  const namespaces = new Set<string>();
  const providers = new Set<string>();
  for (const text of only) {
    const [, namespace] = /^(?:ns|namespace|namespaces)\/(.+)$/.exec(text) ?? [];
    if (namespace !== undefined && isNamespaceName(namespace)) namespaces.add(namespace);
    else {
      const provider = providerNamed(text, undefined);
      if (!provider.ok) return `--only: ${provider.problem}; a namespace is ns/NAME`;
      providers.add(provider.id);
    }
  }
  return { namespaces, providers };
}
