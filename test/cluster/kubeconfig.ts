// Writes a kubeconfig with everything that a user needs to reach the control plane.

export type Credentials =
  | { readonly kind: 'certificate'; readonly certPem: string; readonly keyPem: string }
  | { readonly kind: 'token'; readonly token: string };

/** Returns JSON, which is valid YAML and needs no special care for names. */
export function kubeconfigOf(
  server: string,
  caPem: string,
  userName: string,
  credentials: Credentials,
): string {
  const name = 'reeve-test';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(caPem) } }],
    users: [{ name: userName, user: userOf(credentials) }],
    contexts: [{ name, context: { cluster: name, user: userName } }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function userOf(credentials: Credentials): Readonly<Record<string, string>> {
  switch (credentials.kind) {
    case 'certificate':
      return {
        'client-certificate-data': base64(credentials.certPem),
        'client-key-data': base64(credentials.keyPem),
      };
    case 'token':
      return { token: credentials.token };
    default:
      return credentials satisfies never;
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
