// What is quoted in a verdict.
import { expect, test } from 'vitest';
import { quoted } from '../../../../src/policy/terms/wording.ts';

test('what is quoted is short and cannot steer a terminal', () => {
  expect(quoted('a\u001b[31m\n\u202Eb')).toBe('"a\uFFFD[31m\uFFFD\uFFFDb"');
  expect(quoted('😀'.repeat(1000))).toBe(`"${'😀'.repeat(79)}…"`);
});
