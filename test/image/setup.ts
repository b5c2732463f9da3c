// Before the tests of the image: builds the image, or says in one sentence why there is none.
import type { TestProject } from 'vitest/node';
import { builtImage } from './build-image.ts';
import { prepareTools } from './tools.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the OCI archive. Undefined where none can be built. */
    imageArchive: string | undefined;
  }
}

/** With the value `required`, a run that cannot build the image fails. */
const variable = 'REEVE_IMAGE_TESTS';

export function setup(project: TestProject): void {
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const problem = prepareTools(say);
  if (problem === undefined) {
    project.provide('imageArchive', builtImage({ say }));
    return;
  }
  if (process.env[variable] === 'required') throw new Error(problem);
  say(`${problem}: the image was not tested`);
  project.provide('imageArchive', undefined);
}
