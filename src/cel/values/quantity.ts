// Reads and computes quantities of Kubernetes, exact to a billionth.
// https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go
import { Boxed, MAX_INT, MIN_INT } from './value.ts';

const NANO = 9;

export class Quantity extends Boxed {
  static readonly ZERO = new Quantity(0n, 0);

  readonly kind = 'kubernetes.Quantity';
  /** In billionths. */
  readonly nanos: bigint;
  /** The power of ten in which it is stored; undefined when it needs more than 64 bits or was rounded. */
  readonly scale: number | undefined;
  /** Kubernetes cannot compare a sum: `quantity('2') == quantity('1').add(1)` is an error. */
  readonly isSum: boolean;

  constructor(nanos: bigint, scale: number | undefined, isSum = false) {
    super();
    this.nanos = nanos;
    this.scale = scale;
    this.isSum = isSum;
  }

  static ofInteger(value: bigint): Quantity {
    return new Quantity(value * 10n ** BigInt(NANO), 0);
  }

  equals(other: this): boolean {
    return this.nanos === other.nanos;
  }

  compare(other: Quantity): number {
    if (this.nanos === other.nanos) return 0;
    return this.nanos < other.nanos ? -1 : 1;
  }

  negated(): Quantity {
    return new Quantity(-this.nanos, this.scale);
  }

  /** Returns the number in units of its scale; undefined when that needs more than 64 bits. */
  get scaled(): bigint | undefined {
    return this.scale === undefined ? undefined : scaledTo(this.nanos, this.scale);
  }

  /** Returns undefined when Kubernetes does not store it as a whole number: `1000m` is not one. */
  toInteger(): bigint | undefined {
    if (this.scale === undefined || this.scale < 0) return undefined;
    return scaledTo(this.nanos, 0);
  }

  toNumber(): number {
    const { scaled, scale } = this;
    const unit = 10n ** BigInt(NANO);
    if (scaled === undefined || scale === undefined)
      return this.nanos % unit === 0n ? Number(this.nanos / unit) : Number(this.nanos) / Number(unit);
    return scale === 0 ? Number(scaled) : Number(scaled) * 10 ** scale;
  }
}

function scaledTo(nanos: bigint, scale: number): bigint | undefined {
  const value = nanos / 10n ** BigInt(NANO + scale);
  return value <= MAX_INT && value >= MIN_INT ? value : undefined;
}

export function sumOf(a: Quantity, b: Quantity): Quantity {
  const nanos = a.nanos + b.nanos;
  if (b.nanos === 0n) return new Quantity(nanos, a.scale, true);
  if (a.nanos === 0n) return new Quantity(nanos, b.scale, true);
  const scale = a.scale === undefined || b.scale === undefined ? undefined : Math.min(a.scale, b.scale);
  const isHeld =
    scale !== undefined && [a.nanos, b.nanos, nanos].every((each) => scaledTo(each, scale) !== undefined);
  return new Quantity(nanos, isHeld ? scale : undefined, true);
}

const SUFFIXES: ReadonlyMap<string, readonly [base: 2 | 10, exponent: number]> = new Map([
  ['n', [10, -9]],
  ['u', [10, -6]],
  ['m', [10, -3]],
  ['', [10, 0]],
  ['k', [10, 3]],
  ['M', [10, 6]],
  ['G', [10, 9]],
  ['T', [10, 12]],
  ['P', [10, 15]],
  ['E', [10, 18]],
  ['Ki', [2, 10]],
  ['Mi', [2, 20]],
  ['Gi', [2, 30]],
  ['Ti', [2, 40]],
  ['Pi', [2, 50]],
  ['Ei', [2, 60]],
]);
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]+[+-]?\d*)?$/;
/** Far larger than any resource. Larger exponents would only cost memory. */
const MAX_EXPONENT = 1000;
const MAX_TEXT = 1000;
const MAX_DIGITS = 18;

export function parseQuantity(text: string): Quantity | undefined {
  const parts = text.length > MAX_TEXT ? null : QUANTITY.exec(text);
  if (text === '' || parts === null) return undefined;
  const [, sign, zeros = '', fraction = '', suffix = ''] = parts;
  const whole = zeros.replace(/^0+/, '');
  const unit = parseSuffix(suffix);
  if (unit === undefined) return undefined;
  const quantity = fromParts(whole === '' ? '0' : whole, fraction, unit);
  return sign === '-' ? quantity.negated() : quantity;
}

function parseSuffix(suffix: string): readonly [base: 2 | 10, exponent: number] | undefined {
  const known = SUFFIXES.get(suffix);
  if (known !== undefined) return known;
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix);
  const power = Number(exponent?.[1] ?? Number.NaN);
  return Math.abs(power) <= MAX_EXPONENT ? [10, power] : undefined;
}

function fromParts(whole: string, fraction: string, [base, exponent]: readonly [2 | 10, number]): Quantity {
  const digits = BigInt(whole + fraction);
  const size = base === 2 ? 2n ** BigInt(exponent) : 1n;
  const power = (base === 10 ? exponent : 0) - fraction.length;
  const nanos = roundUp(digits * size, power + NANO);
  const capped = base === 2 && nanos > MAX_INT * 10n ** BigInt(NANO) ? MAX_INT * 10n ** BigInt(NANO) : nanos;
  const isHeld = isShort(whole, fraction, base, exponent) && power >= -NANO && digits * size <= MAX_INT;
  return new Quantity(capped, isHeld ? power : undefined);
}

/** Returns true when Kubernetes stores it in 64 bits, judged by the number of digits. */
function isShort(whole: string, fraction: string, base: 2 | 10, exponent: number): boolean {
  if (base === 10) return whole.length + fraction.length <= MAX_DIGITS;
  return fraction === '' && whole.length + Math.trunc((exponent * 3) / 10) + 1 <= 15;
}

/** Computes digits x 10^power and rounds away from zero, so that a small request is never zero. */
function roundUp(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}
