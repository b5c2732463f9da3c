// Lists the kinds that the sandbox serves.
import { apiVersionOf, type Kinds, type Resource } from '../resource.ts';
import type { SandboxStore } from '../store.ts';
import { admissionKinds } from './admission-kinds.ts';
import { customResource, definitionKindOf, definitionName, type CustomKind } from './custom-kinds.ts';
import { coreEventKind, newEventKind, plainKinds, dataKinds } from './plain-kinds.ts';
import { rbacKinds } from './rbac-kinds.ts';

const builtIn = [...plainKinds, ...dataKinds, coreEventKind, newEventKind, ...rbacKinds, ...admissionKinds];

/** Returns the built-in kinds, and the custom kinds whose definitions are stored. */
export function kindsServedFrom(store: SandboxStore, customKinds: readonly CustomKind[]): Kinds {
  const custom = customKinds.map(customResource);
  const definitionKind = definitionKindOf(custom);
  const isDefined = (kind: Resource): boolean =>
    store.get(definitionKind, undefined, definitionName(kind)) !== undefined;
  const all = (): readonly Resource[] => [...builtIn, definitionKind, ...custom.filter(isDefined)];
  return {
    all,
    find: (group, version, plural) =>
      all().find((kind) => kind.plural === plural && kind.group === group && kind.version === version),
    ofKind: (apiVersion, kind) => all().find((one) => one.kind === kind && apiVersionOf(one) === apiVersion),
  };
}
