import { memo } from './memo.ts';

/* Currencies by their codes (ISO 4217) and signs, as Intl knows them. */

let known: ReadonlySet<string> | null = null;

/** All codes, which are asked for once. */
function codes(): ReadonlySet<string> {
  known ??= new Set(Intl.supportedValuesOf('currency'));
  return known;
}

/** Whether a text is the code of a currency: three capitals. */
export function isCurrencyCode(text: string): boolean {
  return text.length === 3 && codes().has(text);
}

/** The sign of a currency where no other is near: `$` of CAD, too. */
const signOf = memo((code: string): string => shownBy(code, 'narrowSymbol'));

/** Its sign beside other currencies: `CA$`. */
const fullSignOf = memo((code: string): string => shownBy(code, 'symbol'));

function shownBy(code: string, currencyDisplay: 'narrowSymbol' | 'symbol'): string {
  const format = { style: 'currency', currency: code, currencyDisplay } as const;
  const parts = new Intl.NumberFormat('en', format).formatToParts(0);
  return parts.find(({ type }) => type === 'currency')!.value;
}

/** Of several currencies with one sign, the one that is meant in the US. */
const USUAL = new Map([
  ['$', 'USD'],
  ['US$', 'USD'],
  ['C$', 'CAD'],
  ['AU$', 'AUD'],
  ['€', 'EUR'],
  ['£', 'GBP'],
  ['¥', 'JPY'],
]);

/** The code of a sign or a code; null where it is of no currency. */
export const currencyOfMark = memo((mark: string): string | null => {
  if (isCurrencyCode(mark)) return mark;
  const own = (signIn: (code: string) => string) =>
    [...codes()].find((code) => signIn(code) === mark);
  return USUAL.get(mark) ?? own(signOf) ?? own(fullSignOf) ?? null;
}, 1_000);

/** Whether a sign or code may stand at an amount in a currency. */
export function isMarkOf(mark: string, code: string): boolean {
  return mark === code || currencyOfMark(mark) === code || signOf(code) === mark;
}
