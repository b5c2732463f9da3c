// Orders the files of a test run so that the longest begin first: the last worker must not have minutes left when the others end.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files of each project that take longest, in this order. vitest knows it only on a machine that has run them before:
 * elsewhere it begins with the files that have the most bytes.
 */
const longest: readonly string[] = [
  'chart',
  'deleted-definitions',
  'report',
  'fuse',
  'faults',
  'etcd-restore',
  'recipes',
  'uninstall',
  'chart-releases',
  'intents-lifecycle',
  'leader-burst',
  'check-faults',
  'service-accounts',
  'guard',
  'alerts',
  'admission-namespaces',
  'command-line-page',
  'authors',
  'install',
  'adoption',
  'kubectl',
  'faults-answers',
  'certificates',
  'up',
].map((name) => `/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => (isOfOneGroup(a, b) ? placeOf(a) - placeOf(b) : 0));
  }
}

function isOfOneGroup(a: TestSpecification, b: TestSpecification): boolean {
  return a.project.name === b.project.name;
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((end) => moduleId.endsWith(end));
  return place < 0 ? longest.length : place;
}
