// The names of the serving certificate, and which names are refused.
import { describe, expect, test } from 'vitest';
import { servingNames } from '../../../../src/certs/issue/names.ts';

describe('servingNames', () => {
  test('the default names are those of the Service and of this machine', () => {
    expect(servingNames('reeve-system', [])).toEqual({
      dns: [
        'reeve-webhook',
        'reeve-webhook.reeve-system',
        'reeve-webhook.reeve-system.svc',
        'reeve-webhook.reeve-system.svc.cluster.local',
        'localhost',
      ],
      ips: ['127.0.0.1', '::1'],
    });
  });

  test('more names and addresses are added once, in lower case', () => {
    const names = servingNames('a', ['Reeve.Example.COM', 'localhost', '10.0.0.7', '127.0.0.1', 'fd00::7']);
    expect(names.dns.slice(5)).toEqual(['reeve.example.com']);
    expect(names.ips).toEqual(['127.0.0.1', '::1', '10.0.0.7', 'fd00::7']);
  });

  test.for([
    '',
    '*.example.com',
    'a_b',
    'a..b',
    'a.',
    'é.example.com',
    'a b',
    '10.0.0.7/8',
    `${'a'.repeat(64)}.b`,
    'a\n',
  ])('the name %j is refused', (name) => {
    expect(() => servingNames('a', [name])).toThrow(RangeError);
  });

  test('an invalid namespace is refused', () => {
    expect(() => servingNames('Reeve', [])).toThrow(RangeError);
  });
});
