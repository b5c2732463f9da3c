// Compiles a share: the namespaces that get a copy, the source Secret, and the form of the copy.
import type { SecretShare } from '../../api/secret-share/secret-share.ts';
import { mapped, type CompileResult } from '../../base/problem.ts';
import { compileMatch, type CompiledMatch } from '../terms/match.ts';
import { providerId, type ProviderId } from '../terms/provider-id.ts';

export interface CompiledShare {
  readonly id: ProviderId;
  readonly name: string;
  readonly contact: string | undefined;
  readonly match: CompiledMatch;
  readonly source: { readonly namespace: string; readonly name: string };
  readonly copy: CopySpec;
  readonly isSuspended: boolean;
}

export interface CopySpec {
  readonly name: string;
  /** Empty: the type of the source. */
  readonly type: string;
  /** Undefined: all keys, under their own names. */
  readonly keys: readonly { readonly from: string; readonly to: string }[] | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly isImmutable: boolean;
}

export function compileShare({ metadata, spec }: SecretShare): CompileResult<CompiledShare> {
  const { name, type, keys, labels, immutable } = spec.target ?? {};
  const { contact, source, suspend } = spec;
  return mapped(compileMatch(spec.targets), (match) => ({
    id: providerId('SecretShare', metadata.name),
    name: metadata.name,
    contact,
    match,
    source,
    copy: {
      name: name ?? source.name,
      type: type ?? '',
      keys,
      labels: labels ?? {},
      isImmutable: immutable ?? false,
    },
    isSuspended: suspend,
  }));
}
