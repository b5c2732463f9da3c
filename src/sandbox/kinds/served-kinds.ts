// Lists the kinds that the sandbox serves.
import { apiVersionOf, type Kinds, type Resource } from '../resource.ts';
import type { SandboxStore } from '../store.ts';
import { admissionKinds } from './admission-kinds.ts';
import { customKinds, definitionName, definitionKind } from './custom-kinds.ts';
import { coreEventKind, newEventKind, plainKinds, dataKinds } from './plain-kinds.ts';
import { rbacKinds } from './rbac-kinds.ts';

const builtIn = [
  ...plainKinds,
  ...dataKinds,
  coreEventKind,
  newEventKind,
  ...rbacKinds,
  ...admissionKinds,
  definitionKind,
];

/** Returns the built-in kinds, and those of Reeve whose definitions are stored. */
export function kindsServedFrom(store: SandboxStore): Kinds {
  const isDefined = (kind: Resource): boolean =>
    store.get(definitionKind, undefined, definitionName(kind)) !== undefined;
  const all = (): readonly Resource[] => [...builtIn, ...customKinds.filter(isDefined)];
  return {
    all,
    find: (group, version, plural) =>
      all().find((kind) => kind.plural === plural && kind.group === group && kind.version === version),
    ofKind: (apiVersion, kind) => all().find((one) => one.kind === kind && apiVersionOf(one) === apiVersion),
  };
}
