import { expect, test } from 'vitest';
import {
  auditAnnotations,
  causesOf,
  refusalMessage,
  violationLine,
  warningLines,
} from '../../../../src/policy/terms/message.ts';
import { nothingToDecide, type Verdict, type Violation } from '../../../../src/policy/terms/verdict.ts';
import { settle } from '../../../../src/policy/decide/settle.ts';
import { aNamespace, aReview } from '../../../support/engine.ts';

const review = aReview({ object: aNamespace({ name: 'n' }) });

function violation(found: string): Violation {
  return { policy: 'p', rule: 'namespaces.required', path: 'metadata.labels["a"]', found, accepted: 'x' };
}

function verdict(fields: Partial<Verdict>): Verdict {
  return { ...settle(nothingToDecide, new Map(), review), ...fields };
}

test('one violation is one sentence, several are a list', () => {
  expect(refusalMessage(verdict({ denials: [violation('nothing')] }), review)).toBe(
    'Namespace n is refused: policy p, namespaces.required: metadata.labels["a"]: found nothing; accepted: x',
  );
  expect(
    refusalMessage(verdict({ denials: [violation('1'), violation('2')] }), review).split('\n'),
  ).toHaveLength(3);
});

test('of very many violations a hundred are listed and the rest counted', () => {
  const denials = Array.from({ length: 1000 }, (_, i) => violation(String(i)));
  const message = refusalMessage(verdict({ denials }), review);
  expect(message).toMatch(/^Namespace n is refused for 1000 reasons:/);
  expect(message.split('\n').at(-1)).toBe('- and 900 more');
  expect(causesOf(verdict({ denials }))).toHaveLength(100);
});

test('a review that took too long says so', () => {
  expect(refusalMessage(verdict({ overBudget: true }), review)).toMatch(/took longer/);
});

test('warnings are distinct single lines within the limits of the API', () => {
  const warnings = [
    ...Array.from({ length: 40 }, (_, i) => violation(String(i))),
    violation('0'),
    violation(`\u001b[2J${'é'.repeat(500)}`),
  ];
  const lines = warningLines(verdict({ warnings }));
  expect(lines).toHaveLength(16);
  expect(lines.at(-1)).toBe('and 26 more warnings');
  const [long = ''] = warningLines(verdict({ warnings: [violation(`\u001b[2J\n${'é'.repeat(500)}`)] }));
  expect(Array.from(long)).toHaveLength(256);
  expect(long).not.toMatch(/\p{Cc}/u);
});

test('notices come first, and count among the warnings', () => {
  const notices = [
    'SecretShare/regcred now reaches 1 namespace: a',
    `NamespacePolicy/p now reaches 1 namespace: ${'n'.repeat(300)}`,
    ...Array.from({ length: 20 }, (_, i) => `notice ${i}`),
  ];
  const lines = warningLines(verdict({ notices, warnings: [violation('1')] }));
  expect(lines).toHaveLength(16);
  expect(lines[0]).toBe(notices[0]);
  expect(Array.from(lines[1] ?? '')).toHaveLength(256);
  expect(lines.at(-1)).toBe('and 8 more warnings');
});

test('a share is called one, and Reeve does not name itself', () => {
  const share = { ...violation('nothing'), by: 'share' as const };
  const own = { ...violation('nothing'), policy: '', by: 'reeve' as const, rule: 'spec' };
  expect(violationLine(share)).toMatch(/^share p, namespaces.required: metadata/);
  expect(violationLine(own)).toBe('metadata.labels["a"]: found nothing; accepted: x');
  expect(causesOf(verdict({ denials: [share, own] })).map(({ message }) => message)).toEqual([
    'found nothing; accepted: x (share p, namespaces.required)',
    'found nothing; accepted: x (spec)',
  ]);
});

test('audited violations become one annotation, and none none', () => {
  expect(auditAnnotations(verdict({}))).toEqual({});
  expect(auditAnnotations(verdict({ audits: [violation('1'), violation('2')] }))['violations']).toMatch(
    /found 1.* \| .*found 2/,
  );
});

test('causes say what kind of problem it is', () => {
  const guards = ['steering', 'fuse'].map((rule) => ({ ...violation('x'), rule }));
  expect(
    causesOf(verdict({ denials: [violation('nothing'), violation('1'), ...guards] })).map(
      ({ reason }) => reason,
    ),
  ).toEqual(['FieldValueRequired', 'FieldValueInvalid', 'FieldValueForbidden', 'FieldValueForbidden']);
});
