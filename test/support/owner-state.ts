// A policy or share of which nothing special is known: it loads, stands, and provides something.
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
};
