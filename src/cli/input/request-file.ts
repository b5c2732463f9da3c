// Reads an AdmissionReview from a file or from standard input.
import { readFile } from 'node:fs/promises';
import { errorCode } from '../../base/kube-error.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';
import { readObjects } from '../../state/yaml-files.ts';

type ReadRequest = { readonly request: JsonObject } | { readonly problem: string };

/** Returns undefined if the text is not the path of a file. */
export async function readRequest(
  path: string,
  io: { readonly stdin: () => Promise<string> },
): Promise<ReadRequest | undefined> {
  const text = path === '-' ? await io.stdin() : await fileText(path);
  if (text === undefined) return undefined;
  const { objects } = readObjects({ file: path, text });
  const [only, ...more] = objects.map(({ value }) => ownMember(value, 'request'));
  if (isJsonObject(only) && more.length === 0) return { request: only };
  return { problem: `${clipped(path)} is not one AdmissionReview with a request` };
}

async function fileText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    // A target such as namespace/team-a is no file.
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
