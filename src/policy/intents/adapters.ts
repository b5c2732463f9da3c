// Lists the adapters. Status and objects follow this order.
import type { IntentAdapter } from './adapter.ts';
import { networkAdapter } from './adapters/network.ts';
import { podSecurityAdapter } from './adapters/pod-security.ts';
import { workloadAdapter } from './adapters/workload.ts';

export const intentAdapters: readonly IntentAdapter[] = [podSecurityAdapter, networkAdapter, workloadAdapter];
