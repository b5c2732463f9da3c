// Reads the objects that no watch keeps in memory: the content of our copies, and the objects of an audit.
import type { KubeObject } from '../base/metadata.ts';
import { systemClock } from '../base/clock.ts';
import { managedByLabel, managedByReeve, providerLabels } from '../schema/names.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import { CollectionReader } from '../kube/watch/collection-reader.ts';
import { pagedObjects } from '../kube/watch/list-pages.ts';
import type { WatchTarget } from '../kube/watch/watch-target.ts';
import { roleType } from '../base/object-type.ts';
import { kindOfProvider, nameOfProvider, namespaceOfProvider } from '../policy/terms/provider-id.ts';
import type { Install } from '../policy/terms/install.ts';
import type { AuditReader, OwnedReader, OwnSecrets } from '../reconcile/ports.ts';
import type { ClusterConnection } from './cluster-connection.ts';

export function ownSecretsOf(
  { client }: ClusterConnection,
  names: readonly string[] | undefined,
): OwnSecrets {
  const all = {
    path: resourcePath({ apiVersion: 'v1', plural: 'secrets' }),
    labelSelector: `${managedByLabel}=${managedByReeve}`,
  };
  // RBAC can allow a list of one name by `resourceNames`.
  const targets =
    names === undefined ? [all] : names.map((name) => ({ ...all, fieldSelector: `metadata.name=${name}` }));
  return {
    async *listOwnSecrets(signal) {
      for (const target of targets) yield* streamed(client, target, { page: 200, signal });
    },
  };
}

export function ownedReaderOf({ client }: ClusterConnection, resourceOf: Install['resourceOf']): OwnedReader {
  return {
    listOwned: (provider, { type, name }, signal) => {
      const namespace = namespaceOfProvider(provider);
      const target = {
        path: resourcePath({
          apiVersion: type.apiVersion,
          plural: resourceOf(type),
          // A binding of a tenant has objects in its own namespace alone.
          ...(namespace === undefined ? {} : { namespace }),
        }),
        labelSelector: `${managedByLabel}=${managedByReeve},${providerLabels[kindOfProvider(provider)]}=${nameOfProvider(provider)}`,
        metadataOnly: true,
        ...(name === '' ? {} : { fieldSelector: `metadata.name=${name}` }),
      };
      return pagedObjects(client, target, { page: 500, signal });
    },
  };
}

function streamed(
  client: KubeClient,
  target: WatchTarget,
  { page, signal }: { readonly page: number; readonly signal: AbortSignal },
): AsyncIterable<KubeObject> {
  return new CollectionReader(client, target, {
    page,
    signal: () => signal,
    clock: systemClock,
    streamsLists: true,
  }).objects();
}

/** A Secret can have 1 MiB, so a page of Secrets is short. */
const auditedPages = { roles: 500, rolebindings: 500, secrets: 20, serviceaccounts: 500 } as const;

export function auditReaderOf({ client }: ClusterConnection): AuditReader {
  return {
    listExisting: (resource, namespace, signal) => {
      const isRbac = resource === 'roles' || resource === 'rolebindings';
      const apiVersion = isRbac ? roleType.apiVersion : 'v1';
      const path = resourcePath({
        apiVersion,
        plural: resource,
        ...(namespace === undefined ? {} : { namespace }),
      });
      const options = { page: auditedPages[resource], signal };
      // These keep their managedFields. A leader reads them once, and again before it removes the finalizer of a policy.
      return resource === 'serviceaccounts'
        ? streamed(client, { path, keepsManagers: true }, options)
        : pagedObjects(client, { path }, options);
    },
  };
}
