// Stands between Reeve and the API server, and records the requests and which answers hold given texts.
import { Transform } from 'node:stream';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { ApiProxy, frontOf, type Exchange } from '../../support/api-proxy.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** True when only metadata was requested. */
  readonly isMetadataOnly: boolean;
}

export class RecordingProxy extends ApiProxy {
  readonly #requests: SeenRequest[] = [];
  readonly #markers = new Map<string, Set<string>>();

  get requests(): readonly SeenRequest[] {
    return this.#requests;
  }

  /** Records from now on the paths whose answers hold the text. */
  lookFor(text: string): void {
    this.#markers.set(text, new Set());
  }

  pathsWith(text: string): readonly string[] {
    return [...(this.#markers.get(text) ?? [])].sort();
  }

  protected override asked({ method, path, query, accept }: Exchange): Promise<undefined> {
    const isMetadataOnly = /as=PartialObjectMetadata(List)?;/.test(accept);
    this.#requests.push({ method, path, query, isMetadataOnly });
    return Promise.resolve(undefined);
  }

  /** Keeps the end of each chunk, because a text may be split over two chunks. */
  protected override filter({ path }: Exchange): Transform {
    let tail = '';
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const text = tail + chunk.toString('latin1');
        for (const [marker, paths] of this.#markers) if (text.includes(marker)) paths.add(path);
        tail = text.slice(-1024);
        done(undefined, chunk);
      },
    });
  }
}

export async function startRecordingProxy(cluster: ClusterAccess): Promise<RecordingProxy> {
  return new RecordingProxy(await frontOf(cluster));
}
