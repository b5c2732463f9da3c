// The three processes of a control plane, each with its arguments.
import { commandOf } from './binary.ts';
import type { ClusterBinary, ComponentName } from './binary.ts';
import { Component } from './component.ts';
import { apiServerArguments, controllerManagerArguments, etcdArguments } from './flags.ts';
import type { Ports } from './flags.ts';
import type { Layout } from './layout.ts';

/** Additional flags. The last value of a repeated flag counts. */
export interface ComponentFlags {
  readonly etcdFlags?: readonly string[];
  readonly apiServerFlags?: readonly string[];
  readonly controllerFlags?: readonly string[];
}

export interface Components {
  readonly etcd: Component;
  readonly apiServer: Component;
  /** Undefined when the binaries have no controllers. */
  readonly controllers?: Component;
}

interface ComponentOptions extends ComponentFlags {
  readonly audit: boolean;
  readonly serviceAccountCredentials: boolean;
}

export function componentsOf(
  binary: ClusterBinary,
  layout: Layout,
  ports: Ports,
  options: ComponentOptions,
): Components {
  const {
    audit,
    serviceAccountCredentials,
    etcdFlags = [],
    apiServerFlags = [],
    controllerFlags = [],
  } = options;
  const make = (name: ComponentName, args: readonly string[]): Component | undefined => {
    const [program, ...first] = commandOf(binary, name) ?? [];
    if (program === undefined) return undefined;
    return new Component({ name, program, args: [...first, ...args], cwd: layout.folder }, layout.folder);
  };
  const etcd = make('etcd', [...etcdArguments(layout, ports), ...etcdFlags]);
  const apiServer = make('kube-apiserver', [...apiServerArguments(layout, ports, audit), ...apiServerFlags]);
  const controllers = make('kube-controller-manager', [
    ...controllerManagerArguments(layout, serviceAccountCredentials),
    ...controllerFlags,
  ]);
  if (etcd === undefined || apiServer === undefined) throw new Error('there is no binary to run');
  return { etcd, apiServer, ...(controllers === undefined ? {} : { controllers }) };
}
