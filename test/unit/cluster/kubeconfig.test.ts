// A kubeconfig holds everything its user needs, whatever the user is called.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { kubeconfigOf } from '../../cluster/kubeconfig.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('the kubeconfig of a user with a certificate holds the certificate and the key', () => {
  const config = kubeconfigOf('https://127.0.0.1:1', 'CA', 'a: "b"\n- c', {
    kind: 'certificate',
    certPem: 'CERT',
    keyPem: 'KEY',
  });
  expect(parse(config)).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'reeve-test',
    clusters: [
      {
        name: 'reeve-test',
        cluster: { server: 'https://127.0.0.1:1', 'certificate-authority-data': base64('CA') },
      },
    ],
    users: [
      {
        name: 'a: "b"\n- c',
        user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
      },
    ],
    contexts: [{ name: 'reeve-test', context: { cluster: 'reeve-test', user: 'a: "b"\n- c' } }],
  });
});

test('the kubeconfig of a user with a token holds the token', () => {
  const config = kubeconfigOf('https://127.0.0.1:1', 'CA', 'bot', { kind: 'token', token: 'T' });
  expect(parse(config)).toMatchObject({ users: [{ name: 'bot', user: { token: 'T' } }] });
});
