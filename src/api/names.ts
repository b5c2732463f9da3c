// Every name by which Reeve and the cluster know each other: group, kinds, labels, annotations, namespaces, reasons.

export const group = 'reeve.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
/** `kubectl get reeve` lists all our kinds. */
export const category = 'reeve';

/** The label that marks what Reeve owns; nobody else may write it. */
export const managedByLabel = 'app.kubernetes.io/managed-by';
export const managedByReeve = 'reeve';
/** On all that the install makes, and on what the program makes for itself. */
export const partOfLabel = 'app.kubernetes.io/part-of';
export const partOfReeve = 'reeve';
/** `<Kind>/<name>` of the policy or share that an object of ours is there for. */
export const ownerAnnotation = `${group}/owner`;
/** Put on an object by its owner, it lets Reeve take the object over. */
export const adoptLabel = `${group}/adopt`;
/** On a policy or share: how many objects may be deleted for it. */
export const confirmDeletionsAnnotation = `${group}/confirm-deletions`;
/** What an object of `contents.resources` was made from, so that a field that leaves the policy leaves the object. */
export const appliedAnnotation = `${group}/applied`;
/** On policies and shares that provide something; gone when no object names them any more. */
export const cleanupFinalizer = `${group}/cleanup`;
/** The condition of Namespaces that says whether all is there that should be. */
export const readyCondition = `${group}/Ready`;
/** The one name under which Reeve applies fields. https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers */
export const fieldManager = 'reeve';
/** The name of a protected Namespace, on it, lets it be deleted. */
export const allowDeletionAnnotation = `${group}/allow-deletion`;

/** Set by the API server, whatever a request says. https://kubernetes.io/docs/reference/labels-annotations-taints/ */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';

/** Of users and groups that Kubernetes keeps for itself. https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-subjects */
export const reservedPrefix = 'system:';

/** Cluster administrators, whom RBAC never refuses. */
export const mastersGroup = 'system:masters';

/** The verb of RBAC for deciding what a policy reaches. */
export const useVerb = 'use';

/** Kubernetes' own: never matched by any policy, like the namespaces of Reeve and those that the install excludes. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** For a Namespace that is being created, "what it matched before" is judged on this name, which nobody can have. */
export const nobodysName = '_any_';
