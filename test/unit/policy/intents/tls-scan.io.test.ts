// The script of a scan finds the Services of its namespace without asking the API server. A stand-in takes the scanner's place.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../../../support/run-program.ts';
import { rendered } from '../../../support/intent-cases.ts';

/** As the kubelet sets them: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables */
const variables = {
  WEB_SHOP_SERVICE_HOST: '10.0.0.11',
  WEB_SHOP_SERVICE_PORT: '443',
  WEB_SHOP_SERVICE_PORT_HTTPS: '443',
  WEB_SHOP_PORT: 'tcp://10.0.0.11:443',
  WEB_SHOP_PORT_443_TCP: 'tcp://10.0.0.11:443',
  WEB_SHOP_PORT_443_TCP_PROTO: 'tcp',
  WEB_SHOP_PORT_443_TCP_PORT: '443',
  WEB_SHOP_PORT_443_TCP_ADDR: '10.0.0.11',
  WEB_SHOP_PORT_8443_TCP: 'tcp://10.0.0.11:8443',
  SIX_PORT_443_TCP: 'tcp://[fd00::11]:443',
  NAMES_PORT_53_UDP: 'udp://10.0.0.12:53',
  KUBERNETES_PORT_443_TCP: 'tcp://10.0.0.1:443',
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-tls-scan-'));
  const scanner = join(folder, 'scanner', 'tlsscan');
  await Promise.all(['scanner', 'tmp', 'config'].map((name) => mkdir(join(folder, name))));
  await writeFile(
    scanner,
    '#!/bin/sh\n[ "$1" = --infile ] && cat "$2" && ls config && echo report > report.json\n',
  );
  await chmod(scanner, 0o755);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function scan(): Promise<readonly string[]> {
  const { 'tls-scan': rendering } = rendered('assessTLS', { title: '' });
  const found = /"command":(\["\/bin\/sh",.*?\]),"env"/.exec(JSON.stringify(rendering))?.[1] ?? '[]';
  const [program = '', ...args] = JSON.parse(
    found
      .replaceAll('/etc/tls-scan', join(folder, 'config'))
      .replaceAll('/home/k8tls', join(folder, 'scanner'))
      .replaceAll('cd /tmp', `cd ${join(folder, 'tmp')}`),
  ) as readonly string[];
  const { stdout, stderr, code } = await runProgram(program, args, {
    env: { PATH: process.env['PATH'], ...variables },
  });
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  return stdout.trim().split('\n');
}

const services = ['10.0.0.11:443 web_shop', '10.0.0.11:8443 web_shop', '[fd00::11]:443 six'];

test('a scan asks the TCP ports of the Services in its namespace, and not the API server', async () => {
  expect(await scan()).toEqual([...services, 'fips-140-3.json', 'report']);
});

test('a scan also asks the addresses of its ConfigMap', async () => {
  await writeFile(join(folder, 'config', 'addresses'), 'shop.example.com:443 shop.example.com:443\n');
  expect(await scan()).toEqual([
    ...services,
    'shop.example.com:443 shop.example.com:443',
    'fips-140-3.json',
    'report',
  ]);
});
