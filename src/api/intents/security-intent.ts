// The kind SecurityIntent: what must hold.
import type { IntentId } from './intent-ids.ts';

/** Which of them an id has, intent-ids.ts says. */
export interface IntentParams {
  readonly psaLevel?: 'baseline' | 'restricted';
  readonly ranges?: readonly string[];
  readonly runtimeClass?: string;
  readonly schedule?: string;
  readonly externalAddresses?: readonly string[];
  readonly namespace?: string;
  readonly cveList?: readonly string[];
}

export interface SecurityIntentSpec {
  readonly id: IntentId;
  readonly action: 'Block' | 'Audit' | 'Warn';
  readonly severity: 'Low' | 'Medium' | 'High' | 'Critical';
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly params?: IntentParams;
}
