/** A reason why rows were rejected: how many, and the first. */
interface Rejection {
  readonly reason: string;
  readonly count: number;
  readonly firstFile: string;
  /** From 1; the number of the feature in a file without lines. */
  readonly firstLine: number;
  /** The beginning of the first row. */
  readonly first: string;
}

/** What became of the rows: each is loaded or rejected. */
export interface LoadReport {
  readonly rows: number;
  readonly loaded: number;
  readonly rejected: readonly Rejection[];
  /** What else to know about the load. */
  readonly notes: readonly string[];
}

/** Collects the report during a load. */
export interface LoadReporter {
  /** To be called for each file, before its rows. */
  openFile(file: string): void;
  load(): void;
  reject(reason: string, line: number, row: unknown): void;
  note(text: string): void;
  /** To be called for a file that is one page of several. */
  holdsMore(): void;
  /** The number of such files. */
  pagesBeforeOthers(): number;
  read(): LoadReport;
}

const SHOWN_CHARACTERS = 120;

/** Starts an empty report. */
export function createReporter(): LoadReporter {
  const rejected = new Map<string, { count: number; firstFile: string; firstLine: number; first: string }>();
  const notes = new Set<string>();
  let loaded = 0;
  let refused = 0;
  let pages = 0;
  let current = '';
  return {
    openFile(file) {
      current = file;
    },
    load() {
      loaded += 1;
    },
    reject(reason, line, row) {
      refused += 1;
      const known = rejected.get(reason);
      if (known !== undefined) known.count += 1;
      else rejected.set(reason, { count: 1, firstFile: current, firstLine: line, first: shown(row) });
    },
    note(text) {
      notes.add(text);
    },
    holdsMore() {
      pages += 1;
    },
    pagesBeforeOthers: () => pages,
    read: () => ({
      rows: loaded + refused,
      loaded,
      rejected: [...rejected].map(([reason, entry]) => ({ reason, ...entry })),
      notes: [...notes],
    }),
  };
}

function shown(row: unknown): string {
  const text = Array.isArray(row) ? row.join(',') : typeof row === 'string' ? row : JSON.stringify(row);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
