/** A reason why rows were rejected, their number, and the first of them. */
interface Rejection {
  readonly reason: string;
  readonly count: number;
  readonly firstFile: string;
  /** From 1; the number of the feature in a file without lines. */
  readonly firstLine: number;
  readonly first: string;
}

export interface LoadReport {
  readonly rows: number;
  readonly loaded: number;
  readonly rejected: readonly Rejection[];
  readonly notes: readonly string[];
}

const SHOWN_CHARACTERS = 120;

export class LoadReporter {
  readonly #rejected = new Map<string, { count: number; firstFile: string; firstLine: number; first: string }>();
  readonly #notes = new Set<string>();
  readonly #files: string[] = [];
  #loaded = 0;
  #refused = 0;
  /** Files that are one page of several. */
  pages = 0;

  /** To be called for each file, before its rows. */
  openFile(file: string): void {
    this.#files.push(file);
  }

  get files(): number {
    return this.#files.length;
  }

  load(): void {
    this.#loaded += 1;
  }

  /** Counts a row. @param result its records, or why it has none */
  take<T>(result: readonly T[] | string, line: number, row: unknown): readonly T[] {
    if (typeof result === 'string') {
      this.reject(result, line, row);
      return [];
    }
    this.load();
    return result;
  }

  /** @param file the row's file, if it is not the one that was opened last */
  reject(reason: string, line: number, row: unknown, file: string = this.#files.at(-1) ?? ''): void {
    this.#refused += 1;
    const rejection = this.#rejected.get(reason);
    if (rejection !== undefined) rejection.count += 1;
    else this.#rejected.set(reason, { count: 1, firstFile: file, firstLine: line, first: shown(row) });
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  /** The reasons are in the order of their first rows. */
  read(): LoadReport {
    const rejected = [...this.#rejected].map(([reason, entry]) => ({ reason, ...entry }));
    const fileOf = ({ firstFile }: Rejection) => this.#files.indexOf(firstFile);
    rejected.sort((a, b) => fileOf(a) - fileOf(b) || a.firstLine - b.firstLine);
    return { rows: this.#loaded + this.#refused, loaded: this.#loaded, rejected, notes: [...this.#notes] };
  }
}

function shown(row: unknown): string {
  const text = Array.isArray(row) ? row.join(',') : typeof row === 'string' ? row : JSON.stringify(row);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
