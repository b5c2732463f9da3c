// The kind of content `resources`: objects of the kinds that the installation allows, and the kinds that none may allow.
import { ownMember } from '../base/json.ts';
import { groupOf, type ObjectType } from '../base/object-type.ts';
import { managedByLabel, managedByReeve, group, providerLabels } from '../schema/names.ts';
import { list, openObject, text, type SchemaRule } from '../schema/schema.ts';
import type { Path } from '../base/problem.ts';
import { configMapName, forEach, labelText, pathSegment, subdomain, templateText } from './content-fields.ts';
import { modeField } from './create-once.ts';
import { contentKind, keeping, writing, type TextCheck, type TextChecks } from './content.ts';

/** Groups that `contents.resources` refuses: their kinds grant rights, configure the cluster or store nothing. */
export const forbiddenGroups: readonly string[] = [
  group,
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'node.k8s.io',
  'storagemigration.k8s.io',
];

/**
 * Kinds that `contents.resources` refuses, as group/Kind: Secrets need a SecretShare; other controllers write the main
 * resource or the labels of some kinds; the rest is cluster-scoped in Kubernetes 1.36.
 */
export const forbiddenKinds: readonly string[] = [
  '/Secret',
  '/PersistentVolumeClaim',
  '/Service',
  '/Endpoints',
  '/ComponentStatus',
  '/Namespace',
  '/Node',
  '/PersistentVolume',
  'certificates.k8s.io/CertificateSigningRequest',
  'certificates.k8s.io/ClusterTrustBundle',
  'networking.k8s.io/IPAddress',
  'networking.k8s.io/IngressClass',
  'networking.k8s.io/ServiceCIDR',
  'resource.k8s.io/DeviceClass',
  'resource.k8s.io/DeviceTaintRule',
  'resource.k8s.io/ResourceSlice',
  'scheduling.k8s.io/PriorityClass',
  'storage.k8s.io/CSIDriver',
  'storage.k8s.io/CSINode',
  'storage.k8s.io/StorageClass',
  'storage.k8s.io/VolumeAttachment',
  'storage.k8s.io/VolumeAttributesClass',
];

/** `namespace` is listed because another rule reports it. */
const fieldsOfMetadata = new Set(['name', 'namespace', 'labels', 'annotations']);

const metadata = openObject({
  description:
    'The metadata of the object: its name, and labels and annotations if it needs them. Text values may be templates.',
  fields: {
    name: templateText(
      'The name of the object. Text, or a template: CEL in ${ } sees namespaceObject, the Namespace; $${ is a literal ${. Example: team.',
      4096,
    ),
    namespace: text({
      description: 'Not allowed: the object is created in each matched namespace.',
      maxLength: 253,
    }),
  },
  required: ['name'],
  rules: [
    {
      accepted: 'no namespace, because the object is created in each matched namespace',
      must: 'have',
      // `namespace` is a reserved word of CEL, which the API server escapes.
      cel: '!has(self.__namespace__)',
      offender: ({ namespace }) => (namespace === undefined ? undefined : ['namespace']),
    },
    {
      // A finalizer without a controller would block the deletion of the namespace, and an owner could delete the object.
      accepted: 'only name, labels and annotations',
      must: 'have',
      offender: (written) => {
        const other = Object.keys(written).find((field) => !fieldsOfMetadata.has(field));
        return other === undefined ? undefined : [other];
      },
    },
  ],
});

const celGroup = "(self.apiVersion.contains('/') ? self.apiVersion.split('/')[0] : '')";

const allowedGroup: SchemaRule<ObjectType> = {
  accepted: 'a group other than those of RBAC, of Reeve and of cluster configuration',
  cel: `!(${celGroup} in [${forbiddenGroups.map((each) => `'${each}'`).join(', ')}])`,
  offender: (object) => (forbiddenGroups.includes(groupOf(object.apiVersion)) ? ['apiVersion'] : undefined),
};

const allowedKind: SchemaRule<ObjectType> = {
  accepted:
    'a namespaced kind other than Secret (use a SecretShare), Service, Endpoints and PersistentVolumeClaim',
  cel: `!(${celGroup} + '/' + self.kind in [${forbiddenKinds.map((kind) => `'${kind}'`).join(', ')}])`,
  offender: (object) =>
    forbiddenKinds.includes(`${groupOf(object.apiVersion)}/${object.kind}`) ? ['kind'] : undefined,
};

const nameLabels = Object.values(providerLabels);

/** Pods created from such a template would have our labels, and the guard would refuse writes to them by everyone else. */
const noMarkInTemplates: SchemaRule<ObjectType> = {
  accepted: `a fixed value other than ${managedByReeve}`,
  mustNot: `set ${managedByLabel} to ${managedByReeve} or to a template in a pod template`,
  offender: (object) => pathInTemplates(object, [], managedByLabel, isMark),
};

