// Imports GlobalTenantResources and TenantResources of Capsule: objects for the namespaces of tenants.
// https://github.com/projectcapsule/capsule/blob/main/api/v1beta2/tenantresource_types.go
import { compileSelector, type LabelRequirement } from '../../schema/selector.ts';
import { isJsonObject } from '../../base/json.ts';
import { type KubeObject, labelsOf, valueOf } from '../../base/metadata.ts';
import { provideCopy, provideObject } from '../contents.ts';
import type { ImportRun } from '../import-run.ts';
import { type ToolObject, filled, type Reader } from '../reader.ts';
import { selectedBy, selectedIn, selectorIn } from '../reach.ts';
import { templateWriter, type TemplateWriter } from '../templates.ts';

export const capsuleGroup = 'capsule.clastix.io';
export const tenantLabel = `${capsuleGroup}/tenant`;

export function readTenantResources(run: ImportRun, tenants: readonly ToolObject[]): void {
  for (const each of run.ofKind('GlobalTenantResource'))
    readResources(run, each, chosenTenants(each, tenants));
  for (const each of run.ofKind('TenantResource')) readResources(run, each, ownTenant(run, each));
}

/** Returns undefined if the object chooses no namespaces of a tenant. Then there is nothing to provide. */
function chosenTenants({ reader }: ToolObject, tenants: readonly ToolObject[]): LabelRequirement | undefined {
  const spec = reader.at('spec');
  const selector = spec.at('tenantSelector');
  const chosen = selector.isPresent ? selectorIn(selector) : {};
  if ((spec.at('scope').text() ?? 'Namespace') !== 'Namespace' || chosen === undefined) {
    spec.lose('Reeve provides objects for namespaces, not for tenants');
    return undefined;
  }
  if (Object.keys(chosen).length === 0) return { key: tenantLabel, operator: 'Exists' };
  const compiled = compileSelector(chosen);
  const values = tenants.filter(({ object }) => compiled.matches(labelsOf(object))).map(({ name }) => name);
  selector.lose(
    'Reeve has no labels of tenants: the tenants of today are named, and new ones are not covered',
    'give the namespaces of these tenants a label of their own',
  );
  if (values.length > 0) return { key: tenantLabel, operator: 'In', values };
  spec.at('resources').lose('no tenant in the input has these labels');
  return undefined;
}

/** The tenant to which the namespace of the object belongs. */
function ownTenant(run: ImportRun, { namespace, reader }: ToolObject): LabelRequirement | undefined {
  const tenant = valueOf(labelsOf(run.namespace(namespace)), tenantLabel);
  if (tenant !== undefined) return { key: tenantLabel, operator: 'In', values: [tenant] };
  reader.at('spec').lose(`the tenant of namespace ${namespace} is not in the input`);
  return undefined;
}

function readResources(run: ImportRun, each: ToolObject, tenants: LabelRequirement | undefined): void {
  const { name, reader } = each;
  if (tenants === undefined) return;
  const spec = reader.at('spec');
  for (const key of ['adopt', 'force']) spec.at('settings', key).skipIf(false);
  const isKept = spec.at('pruningOnDelete').flag() === false;
  const suspend = spec.at('cordoned').flag() === true ? true : undefined;
  const common = filled({ deletionPolicy: isKept ? 'Orphan' : undefined, suspend });
  for (const item of spec.at('resources').items()) {
    const selected = selectedIn(selectedBy([tenants]), item.at('namespaceSelector'));
    const added = metadataIn(item.at('additionalMetadata'));
    if (selected === undefined) continue;
    const wish = { reaches: [selected], common };
    for (const from of item.at('rawItems').items()) {
      const object = objectIn(from, added);
      if (from.at('apiVersion').text()?.startsWith(`${capsuleGroup}/`) === true)
        from.lose('an object of Capsule has no effect without Capsule');
      else provideObject(run, { ...wish, from, object, policy: name, writer: tenantTemplates() });
    }
    for (const from of item.at('namespacedItems').items()) {
      const source = namedIn(from);
      if (source !== undefined) provideCopy(run, { ...wish, from, source, provider: name });
    }
  }
  run.deleteAlone(each);
}

function objectIn(raw: Reader, added: ReturnType<typeof metadataIn>): KubeObject {
  const value = raw.whole();
  const fields = isJsonObject(value) ? value : {};
  const own = isJsonObject(fields['metadata']) ? fields['metadata'] : {};
  const { name, namespace: _namespace, labels, annotations, ...others } = own;
  for (const key of Object.keys(others))
    raw.at('metadata', key).lose('objects of a policy have a name, labels and annotations only');
  const metadata = {
    name,
    labels: { ...(isJsonObject(labels) ? labels : {}), ...added.labels },
    annotations: { ...(isJsonObject(annotations) ? annotations : {}), ...added.annotations },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the policy is loaded before it is printed
  return { ...fields, metadata } as KubeObject;
}

/** Reads the name of an object that exists elsewhere. */
function namedIn(item: Reader) {
  const [kind, namespace, name] = item.textsAt('kind', 'namespace', 'name');
  item.at('apiVersion').skip();
  item.at('optional').skipIf(true);
  const isNamed = kind !== undefined && namespace !== undefined && name !== undefined;
  if (isNamed && !`${namespace}${name}`.includes('{{')) return { kind, namespace, name };
  item.lose('Reeve copies objects by name only');
  return undefined;
}

/**
 * Without a tenant, the label says which tenant it is: https://github.com/projectcapsule/capsule/blob/main/pkg/template/fast.go
 */
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
