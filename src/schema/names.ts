// Names that Reeve uses on the cluster: group, version, labels, annotations, verbs, reserved names.

export const group = 'reeve.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
/** The version of the JSON that commands print, and of the suites of `reeve test`. The API server never sees it. */
export const cliApiVersion = `cli.${group}/v1`;
/** The name of both webhook configurations. */
export const configurationName = 'reeve';
/** `kubectl get reeve` lists all our kinds. */
export const category = 'reeve';

/** The label that marks objects of Reeve. The guard refuses writes of this label by everyone else. */
export const managedByLabel = 'app.kubernetes.io/managed-by';
export const managedByReeve = 'reeve';
/** Annotation on a Namespace that Reeve created for a claim: `<namespace>/<name>` of the claim. Only Reeve sets it. */
export const claimAnnotation = `${group}/claim`;
/** Annotation on such a Namespace: the UID of the claim. A claim that is written again does not get the Namespace back. */
export const claimUidAnnotation = `${group}/claim-uid`;
/** Annotation on such a Namespace: the user whose request it is. The mutating webhook sets it once it has found the claim. */
export const requestedByAnnotation = `${group}/requested-by`;
/** The label of objects that the installation or the program itself creates. */
export const partOfLabel = 'app.kubernetes.io/part-of';
export const partOfReeve = 'reeve';
/** Annotation on our objects: `<Kind>/<name>` of the provider that owns the object, or `<Kind>/<namespace>/<name>`. */
export const ownerAnnotation = `${group}/owner`;
/**
 * Labels on our objects: the name of the provider, so that people can select its objects. The names of providers are valid
 * label values.
 */
export const providerLabels = {
  NamespacePolicy: `${group}/namespacepolicy`,
  SecretShare: `${group}/secretshare`,
  ConfigMapShare: `${group}/configmapshare`,
  ClusterSecurityIntentBinding: `${group}/clustersecurityintentbinding`,
  SecurityIntentBinding: `${group}/securityintentbinding`,
} as const;
/** Annotation on a RoleBinding that expires: when Reeve deletes it, as `2027-01-31T00:00:00Z`. */
export const expiresAtAnnotation = `${group}/expires-at`;
/**
 * Annotation on an object that existed before a policy or share took it over. Such an object is given back, not deleted. Its
 * value is `true`, or `managed-by=Helm` for an object that had another value of our label.
 */
export const adoptedAnnotation = `${group}/adopted`;
/** Label on an object that a policy or share left behind: its name. As an annotation: `<Kind>/<name>`. */
export const orphanedFromKey = `${group}/orphaned-from`;
/** Label on a RoleBinding that a person granted for a while. The annotation reeve.dev/expires-at says until when. */
export const temporaryLabel = `${group}/temporary`;
/** Label on an object that allows Reeve to adopt it: `true`, or `delete` to allow its deletion too. */
export const adoptLabel = `${group}/adopt`;
/** Annotation on a policy or share: how many of its objects may be deleted. */
export const confirmDeletionsAnnotation = `${group}/confirm-deletions`;
/** Annotation with the applied configuration, so that a field removed from the policy is removed from the object. */
export const appliedAnnotation = `${group}/applied`;
/** Annotation on an object that Reeve creates once: `CreateOnce`, until Reeve releases the object. */
export const modeAnnotation = `${group}/mode`;
/** Annotation on a Namespace: its UID, and the objects that Reeve has created there once, or found there, one in a line. */
export const createdOnceAnnotation = `${group}/created-once`;
/** Part of a merge patch that removes all our labels and annotations from an object that Reeve gives up. */
export const withoutMarks = {
  labels: Object.fromEntries([managedByLabel, ...Object.values(providerLabels)].map((key) => [key, null])),
  annotations: {
    [ownerAnnotation]: null,
    [appliedAnnotation]: null,
    [expiresAtAnnotation]: null,
    [modeAnnotation]: null,
  },
} as const;
/** Finalizer of policies and shares that provide objects. Removed when no object names them as owner. */
export const cleanupFinalizer = `${group}/cleanup`;
/** The condition on Namespaces: whether all desired objects exist and match. */
export const readyCondition = `${group}/Ready`;
/** The condition on Namespaces: whether the Namespace itself keeps the rules of policies. */
export const compliantCondition = `${group}/Compliant`;
/** The conditions on Namespaces that Reeve writes. */
export const ownConditions: readonly string[] = [readyCondition, compliantCondition];
/** The field manager of all that Reeve applies. https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers */
export const fieldManager = 'reeve';
/** The field manager of labels and annotations that an adopted object keeps when Reeve deletes it and creates it again. */
export const keptFieldManager = `${fieldManager}-kept`;
/** The field manager of commands that write for a person. */
export const cliFieldManager = `${fieldManager}-cli`;
/**
 * Annotation on a ServiceAccount of another owner: the fields that Reeve has added for each provider. It has one line for each
 * provider: `NamespacePolicy/apps: imagePullSecrets/regcred, automountServiceAccountToken`.
 */
export const fieldsAnnotation = `${group}/fields`;
/** The field manager of fields that Reeve adds to objects of other owners. */
export const fieldsManager = `${fieldManager}-fields`;
/** How such field managers began before the annotation: `/` and a mark for each field followed. Read until version 0.3. */
export const oldFieldsManager = `${fieldManager}-serviceaccounts`;
/** Annotation that lifts deletion protection. Its value must be the name of the Namespace. */
export const allowDeletionAnnotation = `${group}/allow-deletion`;

/** Set by the API server, whatever the request contains. https://kubernetes.io/docs/reference/labels-annotations-taints/ */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';

/** The group of cluster administrators. RBAC never refuses them. */
export const mastersGroup = 'system:masters';

/** The RBAC verb for steering: deciding which namespaces a policy or share matches. */
export const useVerb = 'use';

/** Namespaces of Kubernetes itself. No policy or share matches them. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** True for the labels and annotations that only Reeve sets: whose an object is, and how Reeve treats it. */
export function isOurKey(key: string): boolean {
  return key === managedByLabel || key.startsWith(`${group}/`);
}

/** Stands for the previous name of a Namespace that is being created. It is not a valid name, so no Namespace has it. */
export const placeholderName = '_any_';

/** The webhooks and the guard let its members do everything, in an emergency. */
export const emergencyGroup = 'reeve:break-glass';

/** The service account of the reconciler. */
export const reconcilerAccount = 'reeve-reconciler';

/** `kubectl apply` writes the whole object into this annotation: with a Secret, its payload. So Reeve does not compare it. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
