// The state of an ordinary policy or share: it loads, is not being deleted, and provides objects.
import { noDeletions } from '../../src/policy/terms/deletion-record.ts';
import type { ProviderState } from '../../src/policy/terms/provider-id.ts';

export const defaultProviderState: ProviderState = {
  id: 'NamespacePolicy/p',
  uid: 'u',
  generation: 1,
  resourceVersion: '1',
  isValid: true,
  isDeleting: false,
  hasFinalizer: true,
  provides: true,
  isSuspended: false,
  deletionPolicy: 'Delete',
  maxDeletions: 20,
  confirmation: undefined,
  confirmationUsed: undefined,
  deletions: noDeletions,
};
