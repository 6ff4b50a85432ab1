import { MAX_PRECISION } from '../geo/coordinates.ts';
import type { SqlDialect } from './sql-dialects.ts';

/*
 * The rounding of geo/coordinates.ts without ROUND and without decimals. There a number near a half is rounded to 15 digits
 * first, and halves go up. So x goes up if x - floor(x) is at least 0.5 less half a unit of x's 15th digit. All steps are exact
 * in double precision (IEEE 754): near a half the difference has no rounding error, and no double lies between this limit and
 * the constant that stands for it. test/warehouse/rounding-long.test.ts compares both around every limit.
 */

/** The digits before the point that a scaled coordinate may have: 180 degrees have three. */
const DIGITS_OF_DEGREES = 3;
const DIGITS_KEPT = 15;

/** How far above its floor a number with so many digits before the point begins to go up. */
export function halfWith(digits: number): string {
  // 0.5 - 0.5e-15 and so on: as text, because the difference in doubles would be another double.
  return `4.${'9'.repeat(DIGITS_KEPT - digits - 1)}5e-1`;
}

/** Degrees times the power of ten of the precision: the multiplication that the rounding begins with. */
export function scaledSql(degrees: string, precision: number, dialect: SqlDialect): string {
  return `${degrees} * ${doubleConstant(`1e${precision}`, dialect)}`;
}

/** The integer key of a scaled coordinate: units of 1e-7 degrees. */
export function keySql(scaled: string, precision: number, dialect: SqlDialect): string {
  const limits = Array.from({ length: precision + DIGITS_OF_DEGREES }, (_, digits) => {
    const below = `ABS(${scaled}) < ${doubleConstant(`1e${digits}`, dialect)}`;
    return `      WHEN ${below} THEN ${doubleConstant(halfWith(digits), dialect)}`;
  });
  const last = doubleConstant(halfWith(precision + DIGITS_OF_DEGREES), dialect);
  const goesUp = `CASE WHEN ${scaled} - FLOOR(${scaled}) >= CASE\n${limits.join('\n')}\n      ELSE ${last} END THEN 1 ELSE 0 END`;
  return `CAST(FLOOR(${scaled}) + ${goesUp} AS ${dialect.bigint}) * ${10 ** (MAX_PRECISION - precision)}`;
}

/** A constant with an exponent is a double in most dialects; in PostgreSQL it is a decimal without the cast. */
export function doubleConstant(text: string, { double }: SqlDialect): string {
  return `CAST(${text} AS ${double})`;
}
