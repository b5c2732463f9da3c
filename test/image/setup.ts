// Before the tests of the image: builds the image, or says in one sentence why there is none.
import type { TestProject } from 'vitest/node';
import { builtImage } from './build-image.ts';
import { installTools, toolsProblem } from './tools.ts';

export interface ProvidedImage {
  /** The path of the OCI archive. */
  readonly archive?: string;
  /** Why there is no archive. */
  readonly reason?: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    image: ProvidedImage;
  }
}

/** With the value `required`, missing packages are installed, and a run without an image fails. Otherwise it says so. */
const variable = 'REEVE_IMAGE_TESTS';

export async function setup(project: TestProject): Promise<void> {
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const isRequired = process.env[variable] === 'required';
  if (isRequired) await installTools(say);
  const reason = toolsProblem();
  if (reason !== undefined && isRequired) throw new Error(`no image: ${reason}`);
  project.provide('image', reason === undefined ? { archive: builtImage({ say }) } : { reason });
}

/** Returns the line about the image for the closing summary. Undefined when nothing was left out. */
export function imageNotice(image: ProvidedImage | undefined): string | undefined {
  if (image?.reason === undefined) return undefined;
  return `NOT TESTED: the image was neither built nor started, because ${image.reason}`;
}
