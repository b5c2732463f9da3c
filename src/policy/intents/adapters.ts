// Lists the adapters. Status and objects follow this order.
import type { IntentAdapter } from './adapter.ts';
import { kubeArmorAdapter } from './adapters/kubearmor.ts';
import { kyvernoAdapter } from './adapters/kyverno.ts';
import { networkAdapter } from './adapters/network.ts';
import { podSecurityAdapter } from './adapters/pod-security.ts';
import { tlsScanAdapter } from './adapters/tls-scan.ts';
import { workloadAdapter } from './adapters/workload.ts';

export const intentAdapters: readonly IntentAdapter[] = [
  podSecurityAdapter,
  networkAdapter,
  workloadAdapter,
  kyvernoAdapter,
  kubeArmorAdapter,
  tlsScanAdapter,
];
