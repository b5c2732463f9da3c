// The policies of a platform team, one for each of its teams. Exactly one policy matches a given namespace.

export function policyFor(index: number): string {
  return `
apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: {name: team-${index}}
spec:
  match:
    namespaceSelector: {matchLabels: {team: t${index}}}
    excludeNames: [legacy-*]
  namespaces:
    name: {pattern: "^[a-z0-9-]+$"}
    required:
      labels: {team: {pattern: "^[a-z0-9]+$"}, env: {values: [dev, prod]}}
      annotations: {contact: {}}
    defaults: {labels: {"pod-security.kubernetes.io/enforce": baseline}}
    immutable: {labels: [team]}
  validations:
  - {name: short, expression: "object.metadata.name.size() <= 40"}
---
`;
}

export function policies(count: number): string {
  return Array.from({ length: count }, (_, index) => policyFor(index)).join('');
}
