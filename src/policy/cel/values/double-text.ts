// Doubles as text and back, as Go writes and reads them.

/** From a million on Go writes an exponent. */
const MAX_PLAIN_POWER = 6;

/** Go's %g with the shortest digits that give the same number back. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < MAX_PLAIN_POWER) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** undefined when the text is not a number. Hexadecimal and underscores, which Go also reads, are not taken. */
export function parseGoDouble(text: string): number | undefined {
  if (DECIMAL.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special === null) return undefined;
  if (special[2] === undefined) return special[1] === '' ? Number.NaN : undefined;
  return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
