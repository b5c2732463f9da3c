// The requests of the tour, as kubectl would send them.
import type { JsonObject } from '../../base/json.ts';
import { apiVersion } from '../../api/names.ts';
import type { KubeRequest } from '../../kube/http/client.ts';

export const namespace = 'app-shop';
export const otherNamespace = 'tools';
export const namespacePath = `/api/v1/namespaces/${namespace}`;
export const copyPath = `${namespacePath}/secrets/registry`;
export const passwordPath = `${namespacePath}/secrets/orders-db`;
export const quotaPath = `${namespacePath}/resourcequotas/apps`;
export const bindingPath = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/ad-kubernetes-${namespace}`;
export const sourcePath = '/api/v1/namespaces/reeve-shared/secrets/registry';
export const policyPath = `/apis/${apiVersion}/namespacepolicies/apps`;

export function read(path: string): KubeRequest {
  return { method: 'GET', path };
}

export function createNamespace(name: string, labels: Readonly<Record<string, string>>): KubeRequest {
  const metadata = { name, labels };
  return {
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata },
  };
}

export function createConfigMap(name: string): KubeRequest {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { color: 'green' } };
  return { method: 'POST', path: `${namespacePath}/configmaps`, body };
}

export function change(path: string, body: JsonObject): KubeRequest {
  return { method: 'PATCH', path, body, contentType: 'application/merge-patch+json' };
}

export function remove(path: string): KubeRequest {
  return { method: 'DELETE', path };
}
