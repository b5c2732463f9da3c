// Before the tests on real nodes: starts a rig with two nodes, installs Reeve on it, and provides its folder.
import type { TestProject } from 'vitest/node';
import { findGo } from '../../cluster/go-program.ts';
import { installPrograms, nodeProblem } from '../../cluster/node/packages.ts';
import { imageProblem } from '../../cluster/node/reeve-image.ts';
import { installTools } from '../../image/tools.ts';
import { startRig } from '../../cluster/node/rig.ts';
import { installOnRig } from '../../cluster/node/rig-reeve.ts';

export type ProvidedRig =
  { readonly kind: 'running'; readonly folder: string } | { readonly kind: 'none'; readonly reason: string };

declare module 'vitest' {
  interface ProvidedContext {
    rig: ProvidedRig;
  }
}

/** With the value `required`, missing packages are installed, and a run without nodes fails. Otherwise it says so. */
const variable = 'REEVE_NODE_TESTS';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (text: string): void => void process.stderr.write(`${text.trimEnd()}\n`);
  const isRequired = process.env[variable] === 'required';
  const path = process.env['PATH'] ?? '';
  if (isRequired) {
    await installPrograms(path, say);
    await installTools(say);
  }
  const hasGo = (await findGo()) !== undefined;
  const reason = nodeProblem(path) ?? (hasGo ? imageProblem() : 'a node needs Go on the PATH');
  if (reason !== undefined) {
    if (isRequired) throw new Error(`no node: ${reason}`);
    project.provide('rig', { kind: 'none', reason });
    return () => Promise.resolve();
  }
  const rig = await startRig({ nodes: 2 }, say);
  try {
    await installOnRig(rig, say);
  } catch (error) {
    await rig.stop();
    throw error;
  }
  project.provide('rig', { kind: 'running', folder: rig.folder });
  return () => rig.stop();
}

/** Returns the line about nodes for the closing summary. Undefined when nothing was left out. */
export function rigNotice(rig: ProvidedRig | undefined): string | undefined {
  if (rig?.kind !== 'none') return undefined;
  return `NOT TESTED ON NODES: the tests with Reeve in Pods were skipped, because ${rig.reason}`;
}
