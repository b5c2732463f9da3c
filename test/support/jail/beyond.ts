// Requests that RBAC refuses to both accounts, and that no admission policy can refuse or only a real cluster serves.
import { at } from '../../contract/support/objects.ts';
import {
  eventOf,
  eventsIn,
  object,
  ofOwners,
  owningKinds,
  patch,
  post,
  put,
  remove,
  type Sent,
} from './scene.ts';

export interface Beyond {
  readonly what: string;
  readonly send: Sent;
}

const get =
  (path: string): Sent =>
  (api) =>
    api.get(path);

const pod = object('v1', 'Pod', 'new', { spec: { containers: [{ name: 'a', image: 'none' }] } });
const request = {
  usages: ['client auth'],
  signerName: 'kubernetes.io/kube-apiserver-client',
  request: 'YQ==',
};
const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };

const review = object('authorization.k8s.io/v1', 'LocalSubjectAccessReview', '', {
  spec: { user: 'ann', resourceAttributes: { verb: 'get', resource: 'secrets' } },
});

export function beyondRights(team: string): readonly Beyond[] {
  const core = `/api/v1/namespaces/${team}`;
  return [
    { what: 'see Pods', send: get(`${core}/pods`) },
    { what: 'make a Pod', send: post(`${core}/pods`, pod) },
    { what: 'run a command in a Pod', send: (api) => api.create(`${core}/pods/new/exec?command=ls`, {}) },
    { what: 'reach a Service', send: get('/api/v1/namespaces/default/services/https:kubernetes:443/proxy/') },
    { what: 'create a token', send: post(`${core}/serviceaccounts/default/token`, token) },
    {
      what: 'make a token of Reeve',
      send: post('/api/v1/namespaces/reeve-system/serviceaccounts/reeve-reconciler/token', token),
    },
    // The API server asks no admission policy about these requests.
    {
      what: 'review the rights of other users in a namespace',
      send: post(`/apis/authorization.k8s.io/v1/namespaces/${team}/localsubjectaccessreviews`, review),
    },
    {
      what: 'ask for a certificate',
      send: post(
        '/apis/certificates.k8s.io/v1/certificatesigningrequests',
        object('certificates.k8s.io/v1', 'CertificateSigningRequest', 'new', { spec: request }),
      ),
    },
    { what: 'act as the administrator', send: (api) => api.as('admin', 'system:masters').get(core) },
    { what: 'ask for the emergency', send: (api) => api.as('admin', 'reeve:break-glass').get(core) },
    { what: 'see the admission policies', send: get(at('validatingadmissionpolicies', '')) },
    {
      what: 'open the jail',
      send: patch('merge', at('validatingadmissionpolicies', '', 'reeve-jail'), {
        spec: { validations: [] },
      }),
    },
    {
      what: 'let itself out of the jail',
      send: remove(at('validatingadmissionpolicybindings', '', 'reeve-jail')),
    },
    { what: 'delete the guard', send: remove(at('validatingadmissionpolicies', '', 'reeve-guard')) },
    { what: 'delete its webhooks', send: remove(at('validatingwebhookconfigurations', '', 'reeve')) },
    { what: 'see the roles', send: get(at('clusterroles', '')) },
    { what: 'see who is bound to roles', send: get(at('clusterrolebindings', '')) },
    { what: 'delete all RoleBindings of a namespace', send: remove(at('rolebindings', team)) },
    { what: 'delete all ConfigMaps of a namespace', send: remove(at('configmaps', team)) },
    ...owningKinds.map((each) => ({
      what: `replace the status of ${each.plural}`,
      send: put(`${ofOwners(each, team, team)}/status`, object('reeve.dev/v1alpha1', each.kind, team)),
    })),
    { what: 'replace an Event', send: put(`${eventsIn(team)}/said`, eventOf('kubelet', team, 'said')) },
    { what: 'see Events', send: get(eventsIn(team)) },
    ...owningKinds.map((each) => ({
      what: `delete all ${each.plural}`,
      send: remove(ofOwners(each, team)),
    })),
    { what: 'see Nodes', send: get('/api/v1/nodes') },
    { what: 'see other kinds', send: get(at('customresourcedefinitions', '')) },
  ];
}
