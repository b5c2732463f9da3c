// Every name by which Reeve and the cluster know each other: group, kinds, labels, annotations, namespaces, reasons.

export const group = 'reeve.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
/** `kubectl get reeve` lists all our kinds. */
export const category = 'reeve';

/** The label that marks what Reeve owns; nobody else may write it. */
export const managedByLabel = 'app.kubernetes.io/managed-by';
export const managedByReeve = 'reeve';
/** Beside the label: `<Kind>/<name>` of the object that wants the marked one. */
export const ownerAnnotation = `${group}/owner`;
/** "true" on an object of a desired name lets Reeve take it over. */
export const adoptAnnotation = `${group}/adopt`;
/** The name of a protected Namespace, on it, lets it be deleted. */
export const allowDeletionAnnotation = `${group}/allow-deletion`;
/** On a policy: how many objects a change of it may delete. */
export const confirmDeletionsAnnotation = `${group}/confirm-deletions`;

/** Set by the API server, whatever a request says. https://kubernetes.io/docs/reference/labels-annotations-taints/ */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';

/** Condition of a Namespace: everything that is desired in it is there. */
export const readyCondition = `${group}/Ready`;

/** A request of this group was asked for as an exception, and the audit log shows it. */
export const breakGlassGroup = 'reeve:break-glass';
/** Cluster administrators, whom RBAC never refuses. */
export const mastersGroup = 'system:masters';

/** The verb of RBAC for deciding what a policy reaches. */
export const useVerb = 'use';

/** Kubernetes' own: never matched by any policy, like the namespaces of Reeve and those that the install excludes. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** For a Namespace that is being created, "what it matched before" is judged on this name, which nobody can have. */
export const nobodysName = '_any_';
