import { describe, expect, test } from 'vitest';
import {
  auditAnnotations,
  causesOf,
  contactLine,
  refusalMessage,
  violationLine,
  warningLines,
  settle,
} from '../../../../src/policy/decide/settle.ts';
import { nothingToDecide, type Verdict, type Violation } from '../../../../src/policy/terms/review.ts';
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

test('a refusal shows three reasons and the number of the others, details.causes have a hundred', () => {
  const denials = Array.from({ length: 1000 }, (_, i) => violation(String(i)));
  const lines = refusalMessage(verdict({ denials }), review).split('\n');
  expect(lines).toHaveLength(5);
  expect(lines[0]).toBe('Namespace n is refused for 1000 reasons:');
  expect(lines[3]).toMatch(/found 2; accepted: x$/);
  expect(lines[4]).toBe('- and 997 more');
  expect(causesOf(verdict({ denials }))).toHaveLength(100);
});

test('four reasons are three and one more, and three are all', () => {
  const denials = ['1', '2', '3', '4'].map(violation);
  expect(refusalMessage(verdict({ denials }), review)).toMatch(/found 3; accepted: x\n- and 1 more$/);
  expect(refusalMessage(verdict({ denials: denials.slice(1) }), review)).toMatch(/found 4; accepted: x$/);
});

describe('the contact', () => {
  const from = (contact: string, found = '1') => ({ ...violation(found), contact });

  test('the contact ends a refusal, on a line of its own', () => {
    expect(refusalMessage(verdict({ denials: [from('platform@example.com')] }), review)).toBe(
      'Namespace n is refused: policy p, namespaces.required: metadata.labels["a"]: found 1; accepted: x\nContact: platform@example.com',
    );
  });

  test('a contact is named once for several reasons, and contacts of hidden reasons count too', () => {
    const denials = [from('a'), violation('2'), from('a', '3'), violation('4'), from('b', '5')];
    expect(refusalMessage(verdict({ denials }), review)).toMatch(/\n- and 2 more\nContact: a, b$/);
  });

  test('the contact of the fourth policy is left out', () => {
    expect(contactLine(['a', 'b', 'c', 'd'].map((each) => from(each)))).toBe('Contact: a, b, c');
  });

  test('a contact is cut and printable', () => {
    expect(contactLine([from('\u001b[2J\n')])).toBe('Contact: \uFFFD[2J\uFFFD');
    expect(contactLine([from('é'.repeat(300))])).toBe(`Contact: ${'é'.repeat(199)}…`);
  });

  test('a refusal has no contact if no policy has one', () => {
    expect(contactLine([violation('1')])).toBeUndefined();
    expect(refusalMessage(verdict({ denials: [violation('1')] }), review)).not.toContain('Contact');
  });

  test('the contact of a policy that only warns is not named', () => {
    const text = refusalMessage(verdict({ denials: [violation('1')], warnings: [from('a')] }), review);
    expect(text).not.toContain('Contact');
  });
});

test('a message replaces found and accepted in the refusal, and details.causes keep both', () => {
  const denials = [{ ...violation('1'), message: 'labels are kept' }];
  expect(refusalMessage(verdict({ denials }), review)).toBe(
    'Namespace n is refused: policy p, namespaces.required: labels are kept',
  );
  expect(causesOf(verdict({ denials }))[0]?.message).toBe(
    'found 1; accepted: x (policy p, namespaces.required)',
  );
});

test('a review that costs too much says so first, with the policies that cost most', () => {
  const cheap = { isLate: false, units: 2_500_000, dearest: [] };
  expect(refusalMessage(verdict({ overBudget: true }), review, cheap)).toBe(
    'Namespace n is refused: evaluating the policies costs more than the 2,500,000 units of one request',
  );
  const dearest = [
    { policy: 'dear', units: 1_500_000 },
    { policy: 'dearer', units: 900_000.5 },
  ];
  expect(refusalMessage(verdict({ overBudget: true }), review, { ...cheap, dearest })).toBe(
    'Namespace n is refused: evaluating the policies costs more than the 2,500,000 units of one request, ' +
      'most of it for policies dear (1,500,000 units), dearer (900,001 units): ask for cheaper expressions there',
  );
  expect(refusalMessage(verdict({ overBudget: true }), review, { isLate: true })).toBe(
    'Namespace n is refused: the webhook is short of processor time, ' +
      'so the timeout of this request expired before a decision; try again',
  );
  const denials = ['1', '2', '3', '4'].map(violation);
  expect(refusalMessage(verdict({ denials, overBudget: true }), review)).toMatch(/^.*\n- .* costs more/);
});

test('warnings are distinct single lines within the limits of the API', () => {
  const warnings = [
    ...Array.from({ length: 40 }, (_, i) => violation(String(i))),
    violation('0'),
    violation(`\u001b[2J${'é'.repeat(500)}`),
  ];
  const lines = warningLines(verdict({ warnings }));
  expect(lines).toHaveLength(11);
  expect(lines.at(-1)).toBe('and 31 more warnings');
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
  expect(lines).toHaveLength(11);
  expect(lines[0]).toBe(notices[0]);
  expect(Array.from(lines[1] ?? '')).toHaveLength(256);
  expect(lines.at(-1)).toBe('and 13 more warnings');
});

test('a message names a share as a share, and does not name Reeve itself', () => {
  const share = { ...violation('nothing'), by: 'share' as const };
  const own = { ...violation('nothing'), policy: '', by: 'reeve' as const, rule: 'spec' };
  expect(violationLine(share)).toMatch(/^share p, namespaces.required: metadata/);
  expect(violationLine(own)).toBe('metadata.labels["a"]: found nothing; accepted: x');
  expect(causesOf(verdict({ denials: [share, own] })).map(({ message }) => message)).toEqual([
    'found nothing; accepted: x (share p, namespaces.required)',
    'found nothing; accepted: x (spec)',
  ]);
});

test('audited violations become one annotation, and without violations there is none', () => {
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
