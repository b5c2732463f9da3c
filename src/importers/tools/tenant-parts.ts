// What Tenants of Capsule and their resources have in common: selectors, metadata, and templates.
import type { Reader } from '../reader.ts';
import { templateWriter, type TemplateWriter } from '../templates.ts';

export const tenantLabel = 'capsule.clastix.io/tenant';

/** https://github.com/projectcapsule/capsule/blob/main/pkg/template/fast.go: without a tenant, the label says which one. */
export function tenantTemplates(tenant?: string): TemplateWriter {
  const label = `namespaceObject.metadata.labels[${JSON.stringify(tenantLabel)}]`;
  const known = new Map([
    ['namespace', 'namespaceObject.metadata.name'],
    ['tenant.name', tenant === undefined ? label : JSON.stringify(tenant)],
  ]);
  return templateWriter((inside) => known.get(inside));
}

export function metadataIn(reader: Reader) {
  return { labels: reader.at('labels').textMap(), annotations: reader.at('annotations').textMap() };
}
