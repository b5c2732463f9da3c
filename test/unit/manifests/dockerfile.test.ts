// The Dockerfile builds for any platform on any platform, from a base that a digest pins, and its image has no root user.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Stage {
  /** What follows FROM, with a name if it has one. */
  readonly from: string;
  readonly instructions: readonly string[];
}

const text = readFileSync('Dockerfile', 'utf8')
  .replaceAll(/^#.*\n/gmu, '')
  .replaceAll('\\\n', '');
const [head = '', ...parts] = text.split(/^FROM /mu);
const stages = parts.map((part): Stage => {
  const [from = '', ...instructions] = part.trim().split('\n');
  return { from, instructions };
});
const last = stages.at(-1);

test('every base of the Dockerfile is the argument NODE_IMAGE, which a digest pins, or empty', () => {
  expect(head.trim()).toMatch(/^ARG NODE_IMAGE=\S+:\d+\.\d+\.\d+-[a-z]+-slim@sha256:[0-9a-f]{64}$/u);
  expect(stages.map(({ from }) => from)).toEqual([
    '--platform=$BUILDPLATFORM ${NODE_IMAGE} AS build',
    '${NODE_IMAGE} AS node',
    'build AS root',
    'scratch',
  ]);
});

test('no program of the target platform runs during the build', () => {
  // https://docs.docker.com/build/building/multi-platform/#cross-compilation
  expect(stages.find(({ from }) => from.endsWith('AS node'))?.instructions).toEqual([]);
  expect(last?.instructions.filter((line) => /^(?:RUN|ADD)\b/u.test(line))).toEqual([]);
});

test('the image runs reeve run as a numeric user that is not root', () => {
  expect(last?.instructions).toContain('USER 65532:65532');
  expect(last?.instructions).toContain('CMD ["run"]');
  expect(stages[0]?.instructions).toContain('COPY manifests ./manifests');
});
