/** A Markdown table that is also readable as text: the first column to the left, all others to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [head, ...rows].map((cells) => cells.map(cellText));
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, column) => (column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]!))).join(' | ')} |`;
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(lines[0]!), line(rule), ...lines.slice(1).map(line)].join('\n');
}

/** A share in percent, rounded down: a target that was just missed must not look reached. */
export function percent(share: number): string {
  return `${(Math.floor(share * 10_000 + 1e-6) / 100).toFixed(2)} %`;
}

function cellText(value: string | number): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : value;
}
