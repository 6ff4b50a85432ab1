/** A Markdown table that is also readable as text: the first column to the left, all others to the right. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, ...rows].map((cells) => cells.map(cellText));
  const widths = head.map((_, column) =>
    Math.max(3, ...lines.map((cells) => cells[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, column) => (column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]!))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(lines[0]!), line(rule), ...lines.slice(1).map(line)].join('\n');
}

/** A share in percent, rounded down: a target that was just missed must not look reached. */
export function percent(share: number): string {
  return `${(Math.floor(share * 10_000 + 1e-6) / 100).toFixed(2)} %`;
}

/** A figure that a benchmark measured, with its goal. */
export type Goal = { readonly what: string; readonly measured: number; readonly unit: string } & (
  | { readonly atLeast: number }
  | { readonly atMost: number }
);

/** Compares the figure itself, not its rounded text: a goal that was just missed must not look met. */
export function isMet(goal: Goal): boolean {
  return 'atLeast' in goal ? goal.measured >= goal.atLeast : goal.measured <= goal.atMost;
}

/** All goals of the benchmarks that ran, in one table. */
export function goalTable(goals: readonly (readonly [benchmark: string, goal: Goal])[]): string {
  return table(
    ['benchmark', 'figure', 'measured', 'goal', 'unit', 'result'],
    goals.map(([benchmark, goal]) => {
      const limit =
        'atLeast' in goal ? `at least ${figure(goal.atLeast)}` : `at most ${figure(goal.atMost)}`;
      return [
        benchmark,
        goal.what,
        figure(goal.measured),
        limit,
        goal.unit,
        isMet(goal) ? 'met' : 'falls short',
      ];
    }),
  );
}

/** Two decimals below 10, where ratios and seconds are; one below 100; none above. */
function figure(value: number): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

function cellText(value: string | number): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : value;
}
