// The syntax of Kubernetes for names, label keys and label values, and the users and groups that it reserves.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set

const dnsLabel = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
export const subdomainPattern = `${dnsLabel}(\\.${dnsLabel})*`;
export const qualifiedNamePattern = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
export const labelValuePattern = '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$';
export const namespaceNamePattern = `^${dnsLabel}$`;
/** The maximum length of a namespace name and of a label value. */
export const maxLabelLength = 63;

const labelValueExpression = new RegExp(labelValuePattern);
const subdomainExpression = new RegExp(`^${subdomainPattern}$`);
const namespaceNameExpression = new RegExp(namespaceNamePattern);

const labelKeyExpression = new RegExp(`^(${subdomainPattern}/)?${qualifiedNamePattern}$`);

/** A key with at most 253 characters before the slash. */
export function isLabelKey(text: string): boolean {
  return text.length <= 317 && text.indexOf('/') <= 253 && labelKeyExpression.test(text);
}

/** True for a key that only Kubernetes or Reeve itself may change. */
export function isReservedKey(key: string): boolean {
  return (
    key.startsWith('reeve.dev/') ||
    ['kubernetes.io/metadata.name', 'app.kubernetes.io/managed-by'].includes(key)
  );
}

export function isLabelValue(text: string): boolean {
  return text.length <= maxLabelLength && labelValueExpression.test(text);
}

export function isNamespaceName(text: string): boolean {
  return text.length <= maxLabelLength && namespaceNameExpression.test(text);
}

/** The syntax for the names of most kinds: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 && subdomainExpression.test(text);
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names */
export function isPathSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/%]/.test(text);
}

/** The prefix of users and groups that Kubernetes reserves for itself. https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-subjects */
export const reservedPrefix = 'system:';

export function isReservedSubject({ kind, name }: { readonly kind: string; readonly name: string }): boolean {
  return kind !== 'ServiceAccount' && name.startsWith(reservedPrefix);
}

/** The prefix of the group of all ServiceAccounts of a namespace. https://kubernetes.io/docs/reference/access-authn-authz/authentication/#service-account-tokens */
export const accountsGroupPrefix = 'system:serviceaccounts:';
