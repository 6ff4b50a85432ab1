import { escaped } from '../../src/report/html/html.ts';

interface Cell {
  readonly text: string;
  /** The parameters of the last SGR sequence: `31`, `1`; empty for plain text. */
  readonly style: string;
}

/** Colours of a terminal with a dark background, by SGR parameter. */
const COLORS: Readonly<Record<string, string>> = {
  '31': '#ff8f88',
  '32': '#7ee2a8',
  '33': '#f2cc60',
  '34': '#79c0ff',
  '35': '#d2a8ff',
  '36': '#76e3ea',
  '90': '#9aa4af',
};
const STYLES: Readonly<Record<string, string>> = {
  '1': 'font-weight="700" fill="#ffffff"',
  '2': 'fill="#9aa4af"',
  ...Object.fromEntries(Object.entries(COLORS).map(([code, color]) => [code, `fill="${color}"`])),
};
const WIDTH = 8.4;
const HEIGHT = 19;
const MARGIN = 14;

/** The screen of a terminal: understands what the progress and styleText write, and throws at anything else. */
export class TerminalScreen {
  readonly #lines: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #style = '';

  write(text: string): void {
    for (const [index, part] of text.split('\u001b').entries()) {
      const [sequence = '', number = '', letter = ''] =
        index === 0 ? [] : (/^\[([?\d;]*)([A-Za-z])/.exec(part) ?? []);
      if (index > 0) this.#control(number, letter);
      for (const character of part.slice(sequence.length)) this.#put(character);
    }
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') {
      this.#row += 1;
      this.#column = 0;
      this.#lines[this.#row] ??= [];
    } else {
      const line = this.#lines[this.#row]!;
      while (line.length < this.#column) line.push({ text: ' ', style: '' });
      line[this.#column] = { text: character, style: this.#style };
      this.#column += 1;
    }
  }

  #control(number: string, letter: string): void {
    const count = Number(number || 1);
    if (letter === 'm') this.#style = /^(0|22|39)?$/.test(number) ? '' : number;
    else if (letter === 'A') this.#row = Math.max(0, this.#row - count);
    else if (letter === 'B') this.#row += count;
    else if (letter === 'G') this.#column = count - 1;
    else if (letter === 'K') this.#lines[this.#row] = number === '2' ? [] : this.#left();
    else if (letter === 'J') this.#lines.splice(this.#row, Number.POSITIVE_INFINITY, this.#left());
    // Line wrapping, the cursor and synchronised output do not show.
    else if (!/^\?(7|25|2026)$/.test(number))
      throw new Error(`unknown control sequence: ${number}${letter}`);
  }

  #left(): Cell[] {
    return this.#lines[this.#row]!.slice(0, this.#column);
  }

  get text(): string {
    return this.#lines.map((line) => line.map(({ text }) => text).join('')).join('\n');
  }

  /** An SVG of the last `rows` lines, as a window with so many columns and a title. */
  svg(title: string, rows: number, columns: number): string {
    const lines = this.#lines.at(-1)!.length === 0 ? this.#lines.slice(0, -1) : this.#lines;
    const shown = lines.slice(-rows);
    const bar = 2 * HEIGHT;
    const width = Math.ceil(columns * WIDTH + 2 * MARGIN);
    const height = Math.ceil(shown.length * HEIGHT + bar + MARGIN);
    const texts = shown.map((line, index) =>
      runsOf(line)
        .map(({ text, style, column }) => {
          const x = (MARGIN + column * WIDTH).toFixed(1);
          // The length keeps columns aligned in whichever font the reader has.
          const length = (text.length * WIDTH).toFixed(1);
          return `<text x="${x}" y="${bar + (index + 0.75) * HEIGHT}" textLength="${length}" ${STYLES[style] ?? ''}>${escaped(text)}</text>`;
        })
        .join(''),
    );
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
      `<title>${escaped(title)}</title>`,
      `<rect width="${width}" height="${height}" rx="8" fill="#12181f"/>`,
      `<text x="${width / 2}" y="${HEIGHT * 1.25}" text-anchor="middle" font-family="sans-serif" font-size="13" fill="#9aa4af">${escaped(title)}</text>`,
      '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14" fill="#d7dde4">',
      ...texts.filter((text) => text !== ''),
      '</g>',
      '</svg>',
      '',
    ].join('\n');
  }
}

/** The words of one style in a line that single spaces separate: SVG shows several spaces as one. */
function runsOf(line: readonly Cell[]): { text: string; style: string; column: number }[] {
  const runs: { text: string; style: string; column: number }[] = [];
  for (const [column, { text, style }] of line.entries()) {
    if (text === ' ') continue;
    const last = runs.at(-1);
    const gap = last === undefined ? 0 : column - last.column - last.text.length;
    if (last?.style === style && gap < 2) last.text += ' '.repeat(gap) + text;
    else runs.push({ text, style, column });
  }
  return runs;
}
