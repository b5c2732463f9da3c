// Checks which errors have a code.
import { expect, test } from 'vitest';
import { errorCode } from '../../../src/base/kube-error.ts';

test.each([
  [Object.assign(new Error('c4n4ry'), { code: 'ENOENT' }), 'ENOENT'],
  [Object.assign(new Error('c4n4ry'), { code: 5 }), undefined],
  [new Error('c4n4ry'), undefined],
  [{ code: 'ENOENT' }, undefined],
  [null, undefined],
])('the code of %j is %s', (error, code) => {
  expect(errorCode(error)).toBe(code);
});
