/**
 * What differs between the dialects of SQL. Only casts, comparisons, FLOOR, ABS, TRIM, TRANSLATE and a regular expression are
 * used: ROUND is not, because the dialects round halves and negative numbers differently.
 */
export interface SqlDialect {
  readonly text: string;
  readonly double: string;
  readonly bigint: string;
  /** How helper columns are added to a table's own ones and left out of the result. `exclude` and `except` take them out of `*`;
   * `lateral` adds them beside the table. */
  readonly helpers: 'exclude' | 'except' | 'lateral';
  /** What ends a helper's subquery. PostgreSQL would put its expressions into those of the next ones, which grow to megabytes of
   * copies; OFFSET keeps it from that. */
  readonly barrier?: string;
  readonly quoteMark: '"' | '`';
  /** A string constant. */
  string(text: string): string;
  /** The number in a text of digits, a point and an exponent. It never fails: a number that is too large is any number beyond all
   * coordinates. */
  number(text: string): string;
  /** Whether a whole text matches. The patterns use only what POSIX, RE2, Java and Joni read alike. */
  matches(text: string, pattern: string): string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** An escape for each character that is not printable ASCII. */
const escaped = (text: string, escapeOf: (hex: string) => string): string =>
  text.replace(/[^\x20-\x7e]/g, (character) => escapeOf(character.charCodeAt(0).toString(16).padStart(4, '0')));

/** As C and Java write it: BigQuery, Snowflake and Spark do not read a doubled quotation mark alike. */
const withBackslashes = (text: string): string =>
  `'${escaped(text.replaceAll('\\', '\\\\').replaceAll("'", "\\'"), (hex) => `\\u${hex}`)}'`;

/** DuckDB has no escape for a code point. */
const withCodePoints = (text: string): string =>
  (text.match(/[\x20-\x7e]+|[^\x20-\x7e]/g) ?? [''])
    .map((part) => (/^[\x20-\x7e]*$/.test(part) ? quoted(part) : `CHR(${part.charCodeAt(0)})`))
    .join(' || ');

const withUnicode = (text: string): string => {
  const constant = quoted(escaped(text.replaceAll('\\', '\\\\'), (hex) => `\\${hex}`));
  return /[^\x20-\x7e]/.test(text) ? `U&${constant}` : quoted(text);
};

const cast = (text: string): string => `CAST(${text} AS DOUBLE)`;

/** Where a cast that cannot be done gives NULL: the text is a number too large or too small for a double. */
const orExtreme =
  (castOf: (text: string) => string) =>
  (text: string): string =>
    `COALESCE(${castOf(text)}, CASE WHEN LOWER(${text}) LIKE '%e-%' THEN 0e0 ELSE 1e300 END)`;

const byFunction = (name: string) => (text: string, pattern: string) => `${name}(${text}, ${pattern})`;

const byOperator = (name: string) => (text: string, pattern: string) => `${text} ${name} ${pattern}`;

/** PostgreSQL refuses a text that is too large or too small for a double. Texts that cannot be either are cast at once; others as
 * exact decimals, up to exponents of four digits and 4,000 characters. */
function postgresNumber(text: string): string {
  const fits = `${text} ~ '^[+-]?[0-9]{0,250}([.][0-9]*)?$' AND ${text} !~ '[.]0{250}'`;
  const decimal = `CAST(${text} AS numeric)`;
  return `CASE
    WHEN ${text} !~ '^[^eE]*[1-9]' THEN 0
    WHEN ${fits} OR (LENGTH(${text}) <= 200 AND ${text} ~ '[eE][+-]?0*[0-9]{1,2}$') THEN CAST(${text} AS double precision)
    WHEN LENGTH(${text}) <= 4000 AND ${text} !~ '[eE][+-]?0*[1-9][0-9]{4}' THEN
      CASE
        WHEN ABS(${decimal}) > 1000 THEN SIGN(${decimal}) * 1000
        WHEN ABS(${decimal}) < 1e-300 THEN SIGN(${decimal}) * CASE WHEN ABS(${decimal}) < 2.5e-324 THEN 0 ELSE 1e-300 END
        ELSE ${decimal}
      END::double precision
    WHEN ${text} ~ '[eE]-' THEN 0
    ELSE 1000
  END`;
}

/** What most dialects have. */
const STANDARD = {
  text: 'VARCHAR',
  double: 'DOUBLE',
  bigint: 'BIGINT',
  helpers: 'lateral',
  quoteMark: '"',
  string: withUnicode,
  number: cast,
  matches: byFunction('REGEXP_LIKE'),
} satisfies SqlDialect;

/** The differences. DuckDB and PostgreSQL are executed in tests, each with one of the two ways to add helper columns. */
const DIALECTS = {
  duckdb: { ...STANDARD, helpers: 'exclude', string: withCodePoints, matches: byFunction('REGEXP_MATCHES') },
  postgres: {
    ...STANDARD,
    text: 'text',
    double: 'double precision',
    bigint: 'bigint',
    barrier: 'OFFSET 0',
    number: postgresNumber,
    matches: byOperator('~'),
  },
  spark: { ...STANDARD, text: 'STRING', quoteMark: '`', string: withBackslashes, matches: byOperator('RLIKE') },
  bigquery: {
    text: 'STRING',
    double: 'FLOAT64',
    bigint: 'INT64',
    helpers: 'except',
    quoteMark: '`',
    string: withBackslashes,
    number: orExtreme((text) => `SAFE_CAST(${text} AS FLOAT64)`),
    matches: byFunction('REGEXP_CONTAINS'),
  },
  snowflake: {
    ...STANDARD,
    helpers: 'exclude',
    string: withBackslashes,
    number: orExtreme((text) => `TRY_TO_DOUBLE(${text})`),
  },
  trino: { ...STANDARD, number: orExtreme((text) => `TRY_CAST(${text} AS DOUBLE)`) },
} satisfies Record<string, SqlDialect>;

export type SqlDialectName = keyof typeof DIALECTS;

export const DIALECT_NAMES = Object.keys(DIALECTS) as readonly SqlDialectName[];

export function dialectNamed(name: SqlDialectName): SqlDialect {
  return DIALECTS[name];
}

/** A column by its name: as it is where every dialect takes it so, because quotes make it case-sensitive in some. */
export function columnName(name: string, { quoteMark }: SqlDialect): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoteMark + name.replaceAll(quoteMark, quoteMark + quoteMark) + quoteMark;
}
