// The kinds that the sandbox serves.
import { apiVersionOf, type Kinds, type Resource } from '../resource.ts';
import type { ObjectStore } from '../store/store.ts';
import { admissionKinds } from './admission-kinds.ts';
import { customKinds, definitionName, definitions } from './custom.ts';
import { coreEvents, events } from './events.ts';
import { plainKinds } from './plain-kinds.ts';
import { rbacKinds } from './rbac.ts';
import { dataKinds } from './stored-data.ts';

const builtIn = [
  ...plainKinds,
  ...dataKinds,
  coreEvents,
  events,
  ...rbacKinds,
  ...admissionKinds,
  definitions,
];

/** Those built in, and those of ours whose definitions are stored. */
export function servedKinds(store: ObjectStore): Kinds {
  const isDefined = (kind: Resource): boolean =>
    store.get(definitions, undefined, definitionName(kind)) !== undefined;
  const all = (): readonly Resource[] => [...builtIn, ...customKinds.filter(isDefined)];
  return {
    all,
    find: (group, version, plural) =>
      all().find((kind) => kind.plural === plural && kind.group === group && kind.version === version),
    ofKind: (apiVersion, kind) => all().find((one) => one.kind === kind && apiVersionOf(one) === apiVersion),
  };
}
