// Writes and reads doubles as Go does.

/** Go writes an exponent from a million on. */
const MAX_PLAIN_POWER = 6;

/** Go's %g: the shortest digits that read back as the same number. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < MAX_PLAIN_POWER) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEXADECIMAL = /^([+-]?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d{1,5})$/;
const MISPLACED_UNDERSCORE = /(?<![0-9a-fA-FxX])_|_(?![0-9a-fA-F])/;
const MAX_TEXT = 1000;

/** Go's strconv.ParseFloat. Returns undefined for a text that is not a number, and for a number that is too large. */
export function parseGoDouble(text: string): number | undefined {
  if (text.length > MAX_TEXT || MISPLACED_UNDERSCORE.test(text)) return undefined;
  const digits = text.replaceAll('_', '');
  if (DECIMAL.test(digits)) return finite(Number(digits));
  const [, sign, whole = '', fraction = '', exponent = ''] = HEXADECIMAL.exec(digits) ?? [];
  if (sign === undefined) return parseSpecial(text);
  const value = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return finite(sign === '-' ? -value : value);
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

function parseSpecial(text: string): number | undefined {
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special === null) return undefined;
  if (special[2] === undefined) return special[1] === '' ? Number.NaN : undefined;
  return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/**
 * Formats a finite number like Go's %.<precision>f. A number halfway between two texts gets the text that ends in an even
 * digit. https://pkg.go.dev/strconv#FormatFloat
 */
export function fixedText(value: number, precision: number): string {
  const bits = new DataView(Float64Array.of(value).buffer).getBigUint64(0, true);
  const power = Number(BigInt.asUintN(11, bits >> 52n));
  const mantissa = BigInt.asUintN(52, bits) + (power === 0 ? 0n : 2n ** 52n);
  // The number is a whole number of 1 / 2^1074.
  const digits = String(
    divided((mantissa << BigInt(Math.max(power - 1, 0))) * 10n ** BigInt(precision), 2n ** 1074n),
  );
  const padded = digits.padStart(precision + 1, '0');
  const whole = padded.slice(0, padded.length - precision);
  const sign = bits >> 63n === 1n ? '-' : '';
  return `${sign}${whole}${precision === 0 ? '' : `.${padded.slice(whole.length)}`}`;
}

/** Rounds a half to an even number. */
function divided(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  return twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

/** The maximum of JavaScript; enough to see whether a number lies exactly between two texts. */
const DIGITS = 100;

/** Go's %e, with six digits after the point. */
export function scientificText(value: number): string {
  const exact = value.toExponential(DIGITS);
  const point = exact.indexOf('.');
  const exponent = exact.indexOf('e');
  const truncated = exact.slice(0, point + 7);
  const isTie = /^50*$/.test(exact.slice(point + 7, exponent));
  return isTie && /[02468]$/.test(truncated) ? truncated + exact.slice(exponent) : value.toExponential(6);
}
