// Starts a real Kubernetes control plane on loopback in its own folder, and leaves nothing of it behind.
import { cp, rm } from 'node:fs/promises';
import { findBinary } from './binary.ts';
import type { ClusterBinary } from './binary.ts';
import { ClusterAccess } from './cluster-access.ts';
import { componentsOf } from './components.ts';
import type { ComponentFlags, Components } from './components.ts';
import { fillFolder, makeFolder } from './folder.ts';
import { etcdUrl } from './flags.ts';
import { Guard } from './guard.ts';
import { layoutOf, writeState } from './layout.ts';
import { lastLines } from './logs.ts';
import { freePorts } from './ports.ts';
import {
  apiServerIsReady,
  bindControllerRoles,
  controllersAreReady,
  etcdIsReady,
  waitUntilReady,
} from './readiness.ts';

export interface ControlPlaneOptions extends ComponentFlags {
  /** Default: the result of `findBinary`. */
  readonly binary?: ClusterBinary;
  /** Default: a free port. */
  readonly apiServerPort?: number;
  /** A path that must not exist yet. Default: a new temporary folder. */
  readonly folder?: string;
  /** True: each controller has its own service account, as on most clusters. False: all controllers act as one user. */
  readonly serviceAccountCredentials?: boolean;
  /** True (default): the API server writes an audit log. */
  readonly audit?: boolean;
  /** True (default): the control plane ends when the process that started it dies without stopping it. */
  readonly endsWithUs?: boolean;
}

export type ComponentKind = keyof Components;

export interface Outage {
  /** The API server stays down until this promise resolves. */
  readonly downFor?: () => Promise<unknown>;
  /** SIGKILL ends the process without a shutdown, as when a machine is lost. */
  readonly signal?: 'SIGTERM' | 'SIGKILL';
}

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binary = options.binary ?? (await findBinary());
  if (binary.kind === 'none') throw new Error(`no control plane: ${binary.reason}`);
  const [etcd = 0, etcdPeer = 0, freePort = 0] = await freePorts(3);
  const apiServer = options.apiServerPort ?? freePort;
  const ports = { etcd, etcdPeer, apiServer };
  const server = `https://127.0.0.1:${apiServer}`;
  const layout = layoutOf(await makeFolder(options.folder));
  const guard = new Guard(layout.folder);
  const components = componentsOf(binary, layout, ports, {
    ...options,
    audit: options.audit ?? true,
    serviceAccountCredentials: options.serviceAccountCredentials ?? true,
  });
  const hasControllers = components.controllers !== undefined;
  const access = new ClusterAccess(layout.folder, { server, etcd: etcdUrl(ports), hasControllers });
  const plane = new ControlPlane(access, components, guard);
  await plane.start(options);
  return plane;
}

export class ControlPlane extends ClusterAccess {
  readonly #components: Components;
  readonly #guard: Guard;

  constructor(access: ClusterAccess, components: Components, guard: Guard) {
    super(access.folder, access);
    this.#components = components;
    this.#guard = guard;
  }

  /** Only startControlPlane may call this. Leaves nothing behind when it fails. */
  async start(options: ControlPlaneOptions): Promise<void> {
    try {
      await this.#startAll(options);
      if (options.endsWithUs === false) await this.#guard.release();
    } catch (error) {
      const logs = await lastLines(this.folder);
      await this.stop();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`the control plane did not start: ${reason}\n${logs}`, { cause: error });
    }
  }

  /** Ends every process and removes the folder. */
  async stop(): Promise<void> {
    const { etcd, apiServer, controllers } = this.#components;
    await controllers?.stop();
    await apiServer.stop();
    await etcd.stop();
    await rm(this.folder, { recursive: true, force: true });
    await this.#guard.end();
  }

  async stopApiServer(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.#components.apiServer.stop(signal);
  }

  /** Starts the API server on its old port. */
  async startApiServer(): Promise<void> {
    await this.#runApiServer();
    await this.#save();
  }

  async restartApiServer({ downFor, signal }: Outage = {}): Promise<void> {
    await this.stopApiServer(signal);
    await downFor?.();
    await this.startApiServer();
  }

  /** Kills every process at once, as a power failure does. Stored data stays. */
  async cutPower(): Promise<void> {
    const { etcd, apiServer, controllers } = this.#components;
    await Promise.all([controllers?.stop('SIGKILL'), apiServer.stop('SIGKILL'), etcd.stop('SIGKILL')]);
  }

  /** Starts all processes on their old ports. */
  async restorePower(): Promise<void> {
    await this.#runAll(true);
  }

  /** Copies the data of etcd while the control plane is stopped. */
  async backUpEtcd(): Promise<void> {
    const { etcdData } = layoutOf(this.folder);
    await this.cutPower();
    await cp(etcdData, `${etcdData}-backup`, { recursive: true });
    await this.restorePower();
  }

  /** Puts the copy of `backUpEtcd` in the place of the data while the control plane is stopped. */
  async restoreEtcd(): Promise<void> {
    const { etcdData } = layoutOf(this.folder);
    await this.cutPower();
    await rm(etcdData, { recursive: true });
    await cp(`${etcdData}-backup`, etcdData, { recursive: true });
    await this.restorePower();
  }

  /** Stops a component without ending it: its connections stay open and get no answer. */
  pause(component: ComponentKind): void {
    this.#component(component).pause();
  }

  resume(component: ComponentKind): void {
    this.#component(component).resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #startAll({ serviceAccountCredentials = true }: ControlPlaneOptions): Promise<void> {
    await fillFolder(layoutOf(this.folder), this.server);
    await this.#runAll(serviceAccountCredentials);
  }

  /** `hasRoles`: the controllers already have their roles on this cluster. */
  async #runAll(hasRoles: boolean): Promise<void> {
    const { etcd, controllers } = this.#components;
    await etcd.start(this.#guard, this.folder);
    await waitUntilReady(etcd, () => etcdIsReady(this.etcd));
    await this.#runApiServer();
    if (controllers !== undefined) {
      if (!hasRoles) await bindControllerRoles(this.admin);
      await controllers.start(this.#guard, this.folder);
      await waitUntilReady(controllers, () => controllersAreReady(this.admin));
    }
    await this.#save();
  }

  async #runApiServer(): Promise<void> {
    const { apiServer } = this.#components;
    await apiServer.start(this.#guard, this.folder);
    await waitUntilReady(apiServer, () => apiServerIsReady(this.admin));
  }

  #component(kind: ComponentKind): NonNullable<Components[ComponentKind]> {
    const component = this.#components[kind];
    if (component === undefined) throw new Error(`this control plane has no ${kind}`);
    return component;
  }

  /** After the first save, other processes recognize the folder as a control plane. */
  async #save(): Promise<void> {
    const { etcd, apiServer, controllers } = this.#components;
    const processes = [etcd, apiServer, controllers].flatMap((component) =>
      component?.process === undefined ? [] : [{ name: component.name, ...component.process }],
    );
    await writeState(this.folder, {
      server: this.server,
      etcd: this.etcd,
      hasControllers: this.hasControllers,
      processes,
    });
  }
}
