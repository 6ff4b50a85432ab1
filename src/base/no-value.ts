/** What programs write where there is no value: \N of databases, NULL, NaN, #N/A of Excel. */
const NOTHING =
  /^(?:\\N|null|none|nan|n\/?a|#n\/a|<na>|nil|undefined|unknown|missing|[-–—]+|\?|\.)?$/i;

/** Whether a text of a field says that there is no value. */
export function isNothing(text: string): boolean {
  return text === '' || NOTHING.test(text);
}
