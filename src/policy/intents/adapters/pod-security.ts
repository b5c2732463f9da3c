// Keeps `escapeToHost` for whole namespaces, with the labels of Pod Security.
import { defaultParams } from '../../../api/intents/intent-ids.ts';
import type { IntentAdapter } from '../adapter.ts';

/** https://kubernetes.io/docs/concepts/security/pod-security-admission/#pod-security-admission-labels-for-namespaces */
const labelPrefix = 'pod-security.kubernetes.io/';

/** A stricter level keeps a lenient one. */
const acceptedLevels = { baseline: ['baseline', 'restricted'], restricted: ['restricted'] };

/** The labels of versions are left to the namespaces: without them the newest version of the API server counts. */
const modes = { Block: ['enforce'], Audit: ['audit', 'warn'], Warn: ['audit', 'warn'] };

export const podSecurityAdapter: IntentAdapter = {
  id: 'pod-security',
  needs: [],
  provides: [],
  supports({ id }, workloads) {
    if (id !== 'escapeToHost') return false;
    return workloads === undefined || 'the labels of Pod Security hold for all Pods of a namespace';
  },
  render({ action, params }) {
    const level = params?.psaLevel ?? defaultParams.psaLevel;
    const labels = modes[action].map((mode) => `${labelPrefix}${mode}`);
    return {
      namespaces: {
        defaults: { labels: Object.fromEntries(labels.map((label) => [label, level])) },
        required: {
          labels: Object.fromEntries(labels.map((label) => [label, { values: acceptedLevels[level] }])),
        },
      },
    };
  },
};
