// Reads the names of --only and --delete: namespaces, providers and intents.
import { isNamespaceName, isSubdomain } from '../../schema/kubernetes-names.ts';
import { apiVersion } from '../../schema/names.ts';
import { securityIntentKind } from '../../api/intents/security-intent.ts';
import type { ObjectRef } from '../../base/metadata.ts';
import { providerRef } from '../../policy/terms/provider-id.ts';
import { intentWords, providerNamed } from '../input/object-names.ts';

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

/** Returns the problem if a name cannot be read. */
export function deletedRefs(names: readonly string[]): readonly ObjectRef[] | string {
  const refs: ObjectRef[] = [];
  for (const text of names) {
    const [word = '', name = '', ...rest] = text.split('/');
    const provider = providerNamed(text, undefined);
    if (intentWords.has(word.toLowerCase()) && isSubdomain(name) && rest.length === 0)
      refs.push({ apiVersion, kind: securityIntentKind, name });
    else if (provider.ok) refs.push(providerRef(provider.id));
    else return `--delete: ${provider.problem}`;
  }
  return refs;
}