/** Reeve remembers there whose the object is, and whether it may be adopted or deleted. */
const noOwnMetadata: SchemaRule<ObjectType> = {
  accepted: 'other labels and annotations',
  mustNot: `set labels and annotations of ${group}/, which Reeve sets`,
  offender: (object) => {
    for (const part of ['labels', 'annotations']) {
      const keys = Object.keys(member(member(object, 'metadata'), part) ?? {});
      const own = keys.find((key) => key.startsWith(`${group}/`));
      if (own !== undefined) return ['metadata', part, own];
    }
    return nameLabels
      .map((label) => pathInTemplates(object, [], label, (value) => value !== undefined))
      .find((path) => path !== undefined);
  },
};

/** Reeve would create a Job that deletes itself again and again. */
const noVanishingJob: SchemaRule<ObjectType> = {
  accepted: 'a Job without ttlSecondsAfterFinished, because Reeve would create it again after each deletion',
  offender: (object) => {
    const spec =
      object.kind === 'Job' && groupOf(object.apiVersion) === 'batch' ? member(object, 'spec') : undefined;
    return member(spec, 'ttlSecondsAfterFinished') === undefined
      ? undefined
      : ['spec', 'ttlSecondsAfterFinished'];
  },
};

const resource = openObject({
  description:
    'An object that every matched namespace contains, written as for kubectl apply, without a namespace. CEL in ${ } may stand in text values, never in keys, apiVersion or kind, and sees namespaceObject, the Namespace.',
  fields: {
    apiVersion: text({
      description: 'The group and version of the object, never a template. Example: networking.k8s.io/v1.',
      maxLength: 317,
      pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[a-z0-9]+$',
      accepted: 'group/version such as networking.k8s.io/v1, or v1',
    }),
    kind: text({
      description: 'The kind of the object, never a template. Example: ResourceQuota.',
      maxLength: 63,
      pattern: '^[A-Z][A-Za-z0-9]*$',
      accepted: 'a kind such as ResourceQuota',
    }),
    metadata,
    forEach,
    mode: modeField('object'),
  },
  required: ['apiVersion', 'kind', 'metadata'],
  rules: [allowedGroup, allowedKind, noMarkInTemplates, noOwnMetadata, noVanishingJob],
});

export const resources = contentKind({
  name: 'resources',
  field: list({
    description:
      'Other namespaced objects, of the kinds that the installation allows. Not allowed: Secrets (use a SecretShare), RBAC, kinds of Reeve, cluster-scoped kinds. Example: [{apiVersion: v1, kind: ResourceQuota, metadata: {name: team}, spec: {hard: {pods: "50"}}}].',
    items: resource,
    maxItems: 50,
  }),
  ownership: 'object',
  type: undefined,
  namePath: ['metadata', 'name'],
  template: ({ forEach: _forEach, mode: _mode, ...value }) => ({
    value,
    isFixed: (field) => field.length === 1 && ['apiVersion', 'kind'].includes(String(field[0])),
    checks: checksOf(value),
  }),
  render: 'as-written',
  rights: ({ apiVersion, kind }, resourceOf) => [
    {
      verbs: writing,
      group: groupOf(apiVersion),
      resource: resourceOf({ apiVersion, kind }),
      effect: `create, change and delete objects of kind ${kind}`,
      field: [],
      own: { purpose: 'resources', verbs: keeping },
    },
  ],
  compare: 'by-field',
});

/** Returns the check of the name of an object that Kubernetes itself defines. */
export function nameCheckOf({ apiVersion, kind }: ObjectType): TextCheck {
  return apiVersion === 'v1' && kind === 'ConfigMap' ? configMapName : subdomain;
}

/** The kinds of Kubernetes itself need a DNS subdomain. Other groups can have rules of their own. */
function checksOf(type: ObjectType): TextChecks {
  const of = groupOf(type.apiVersion);
  const name = !of.includes('.') || of.endsWith('.k8s.io') ? nameCheckOf(type) : pathSegment;
  return ([first, second]) => {
    if (first !== 'metadata') return undefined;
    if (second === 'name') return name;
    return second === 'labels' ? labelText : undefined;
  };
}

function member(value: unknown, name: string): unknown {
  return ownMember(value, name) ?? undefined;
}

function labelIn(value: unknown, label: string): unknown {
  return member(member(member(value, 'metadata'), 'labels'), label);
}

function isMark(value: unknown): boolean {
  return value === managedByReeve || (typeof value === 'string' && value.includes('${'));
}

/** Returns the path of the label below any `template`, at any depth, as in a CronJob. The depth of the object is bounded. */
function pathInTemplates(
  value: unknown,
  path: Path,
  label: string,
  isForbidden: (labelValue: unknown) => boolean,
): Path | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const below = [...path, Array.isArray(value) ? Number(key) : key];
    if (key === 'template' && isForbidden(labelIn(child, label)))
      return [...below, 'metadata', 'labels', label];
    const deeper = pathInTemplates(child, below, label, isForbidden);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
