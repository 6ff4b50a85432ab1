import type { SqlDialect } from './sql-dialects.ts';

/*
 * The checks of geo/parse-location.ts in SQL, in the same order. Texts have only spaces for white space (`plainText`), and
 * letters are listed in both cases: so the patterns need no flags and no classes that dialects read differently.
 */

const DEGREE_SIGN = '(°|º|˚|\ufffd|[dD][eE][gG][.]?)';
const NUMBER = '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$';
const DECIMAL_COMMA = '^[+-]?[0-9]{1,3},[0-9]+$';
const DECORATED = `^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*${DEGREE_SIGN}?[ ]*[NSEWnsew]?$`;
const SECONDS = "([0-9]{1,2}([.][0-9]+)?[ ]*([\"”″sS]|'')?)?";
const MINUTES = `([0-9]{1,2}([.][0-9]+)?)[ ]*(['’′mM: -][ ]*${SECONDS})?`;
const SEXAGESIMAL = `^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*(${DEGREE_SIGN}|[dD: -])[ ]*${MINUTES}[ ]*[NSEWnsew]?$`;

/** All white space that String.prototype.trim removes. */
const WHITE_SPACE =
  '\t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

/** The text of a column without spaces around it; '' for NULL. */
export function plainText(column: string, dialect: SqlDialect): string {
  const spaces = dialect.string(' '.repeat(WHITE_SPACE.length));
  const text = `TRANSLATE(CAST(${column} AS ${dialect.text}), ${dialect.string(WHITE_SPACE)}, ${spaces})`;
  return `COALESCE(TRIM(${text}), '')`;
}

/** The number of a text that is one; NULL for any other. */
export function numberOfText(text: string, dialect: SqlDialect): string {
  return `CASE WHEN ${dialect.matches(text, dialect.string(NUMBER))} THEN ${dialect.number(text)} END`;
}

/** The number of a numeric column; NULL for NaN and the infinities. */
export function numberOfColumn(column: string, { double }: SqlDialect): string {
  const value = `CAST(${column} AS ${double})`;
  return `CASE WHEN ABS(${value}) <= CAST(1.7976931348623157e308 AS ${double}) THEN ${value} END`;
}

/** What is wrong with a text that is not a number. */
export function textFinding(text: string, dialect: SqlDialect): string {
  const is = (pattern: string) => dialect.matches(text, dialect.string(pattern));
  return `CASE
        WHEN ${text} = '' THEN 'empty'
        WHEN ${is(DECIMAL_COMMA)} THEN 'decimal_comma'
        WHEN ${is(DECORATED)} AND ${is('^.*[0-9].*$')} AND NOT (${is('^.*[.].*[.].*$')}) THEN 'degree_symbol'
        WHEN ${is(SEXAGESIMAL)} THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END`;
}

/** What is wrong with two numbers; NULL for a place that may be in the US. `swapped` and `sign_lost` say that the changed place
 * may be in the US: the exact check decides. */
export function locationFinding(lat: string, lng: string): string {
  return `WHEN ${lat} = 0 AND ${lng} = 0 THEN 'null_island'
      WHEN ${inBoxes(lat, lng)} THEN NULL
      WHEN ${inBoxes(lng, lat)} THEN 'swapped'
      WHEN ${inBoxes(lat, `-${lng}`)} THEN 'sign_lost'
      WHEN ABS(${lat}) <= 90 AND ABS(${lng}) <= 180 THEN 'outside_us'
      ELSE 'out_of_range'`;
}

/** Boxes (south, north, west, east) that hold every place that `isCovered` accepts, its margins included: what SQL can check. A
 * place in a box may still be abroad or far from any coast, which `perilbook places` checks exactly. */
export const COVERAGE_BOXES: readonly (readonly [south: number, north: number, west: number, east: number])[] = [
  [24, 50, -126, -66], // the 48 states and DC
  [50, 72, -180, -129], // Alaska
  [50, 54, 171, 180], // the Aleutian Islands beyond the 180th meridian
  [18, 29, -179, -154], // Hawaii
  [17, 19, -69, -64], // Puerto Rico, US Virgin Islands
  [12, 21, 144, 147], // Guam, Northern Mariana Islands
  [-15, -10, -172, -167], // American Samoa
];

function inBoxes(lat: string, lng: string): string {
  const boxes = COVERAGE_BOXES.map(
    ([south, north, west, east]) => `(${lat} BETWEEN ${south} AND ${north} AND ${lng} BETWEEN ${west} AND ${east})`,
  );
  return boxes.join('\n        OR ');
}
