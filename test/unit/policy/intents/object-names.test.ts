// Object names tell intents, selectors and suffixes apart, and nothing else.
import { describe, expect, test } from 'vitest';
import { intentObjectName } from '../../../../src/policy/intents/object-names.ts';

const nginx = { matchLabels: { app: 'nginx' } };
const long = 'a'.repeat(63);

describe('intentObjectName', () => {
  test('an intent for all Pods of a namespace gives its own name', () => {
    expect(intentObjectName({ name: 'deny-external', workloads: undefined })).toBe('deny-external');
    expect(intentObjectName({ name: long, workloads: undefined })).toBe(long);
  });

  test('a selector adds 8 hexadecimal digits', () => {
    expect(intentObjectName({ name: 'deny-external', workloads: nginx })).toMatch(
      /^deny-external-[0-9a-f]{8}$/,
    );
  });

  test('a suffix stays readable', () => {
    expect(intentObjectName({ name: 'escape', workloads: undefined, suffix: 'chroot' })).toMatch(
      /^escape-chroot-[0-9a-f]{8}$/,
    );
  });

  test('the order of labels does not change the name', () => {
    const [one, other] = [
      { a: '1', b: '2' },
      { b: '2', a: '1' },
    ].map((matchLabels) => intentObjectName({ name: 'x', workloads: { matchLabels } }));
    expect(one).toBe(other);
  });

  test('intents, selectors and suffixes that could be mistaken for each other give different names', () => {
    const hashed = intentObjectName({ name: 'a', workloads: nginx });
    const expression = { key: 'app', operator: 'In', values: ['nginx'] } as const;
    const names = [
      intentObjectName({ name: 'a', workloads: undefined }),
      hashed,
      intentObjectName({ name: hashed, workloads: undefined }),
      intentObjectName({ name: 'a', workloads: { matchLabels: { app: 'httpd' } } }),
      intentObjectName({ name: 'a', workloads: { matchExpressions: [expression] } }),
      intentObjectName({ name: 'a', workloads: undefined, suffix: 'b' }),
      intentObjectName({ name: 'a-b', workloads: undefined }),
      intentObjectName({ name: 'a-b', workloads: nginx }),
      intentObjectName({ name: 'a', workloads: nginx, suffix: 'b' }),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  test('a long name is cut to the maximum, and stays different from a similar one', () => {
    const names = [long, `${long.slice(1)}b`].map((name) =>
      intentObjectName({ name, workloads: undefined, maxLength: 52 }),
    );
    expect(names.map(({ length }) => length)).toEqual([52, 52]);
    expect(names[0]).not.toBe(names[1]);
  });

  test.each(['.', '-'])('a name that is cut after %j stays valid', (sign) => {
    const name = `${'a'.repeat(42)}${sign}${'b'.repeat(20)}`;
    expect(intentObjectName({ name, workloads: undefined, maxLength: 52 })).toMatch(/^a{42}-[0-9a-f]{8}$/);
  });
});
