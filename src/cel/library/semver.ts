// Implements semantic versions: https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-semver-library
import { BOOL, INT, STRING, typeOfKind } from '../types/type.ts';
import { evaluationError, Boxed, MAX_UINT, type Value } from '../values/value.ts';
import { compareStrings } from '../values/equality.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

class Semver extends Boxed {
  readonly kind = 'kubernetes.Semver';
  readonly numbers: readonly bigint[];
  readonly preRelease: readonly string[];

  constructor(numbers: readonly bigint[], preRelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.preRelease = preRelease;
  }

  equals(other: this): boolean {
    return this.compare(other) === 0;
  }

  compare(other: Semver): number {
    for (const [index, number] of this.numbers.entries()) {
      const order = compareNumbers(number, other.numbers[index] ?? 0n);
      if (order !== 0) return order;
    }
    return comparePreReleases(this.preRelease, other.preRelease);
  }
}

function compareNumbers(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A release is newer than its pre-releases. In a pre-release, numbers come before words. */
function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Math.sign(Number(a.length === 0) - Number(b.length === 0));
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return a.length < b.length ? -1 : 0;
}

function compareParts(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return compareNumbers(BigInt(a), BigInt(b));
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return Math.sign(compareStrings(a, b));
}

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const MAX_TEXT = 1000;
const SEMVER_TYPE = typeOfKind<Semver>('kubernetes.Semver');
const NOT_A_VERSION = evaluationError('the text is not a semantic version');

function parse(text: string): Semver | undefined {
  const parts = text.length > MAX_TEXT ? null : SEMVER.exec(text);
  if (parts === null) return undefined;
  const numbers = parts.slice(1, 4).map(BigInt);
  const preRelease = parts[4]?.split('.') ?? [];
  const fits = [...numbers, ...preRelease.filter((part) => /^\d+$/.test(part)).map(BigInt)].every(
    (each) => each <= MAX_UINT,
  );
  return fits ? new Semver(numbers, preRelease) : undefined;
}

/** Accepts `v1.2` and `01.02.03` too. */
function parseLoosely(text: string): Semver | undefined {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [
    major,
    ...(minor === undefined ? [] : [minor]),
    ...(rest.length === 0 ? [] : [rest.join('.')]),
  ];
  const trimmed = parts.map((part) => (part.length > 1 ? withoutLeadingZeros(part) : part));
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) return undefined;
  return parse([...trimmed, '0', '0'].slice(0, Math.max(3, parts.length)).join('.'));
}

function withoutLeadingZeros(part: string): string {
  const rest = part.replace(/^0+/, '');
  return /^\d/.test(rest) ? rest : `0${rest}`;
}

function parseAs(text: string, isLoose: boolean): Semver | undefined {
  return isLoose ? parseLoosely(text) : parse(text);
}

function numberOf(version: Semver, index: number): Value {
  return version.numbers[index] ?? 0n;
}

export const semverFunctions: readonly FunctionDefinition[] = [
  defineFunction('semver', [STRING], SEMVER_TYPE, (text) => parse(text) ?? NOT_A_VERSION),
  defineFunction(
    'semver',
    [STRING, BOOL],
    SEMVER_TYPE,
    (text, isLoose) => parseAs(text, isLoose) ?? NOT_A_VERSION,
  ),
  defineFunction('isSemver', [STRING], BOOL, (text) => parse(text) !== undefined),
  defineFunction('isSemver', [STRING, BOOL], BOOL, (text, isLoose) => parseAs(text, isLoose) !== undefined),
  defineMethod('major', [SEMVER_TYPE], INT, (version) => numberOf(version, 0)),
  defineMethod('minor', [SEMVER_TYPE], INT, (version) => numberOf(version, 1)),
  defineMethod('patch', [SEMVER_TYPE], INT, (version) => numberOf(version, 2)),
  defineMethod('isLessThan', [SEMVER_TYPE, SEMVER_TYPE], BOOL, (a, b) => a.compare(b) < 0),
  defineMethod('isGreaterThan', [SEMVER_TYPE, SEMVER_TYPE], BOOL, (a, b) => a.compare(b) > 0),
  defineMethod('compareTo', [SEMVER_TYPE, SEMVER_TYPE], INT, (a, b) => BigInt(a.compare(b))),
];
