/** Texts that databases, spreadsheets and programs write where there is no value. */
const NO_VALUE =
  /^(<?null>?|\(null\)|nan|#?n\/a|-+|np|-9999(\.0+)?|9999(\.0+)?|-99999(\.0+)?|-1\.?7976\d*e\+?308)?$/i;

/** Whether a text means nothing: blank, `<Null>`, NP, N/A, a hyphen, NaN, -9999, 9999. Numbers come as texts, too. */
export function isNoValue(text: string): boolean {
  return NO_VALUE.test(text.trim());
}
