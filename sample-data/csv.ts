/** One line of CSV, fields quoted where they need it (RFC 4180), without the line end. */
export function csvLine(fields: readonly (string | number)[]): string {
  return fields.map((field) => csvField(String(field))).join(',');
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
