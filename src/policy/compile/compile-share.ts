// Turns a share as it is written into one that can be kept, or says everything that is wrong with it.
import type { SecretShare } from '../../api/secret-share/secret-share.ts';
import type { Problem } from '../../base/problem.ts';
import { compileMatch } from './compile-match.ts';
import type { CompiledShare } from './compiled-share.ts';

export type ShareCompilation =
  | { readonly ok: true; readonly compiled: CompiledShare }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function compileShare({ metadata, spec }: SecretShare): ShareCompilation {
  const match = compileMatch(spec.targets);
  if (!match.ok) return match;
  const { name, type, keys, labels, immutable } = spec.target ?? {};
  const { source, suspend } = spec;
  return {
    ok: true,
    compiled: {
      name: metadata.name,
      match: match.value,
      source,
      copy: {
        name: name ?? source.name,
        type: type ?? '',
        keys,
        labels: labels ?? {},
        isImmutable: immutable ?? false,
      },
      isSuspended: suspend,
    },
  };
}
