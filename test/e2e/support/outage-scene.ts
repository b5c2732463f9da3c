// Runs Reeve on its own control plane, and hangs or kills all of its webhooks while much work is going on.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startControlPlane, type ControlPlane } from '../../cluster/control-plane.ts';
import { allowFail, installReeve } from '../../cluster/reeve-install.ts';
import { Balancer } from '../../support/balancer.ts';
import { mustKubectl } from '../../support/kubectl.ts';
import { spawnReeve, webhookIsAsked, type Reeve } from '../../support/reeve.ts';
import { until } from '../../support/until.ts';
import { configMap, namespaceObject, policy, roleBinding, share } from './objects.ts';
import type { WrittenObject } from './objects.ts';
import { Stage } from './stage.ts';

export type Outage = 'hang' | 'killed';

/** The time that a start may take on a busy machine. */
const startSeconds = 150;
const args = ['--secrets-rbac-failure-policy=Fail'];

/** Rules of all kinds, and an object of each kind that Reeve can provide. */
const inForce: readonly WrittenObject[] = [
  policy('out-rules', {
    match: { names: ['out-*'] },
    namespaces: { required: { labels: { team: {} } }, defaults: { annotations: { seen: 'yes' } } },
    secrets: { maxBytes: 1000, defaults: { labels: { a: 'b' } } },
    rbac: { allowedRoleRefs: ['ClusterRole/view'], forbidWildcardRules: true },
    validations: [{ name: 'short', expression: 'object.metadata.name.size() <= 40' }],
    contents: {
      roleBindings: [roleBinding('readers', 'readers')],
      resources: [configMap('settings', { a: 'b' })],
    },
  }),
  copying('out-copies', 'out-*'),
];

export class OutageScene {
  readonly plane: ControlPlane;
  readonly stage: Stage;
  readonly #balancer = new Balancer([]);
  /** Reports every replica as ready, so that the balancer keeps sending requests to hanging replicas. */
  readonly #probes: Server;
  #servicePort = 0;
  #webhooks: readonly Reeve[] = [];
  #reconciler: Reeve | undefined;

  private constructor(plane: ControlPlane, probes: Server) {
    this.plane = plane;
    this.stage = new Stage(plane, 'out-');
    this.#probes = probes;
  }

  static async start(): Promise<OutageScene> {
    const probes = createServer((_request, response) => response.end());
    probes.listen(0, '127.0.0.1');
    await once(probes, 'listening');
    const scene = new OutageScene(await startControlPlane(), probes);
    await installReeve(scene.plane);
    await allowFail(scene.plane);
    scene.#servicePort = await scene.#balancer.listen();
    await scene.startReeve();
    await mustKubectl(['create', 'secret', 'generic', 'out-source', '-n', 'reeve-shared'], scene.plane);
    await scene.stage.apply(...inForce);
    await scene.#areKnown(inForce.length);
    await scene.stage.apply(namespaceObject('out-tenant', { team: 'a' }));
    return scene;
  }

  /** Starts Reeve with only what the cluster has stored. Resolves once Reeve answers reviews. */
  async startReeve(): Promise<void> {
    const servicePort = this.#servicePort;
    const [first, second, reconciler] = await Promise.all([
      spawnReeve(this.plane, { role: 'webhook', servicePort, args }),
      spawnReeve(this.plane, { role: 'webhook', servicePort, args }),
      spawnReeve(this.plane, { role: 'reconciler', args }),
    ]);
    this.#webhooks = [first, second];
    this.#reconciler = reconciler;
    const { port: probesPort } = this.#probes.address() as AddressInfo;
    this.#balancer.setReplicas(this.#webhooks.map(({ port }) => ({ port, probesPort })));
    await until(
      async () => (await Promise.all(this.#webhooks.map((webhook) => webhook.isReady()))).every(Boolean),
      () => `ready: ${this.#webhooks.map(({ output }) => output).join('')}`,
      startSeconds,
    );
    await webhookIsAsked(this.plane);
  }

  /**
   * Leaves a terminating namespace with copies of Reeve in it, and a policy and a share that wait for their finalizers.
   * No controller finishes the namespace.
   */
  async leaveUnfinished(namespace: string, owner: string): Promise<void> {
    const going = [
      policy(owner, {
        match: { names: [namespace] },
        contents: { resources: [configMap(owner, { a: 'b' })] },
      }),
      copying(owner, namespace),
    ];
    await this.stage.apply(namespaceObject(namespace, { team: 'a' }), ...going);
    const copies = [
      'configmap/settings',
      `configmap/${owner}`,
      'rolebinding/readers',
      'secret/out-copies',
      `secret/${owner}`,
    ];
    await until(
      async () => (await this.#found(namespace, copies)) === copies.length,
      async () => `what ${namespace} is to contain: ${await this.stage.kubectl('get', 'nspol,sshare')}`,
    );
    this.#reconciler?.kill('SIGSTOP');
    await this.stage.kubectl('delete', `nspol/${owner}`, `sshare/${owner}`, '--wait=false');
    this.plane.pause('controllers');
    await this.stage.kubectl('delete', 'namespace', namespace, '--wait=false');
  }

  /** Stops or kills every webhook. The controllers of Kubernetes continue. */
  begin(outage: Outage): void {
    for (const webhook of this.#webhooks) webhook.kill(outage === 'hang' ? 'SIGSTOP' : 'SIGKILL');
    this.plane.resume('controllers');
  }

  /** Lets stopped processes continue. */
  async resume(): Promise<void> {
    for (const process of this.#processes()) process.kill('SIGCONT');
    await webhookIsAsked(this.plane);
  }

  async killReeve(): Promise<void> {
    for (const process of this.#processes()) process.kill('SIGKILL');
    await Promise.all(this.#processes().map((process) => process.ended()));
  }

  async stop(): Promise<void> {
    await this.killReeve();
    await this.#balancer.close();
    this.#probes.close();
    await this.plane.stop();
  }

  /** One replica may set defaults that another replica then requires. */
  async #areKnown(count: number): Promise<void> {
    const loaded = async (): Promise<readonly (number | undefined)[]> =>
      await Promise.all(this.#webhooks.map((webhook) => webhook.metric('reeve_policies{state="loaded"}')));
    await until(
      async () => (await loaded()).every((found) => found === count),
      async () => `every webhook to know of ${count}: ${String(await loaded())}`,
    );
  }

  #processes(): readonly Reeve[] {
    return [...this.#webhooks, ...(this.#reconciler === undefined ? [] : [this.#reconciler])];
  }

  async #found(namespace: string, names: readonly string[]): Promise<number> {
    const output = await this.stage.kubectl(
      'get',
      ...names,
      '-n',
      namespace,
      '-o=name',
      '--ignore-not-found',
    );
    return output.split('\n').filter((line) => line !== '').length;
  }
}

function copying(name: string, namespaces: string): WrittenObject {
  return share(name, {
    source: { namespace: 'reeve-shared', name: 'out-source' },
    targets: { names: [namespaces] },
    target: { name },
  });
}
