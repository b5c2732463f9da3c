// An uninstall takes back the fields that policies added to ServiceAccounts, or leaves them in place.
import { describe, expect, test } from 'vitest';
import { noDeletions } from '../../../src/policy/terms/deletion-record.ts';
import { annotationsOf, type KubeObject } from '../../../src/base/metadata.ts';
import type { ApplyOptions, ObjectWriter } from '../../../src/base/object-writer.ts';
import {
  annotationOf,
  markOf,
  observeAccount,
  oldMarkOf,
  pullSecretItem,
} from '../../../src/policy/plan/account.ts';
import { fieldsAnnotation, fieldsManager, oldFieldsManager } from '../../../src/schema/names.ts';
import { serviceAccountKind } from '../../../src/sandbox/kinds/plain-kinds.ts';
import { applied } from '../../../src/sandbox/patch/managed-fields.ts';
import { clearAccounts } from '../../../src/uninstall/accounts.ts';
import type { Facts } from '../../../src/uninstall/facts.ts';

const id = 'NamespacePolicy/p';
const state = {
  id,
  uid: 'p',
  generation: 1,
  resourceVersion: '1',
  isValid: true,
  isDeleting: false,
  hasFinalizer: true,
  provides: true,
  isSuspended: false,
  deletionPolicy: 'Delete',
  maxDeletions: 0,
  confirmation: undefined,
  confirmationUsed: undefined,
  deletions: noDeletions,
} as const;

const metadata = { name: 'default', namespace: 'n' };
const list = (...names: readonly string[]) => ({ imagePullSecrets: names.map((name) => ({ name })) });

/** An account that has one Secret of a user and one of the policy. */
class Account {
  object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...metadata, uid: 'u' },
    ...list('a'),
  };

  constructor(form: 'new' | 'old') {
    const item = pullSecretItem('b');
    const annotations = { [fieldsAnnotation]: annotationOf(new Set([markOf(id, item)])) };
    const config = { apiVersion: 'v1', kind: 'ServiceAccount', metadata, ...list('a', 'b') };
    if (form === 'old') this.#apply(config, `${oldFieldsManager}/${oldMarkOf(id, item)}`);
    else this.#apply({ ...config, metadata: { ...metadata, annotations } }, fieldsManager);
  }

  readonly writer: Pick<ObjectWriter, 'apply'> = {
    apply: (object: KubeObject, { manager = '' }: ApplyOptions) => {
      this.#apply({ ...object, metadata }, manager);
      return Promise.resolve(this.object);
    },
  };

  #apply(config: KubeObject, name: string): void {
    const manager = { name, subresource: undefined, time: '2026-11-21T12:00:00Z' };
    const sent = { resource: serviceAccountKind, stored: this.object, applied: config, manager, force: true };
    this.object = applied(sent);
  }

  facts(providers: Facts['providers']): Facts {
    const live = observeAccount(this.object);
    return {
      providers,
      marked: [],
      accounts: live.managers.length > 0 ? [live] : [],
      grants: [],
      unseen: [],
    };
  }
}

describe.for(['new', 'old'] as const)('marks of the %s form', (form) => {
  test.for([
    [
      'takes back what the policy added',
      [state],
      false,
      ['a'],
      'took fields back from ServiceAccount n/default',
    ],
    [
      'keeps it with --keep-contents',
      [state],
      true,
      ['a', 'b'],
      'kept the fields of ServiceAccount n/default',
    ],
    [
      'keeps it for deletionPolicy Orphan',
      [{ ...state, deletionPolicy: 'Orphan' }],
      false,
      ['a', 'b'],
      'kept the fields of ServiceAccount n/default',
    ],
    [
      'keeps it while the policy is suspended',
      [{ ...state, isSuspended: true }],
      false,
      ['a', 'b'],
      'kept the fields of ServiceAccount n/default',
    ],
    [
      'keeps it when the policy no longer exists',
      [],
      false,
      ['a', 'b'],
      'kept the fields of ServiceAccount n/default',
    ],
  ] as const)(
    'an uninstall %s, and no field of Reeve is left',
    async ([, providers, keepContents, left, line]) => {
      const account = new Account(form);
      const said: string[] = [];
      const problems = await clearAccounts({
        facts: () => Promise.resolve(account.facts(providers)),
        writer: account.writer as ObjectWriter,
        say: (text) => said.push(text),
        keepContents,
        patienceMs: 60_000,
      });
      expect(problems).toEqual([]);
      const { pullSecrets, managers } = observeAccount(account.object);
      expect([pullSecrets, managers]).toEqual([left, []]);
      expect(annotationsOf(account.object)).toEqual({});
      expect(said).toEqual([line]);
    },
  );
});
