// Every link from one file of the project to another leads somewhere.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const pages = globSync('{*.md,docs/**/*.md,manifests/**/*.md,test/**/*.md,certs/*.md}');
const links = pages.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(
    ([, target = '']) => ({ page, target }),
  ),
);

test.for(links)('$page links to $target', ({ page, target }) => {
  expect(existsSync(join(dirname(page), target))).toBe(true);
});
