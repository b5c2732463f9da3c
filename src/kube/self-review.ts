// Asks the API server what our own account may do; everybody may ask that of himself.
//
// https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
import { abortable } from '../base/abortable.ts';
import type { KubeClient } from './http/client.ts';
import { askForRight, type Right, type RightAnswer } from './review-request.ts';

export interface SelfReviews {
  /** Rejects only when the signal aborts, and then with its reason. */
  mayDo(right: Right, signal: AbortSignal): Promise<RightAnswer>;
}

export function createSelfReviewer(client: KubeClient): SelfReviews {
  return {
    mayDo: async (right, signal) =>
      await abortable(askForRight(client, 'SelfSubjectAccessReview', {}, right), signal),
  };
}
