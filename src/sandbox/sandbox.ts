// Starts the sandbox: a Kubernetes API on loopback, in this process, with all objects in memory.
import { randomUUID } from 'node:crypto';
import { stringifyYaml } from '../base/yaml.ts';
import { createAuthorizer } from './access/authorizer.ts';
import { createReviews } from './access/reviews.ts';
import { createAdmission } from './admission/admission.ts';
import { aggregation, defaultAccounts } from './controllers/upkeep.ts';
import { runController } from './controllers/controller.ts';
import { namespaceController, definitionController, garbageCollector } from './controllers/deletion.ts';
import { startServer, type RequestObserver, type ServerTls } from './http/server.ts';
import { initialObjects } from './initial-objects.ts';
import { mirroringEvents } from './kinds/event-kinds.ts';
import { kindsServedFrom } from './kinds/served-kinds.ts';
import { unstoredKinds } from './kinds/unstored-kinds.ts';
import { objectService } from './objects.ts';
import { MemoryStore } from './store.ts';
import { Tokens, type User } from './access/users.ts';
import type { WriteContext } from './write/context.ts';

export interface SandboxOptions {
  readonly tls: ServerTls;
  /** Default: any free port. */
  readonly port?: number;
  readonly observer?: RequestObserver;
  /** Receives errors of the sandbox itself. */
  readonly onError?: (error: unknown) => void;
}

export interface Sandbox {
  readonly url: string;
  readonly caPem: string;
  /** The token of a member of system:masters. */
  readonly adminToken: string;
  tokenFor(user: User): string;
  kubeconfig(name: string, token: string): string;
  close(): Promise<void>;
}

const admin: User = { username: 'sandbox-admin', groups: ['system:masters', 'system:authenticated'] };

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { tls, port = 0, onError: faulted = () => undefined } = options;
  const store = mirroringEvents(new MemoryStore());
  const kinds = kindsServedFrom(store);
  const authorizer = createAuthorizer(store);
  const admission = createAdmission({ store, kinds, uid: randomUUID });
  const context: WriteContext = {
    store,
    kinds,
    authorizer,
    admission,
    now: () => new Date(),
    uid: randomUUID,
  };
  const tokens = new Tokens();
  const controllers = [
    aggregation,
    garbageCollector,
    defaultAccounts,
    definitionController,
    namespaceController,
  ];
  const stops = controllers.map((controller) => runController(store, controller(context), faulted));
  for (const [resource, object] of initialObjects(kinds, new Date())) store.put(resource, object, undefined);
  const server = await startServer(
    {
      kinds,
      serveObjects: objectService(context, tokens),
      reviews: createReviews(authorizer, tokens),
      unstored: unstoredKinds,
      authorizer,
      tokens,
      observer: options.observer ?? { answered: () => undefined },
      onError: faulted,
    },
    tls,
    port,
  );
  return {
    url: server.url,
    caPem: tls.caPem,
    adminToken: tokens.issue(admin),
    tokenFor: (user) => tokens.issue(user),
    kubeconfig: (name, token) => kubeconfigOf(server.url, tls.caPem, name, token),
    close: async () => {
      for (const stop of stops) stop();
      await server.close();
    },
  };
}

/** https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/ */
function kubeconfigOf(server: string, caPem: string, user: string, token: string): string {
  const name = 'reeve-sandbox';
  const authority = Buffer.from(caPem).toString('base64');
  return stringifyYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user } }],
    'current-context': name,
  });
}
