// Checks the gauges of policies, shares and namespaces against numbers that change.
import { expect, test } from 'vitest';
import { measureProviders, type ProviderNumbers } from '../../../src/observe/provider-metrics.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';

const now = new Date('2026-11-22T12:00:00Z');
const apps: ProviderNumbers = {
  kind: 'NamespacePolicy',
  name: 'apps',
  tenant: undefined,
  isReady: false,
  matched: 5,
  desired: 10,
  synced: 6,
  skipped: 1,
  conflicts: 2,
  failed: 1,
  held: 4,
  violations: { namespaces: 3, roles: 0 },
  exceptionsEnd: [now.getTime() - 1000, now.getTime() + 90_000, now.getTime() + 60_000],
  grantsEnd: now.getTime() + 30_000,
};
const labels = 'kind="NamespacePolicy",name="apps"';

async function samples(
  providers: readonly ProviderNumbers[],
  namespaces?: { readonly ready: number; readonly notReady: number },
): Promise<readonly string[]> {
  const registry = new MetricsRegistry();
  measureProviders(registry, {
    providers: () => providers,
    namespaces: () => namespaces,
    now: () => now,
  });
  const lines = (await registry.render()).split('\n');
  return lines.filter((line) => /^reeve_(provider|namespaces)/.test(line));
}

test('each number of a status is a gauge with the kind and the name of the policy or share', async () => {
  expect(await samples([apps], { ready: 4, notReady: 1 })).toEqual([
    `reeve_provider_ready{${labels}} 0`,
    `reeve_provider_matched{${labels}} 5`,
    `reeve_provider_desired{${labels}} 10`,
    `reeve_provider_synced{${labels}} 6`,
    `reeve_provider_skipped{${labels}} 1`,
    `reeve_provider_conflicts{${labels}} 2`,
    `reeve_provider_failed{${labels}} 1`,
    `reeve_provider_held{${labels}} 4`,
    `reeve_provider_violations{${labels},resource="namespaces"} 3`,
    `reeve_provider_violations{${labels},resource="roles"} 0`,
    `reeve_provider_exception_seconds{${labels}} 60`,
    `reeve_provider_grant_seconds{${labels}} 30`,
    'reeve_namespaces{ready="true"} 4',
    'reeve_namespaces{ready="false"} 1',
  ]);
});

test('a provider without exceptions and grants that end has no gauge for them', async () => {
  const lines = await samples([{ ...apps, exceptionsEnd: [now.getTime() - 1], grantsEnd: undefined }]);
  expect(lines.filter((line) => line.includes('_seconds'))).toEqual([]);
});

test('the gauges of a deleted provider, and all gauges of a process that does not lead, are removed', async () => {
  const registry = new MetricsRegistry();
  let providers: readonly ProviderNumbers[] = [apps];
  measureProviders(registry, {
    providers: () => providers,
    namespaces: () => undefined,
    now: () => now,
  });
  expect(await registry.render()).toContain(`reeve_provider_ready{${labels}}`);
  providers = [];
  expect(await registry.render()).not.toMatch(/^reeve_(provider|namespaces)/m);
});

test('all bindings of one namespace have the gauges of one, with their sums', async () => {
  const kind = 'SecurityIntentBinding';
  const bindings = Array.from({ length: 1000 }, (_, index) => ({
    ...apps,
    kind,
    name: `${kind}/${index % 2 === 0 ? 'shop' : 'cart'}/b-${index}`,
    tenant: index % 2 === 0 ? 'shop' : 'cart',
    isReady: index > 1,
    matched: 1,
    desired: 2,
  }));
  const ready = bindings.map((each) => ({
    ...each,
    isReady: true,
    name: each.name.replace('shop', 'ready'),
    tenant: each.tenant.replace('shop', 'ready'),
  }));
  const lines = await samples([apps, ...bindings, ...ready]);
  expect(lines).toHaveLength(4 * 12);
  expect(lines).toContain(`reeve_provider_ready{kind="${kind}",name="${kind}/shop/*"} 0`);
  expect(lines).toContain(`reeve_provider_ready{kind="${kind}",name="${kind}/ready/*"} 1`);
  expect(lines).toContain(`reeve_provider_matched{kind="${kind}",name="${kind}/shop/*"} 1`);
  expect(lines).toContain(`reeve_provider_desired{kind="${kind}",name="${kind}/shop/*"} 1000`);
  expect(lines).toContain(
    `reeve_provider_violations{kind="${kind}",name="${kind}/ready/*",resource="namespaces"} 1500`,
  );
});
