// Tells log, metrics and whoever looks on what admission answered.
import type { AdmissionObserver, DecisionRecord } from '../admission/ports.ts';
import { traceOf } from '../observe/error-frames.ts';
import type { Log } from '../observe/log.ts';
import type { AdmissionMetrics } from '../observe/admission-metrics.ts';
import type { Witness } from './witness.ts';

export function admissionObserver(log: Log, metrics: AdmissionMetrics, witness: Witness): AdmissionObserver {
  return {
    decided: (record) => {
      metrics.decided(record);
      log.info('decision', decisionFields(record));
      witness.decided(record);
    },
    refusedTransport: (code, reason) => {
      metrics.refusedTransport(code);
      log.debug('request refused', { code, reason });
    },
    failed: (error) => {
      metrics.failed();
      const { error: name, frames } = traceOf(error);
      log.error('internal error', { error: name, frames });
    },
    began: () => metrics.began(),
    ended: () => metrics.ended(),
  };
}

const mostRules = 20;

/** Named one by one: what is not named here can never get into the log. */
function decisionFields(record: DecisionRecord) {
  const broken = [...new Set(record.rules.map(({ policy, rule, action }) => `${action}:${policy}:${rule}`))];
  return {
    uid: record.uid,
    endpoint: record.endpoint,
    resource: record.resource,
    namespace: record.namespace,
    name: record.name,
    operation: record.operation,
    user: record.user,
    decision: record.decision,
    policies: record.policies.slice(0, mostRules),
    ...(broken.length === 0 ? {} : { rules: broken.slice(0, mostRules) }),
    ms: Math.round(record.milliseconds * 1000) / 1000,
  };
}
