// Runbooks begin with `reeve check`, name both Deployments, and end an outage with `reeve report`.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const pages = globSync('docs/runbooks/Reeve*.md').toSorted();

test.each(pages)('%s begins its look with reeve check, or the mending comes first', (page) => {
  const text = readFileSync(page, 'utf8');
  const look = /## Look\n\n(.*)/.exec(text)?.[1] ?? '';
  const isMendFirst = text.indexOf('## Mend') < text.indexOf('## Look');
  expect(look.startsWith('Begin with `reeve check`') || isMendFirst).toBe(true);
});

test.each(
  pages.filter((page) => /deployment\/reeve-(?:webhook|reconciler)/.test(readFileSync(page, 'utf8'))),
)('%s names the Deployment of an install with one Pod', (page) =>
  expect(readFileSync(page, 'utf8')).toMatch(/With `ha\.enabled=false`[^\n]*`deployment\/reeve`/),
);

test.each(['ReeveNoWebhook', 'ReeveWebhookCallsFail', 'ReeveWebhookConfigurationRepaired'])(
  '%s says that reeve report lists what passed unjudged',
  (name) =>
    expect(readFileSync(`docs/runbooks/${name}.md`, 'utf8')).toMatch(
      'Afterwards, `reeve report` lists what passed unjudged',
    ),
);
