// What the server must answer to each sample review, with the sample policies and namespaces loaded.

export interface Expectation {
  /** The name of the file in manifests/samples/reviews, without its ending. */
  readonly review: string;
  readonly endpoint: 'validate' | 'mutate';
  /** The word in the table of manifests/samples/README.md. */
  readonly answer: 'allowed' | 'warned' | 'patched' | 'refused' | 'unavailable';
  /** `policy, rule: path` of every cause of a refusal. */
  readonly causes?: readonly string[];
  /** What every warning starts with. */
  readonly warnings?: readonly string[];
  /** The whole patch. */
  readonly patch?: readonly unknown[];
}

export const expectations: readonly Expectation[] = [
  { review: 'namespace-create-allowed', endpoint: 'validate', answer: 'allowed' },
  {
    review: 'namespace-create-defaulted',
    endpoint: 'mutate',
    answer: 'patched',
    patch: [
      { op: 'add', path: '/metadata/labels/pod-security.kubernetes.io~1enforce', value: 'baseline' },
      { op: 'add', path: '/metadata/annotations/created-by', value: 'platform-engineer@example.com' },
    ],
  },
  {
    review: 'namespace-create-sandbox',
    endpoint: 'mutate',
    answer: 'patched',
    patch: [
      { op: 'add', path: '/metadata/labels/pod-security.kubernetes.io~1enforce', value: 'restricted' },
      { op: 'add', path: '/metadata/labels/tier', value: 'sandbox' },
      { op: 'add', path: '/metadata/annotations', value: { 'created-by': 'payments-developer@example.com' } },
    ],
  },
  { review: 'namespace-create-excepted', endpoint: 'validate', answer: 'allowed' },
  {
    review: 'namespace-create-warned',
    endpoint: 'validate',
    answer: 'warned',
    warnings: [
      'policy every-namespace, namespaces.required: metadata.labels["tier"]: found nothing',
      'policy every-namespace, validations/not-privileged: privileged pods are allowed',
    ],
  },
  {
    review: 'namespace-create-bad-name',
    endpoint: 'validate',
    answer: 'refused',
    causes: [
      'team-namespaces, namespaces.name: metadata.name',
      'team-namespaces, validations/name-has-team: object',
    ],
  },
  {
    review: 'namespace-create-missing-labels',
    endpoint: 'validate',
    answer: 'refused',
    causes: [
      'team-namespaces, namespaces.required: metadata.labels["cost-center"]',
      'team-namespaces, namespaces.required: metadata.labels["env"]',
      'team-namespaces, namespaces.required: metadata.annotations["contact"]',
    ],
  },
  {
    review: 'namespace-create-not-a-requester',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['team-namespaces, namespaces.requesters: request.userInfo'],
  },
  {
    review: 'namespace-create-over-quota',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['team-namespaces, namespaces.quota: metadata.labels["team"]'],
  },
  {
    review: 'namespace-create-long-name',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['sandboxes, validations/short: object'],
  },
  { review: 'namespace-update-contact', endpoint: 'validate', answer: 'allowed' },
  {
    review: 'namespace-update-immutable-label',
    endpoint: 'validate',
    answer: 'refused',
    causes: [
      'team-namespaces, namespaces.immutable: metadata.labels["team"]',
      'team-namespaces, validations/name-has-team: object',
    ],
  },
  {
    review: 'namespace-update-steering',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['database-clients, steering: metadata'],
  },
  {
    review: 'namespace-status-steering',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['team-names, namespaces.required: metadata.labels["tier"]'],
  },
  { review: 'namespace-status-controller', endpoint: 'validate', answer: 'allowed' },
  {
    review: 'namespace-delete-protected',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['production, namespaces.deletion: metadata.annotations["reeve.dev/allow-deletion"]'],
  },
  { review: 'namespace-delete-confirmed', endpoint: 'validate', answer: 'allowed' },
  { review: 'namespace-delete-terminating', endpoint: 'validate', answer: 'allowed' },
  { review: 'secret-create-helm-release', endpoint: 'validate', answer: 'allowed' },
  {
    review: 'secret-create-defaulted',
    endpoint: 'mutate',
    answer: 'patched',
    patch: [{ op: 'add', path: '/metadata/labels', value: { team: 'payments' } }],
  },
  {
    review: 'secret-create-token',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['team-secrets, secrets.forbiddenTypes: type'],
  },
  {
    review: 'secret-create-too-large',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['sandboxes, secrets.maxBytes: data'],
  },
  { review: 'secret-create-cert-manager', endpoint: 'validate', answer: 'allowed' },
  {
    review: 'secret-create-tls-mismatch',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['production, secrets.tls: data["tls.key"]'],
  },
  {
    review: 'secret-create-tls-mismatch-warned',
    endpoint: 'validate',
    answer: 'warned',
    warnings: ['policy team-tls-advice, secrets.tls: data["tls.key"]: found the private key of another'],
  },
  {
    review: 'secret-create-registry',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['team-secrets, secrets.dockerConfig: data[".dockerconfigjson"]'],
  },
  { review: 'secret-create-unknown-namespace', endpoint: 'validate', answer: 'unavailable' },
  { review: 'rolebinding-create-chart', endpoint: 'validate', answer: 'allowed' },
  {
    review: 'rolebinding-create-cluster-admin',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['team-rbac, rbac.allowedRoleRefs: roleRef'],
  },
  {
    review: 'rolebinding-create-everyone',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['team-rbac, rbac.forbiddenSubjects: subjects[1]'],
  },
  {
    review: 'role-create-wildcard',
    endpoint: 'validate',
    answer: 'refused',
    causes: ['production, rbac.forbidWildcardRules: rules[1].verbs'],
  },
];
