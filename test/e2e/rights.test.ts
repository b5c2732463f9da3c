// Compares all rights of Reeve's accounts, as `kubectl auth can-i --list` prints them, with files that people can read.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve, reeveNamespace, removeWebhooks } from '../cluster/reeve-install.ts';
import type { Api } from '../contract/support/api.ts';
import { at } from '../contract/support/objects.ts';
import { marked, secretOf } from '../support/jail/scene.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { Logins } from './support/logins.ts';

const union = 'manifests/all-in-one/10-rights.yaml';
const allSecrets = 'manifests/install/22-reconciler-secrets.yaml';
const namedSecrets = 'manifests/named-secrets/22-reconciler-secrets.yaml';
const team = 'rights-team';
/** An excluded namespace, both namespaces of Reeve, and an ordinary namespace. */
const namespaces = ['kube-system', reeveNamespace, 'reeve-shared', team];

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** The API server joins the verbs of several rules for one resource in any order. */
function inOrder(line: string): string {
  const rank = (verb: string): number => verbs.indexOf(verb);
  return line.replace(/[^[]+(?=\]$)/, (all) =>
    all
      .split(' ')
      .toSorted((a, b) => rank(a) - rank(b))
      .join(' '),
  );
}

interface Install {
  readonly name: string;
  readonly account: string;
  readonly withUnion: boolean;
  readonly withNamedSecrets: boolean;
}

const plain = { account: 'reeve-reconciler', withUnion: false, withNamedSecrets: false };
const named = { ...plain, name: 'reconciler-named-secrets', withNamedSecrets: true };
const installs: readonly Install[] = [
  { ...plain, name: 'webhook', account: 'reeve-webhook' },
  { ...plain, name: 'reconciler' },
  { ...plain, name: 'all-in-one', withUnion: true },
  named,
];

describeControllers("the rights of Reeve's accounts", { timeout: 60_000 }, () => {
  const cluster = sharedCluster();
  const logins = new Logins(cluster);
  let reconciler: Api;
  let ofEverybody: readonly (readonly string[])[];

  beforeAll(async () => {
    await installReeve(cluster);
    await removeWebhooks(cluster);
    await mustKubectl(['create', 'namespace', team], cluster);
    const created = ['--for=create', 'serviceaccount/default', '-n', team, '--timeout=60s'];
    await mustKubectl(['wait', ...created], cluster);
    reconciler = await logins.account(reeveNamespace, 'reeve-reconciler');
    ofEverybody = await rightsOf(team, 'default');
  });
  afterAll(async () => {
    await mustKubectl(['delete', '-f', namedSecrets, '--ignore-not-found'], cluster);
    await installReeve(cluster);
    await mustKubectl(['delete', 'namespace', team, '--wait=false'], cluster);
    logins.close();
  });

  async function give({ withUnion, withNamedSecrets }: Install): Promise<void> {
    const [secrets, others] = withNamedSecrets ? [namedSecrets, allSecrets] : [allSecrets, namedSecrets];
    const unwanted = ['-f', others, ...(withUnion ? [] : ['-f', union])];
    await mustKubectl(['delete', ...unwanted, '--ignore-not-found'], cluster);
    await mustKubectl(['apply', '-f', secrets, ...(withUnion ? ['-f', union] : [])], cluster);
    const isRefused = async (path: string): Promise<boolean> => (await reconciler.get(path)).status === 403;
    // The API server notices roles and bindings a moment after they are stored.
    await until(
      async () =>
        (await isRefused(at('validatingwebhookconfigurations', '', 'reeve'))) === !withUnion &&
        (await isRefused(at('secrets', team, 'any'))) === withNamedSecrets &&
        !(await isRefused(at('secrets', 'reeve-shared', 'any'))),
      () => 'the rights are known',
    );
  }

  /** Returns one line for each right, by namespace: `secrets [] [regcred] [get list]`. */
  async function rightsOf(home: string, account: string): Promise<readonly (readonly string[])[]> {
    const kubeconfig = await cluster.tokenKubeconfig(home, account);
    const list = ['auth', 'can-i', '--list', '--no-headers', '-n'];
    const tables = namespaces.map((namespace) => mustKubectl([...list, namespace], { kubeconfig }));
    return (await Promise.all(tables)).map((table) =>
      table
        .trim()
        .split('\n')
        .map((line) => inOrder(line.trim().replaceAll(/ {2,}/g, ' ')))
        .toSorted(),
    );
  }

  it.each(installs)('the rights of $name are those of golden/rights', async (install) => {
    await give(install);
    // The rights of all authenticated users differ between versions of Kubernetes, and Reeve does not grant them.
    const rights = (await rightsOf(reeveNamespace, install.account)).map((lines, index) =>
      lines.filter((line) => ofEverybody[index]?.includes(line) !== true),
    );
    await expect(told(rights)).toMatchFileSnapshot(`golden/rights/${install.name}.txt`);
  });

  describe('where the install names the Secrets', () => {
    const dry = 'dryRun=All&fieldManager=reeve&force=true';
    const [regcred, other] = ['regcred', 'other'].map((name) => secretOf(name, marked));
    const own = at('secrets', reeveNamespace, 'reeve-webhook-ca');
    const rows: readonly (readonly [string, (api: Api) => Promise<{ readonly status: number }>, number])[] = [
      ['make one by apply', (api) => api.apply(at('secrets', team, 'regcred'), regcred, dry), 201],
      ['make one by POST', (api) => api.create(`${at('secrets', team)}?dryRun=All`, regcred), 403],
      ['make another one by apply', (api) => api.apply(at('secrets', team, 'other'), other, dry), 403],
      ['read another one', (api) => api.get(at('secrets', team, 'other')), 403],
      ['read the authority', (api) => api.get(own), 403],
      ['write the authority', (api) => api.apply(own, secretOf('reeve-webhook-ca'), dry), 403],
      [
        'list those of the name',
        (api) => api.get(`${at('secrets', '')}?fieldSelector=metadata.name%3Dregcred`),
        200,
      ],
      ['list all', (api) => api.get(at('secrets', '')), 403],
      [
        'list those with the mark',
        (api) => api.get(`${at('secrets', '')}?labelSelector=reeve.dev%2Fowner`),
        403,
      ],
      ['list the sources', (api) => api.get(at('secrets', 'reeve-shared')), 200],
      ['make a source', (api) => api.apply(at('secrets', 'reeve-shared', 'other'), other, dry), 403],
      ['delete a source', (api) => api.delete(at('secrets', 'reeve-shared', 'other')), 403],
    ];

    beforeAll(() => give(named));

    it.concurrent.each(rows)('%s: refused or not', async (_, send, status) => {
      expect((await send(reconciler)).status).toBe(status);
    });
  });
});

/** Prints first the rights that the account has in every namespace. */
function told(rights: readonly (readonly string[])[]): string {
  const [first = [], ...others] = rights;
  const everywhere = first.filter((line) => others.every((lines) => lines.includes(line)));
  const parts = namespaces.map((namespace, index) => {
    const more = (rights[index] ?? []).filter((line) => !everywhere.includes(line));
    return more.length === 0 ? [] : ['', `in ${namespace} too:`, ...more];
  });
  return ['in every namespace:', ...everywhere, ...parts.flat(), ''].join('\n');
}
