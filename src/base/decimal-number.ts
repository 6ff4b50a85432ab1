/* Numbers as texts of a file have them. Patterns for texts that people write try a character again where they fail: for a field of a million
 * blanks they would take minutes. So longer texts are no numbers, and this pattern tries nothing twice. */

/** Most characters of a coordinate, an amount or a sum as people write them. */
export const LONGEST_NUMBER = 256;

/** A decimal number, also with an exponent: `34.05`, `-.5`, `3.405e1`. Hex, digit groups, NaN and Infinity are none. Case does not count. */
export const DECIMAL_NUMBER = '[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?';

const WHOLE_TEXT = new RegExp(`^${DECIMAL_NUMBER}$`, 'i');

/** Whether a text is a decimal number, of any length. */
export function isDecimalNumber(text: string): boolean {
  return WHOLE_TEXT.test(text);
}
