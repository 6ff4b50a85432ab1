import type { Answer } from '../../contract/answer.ts';
import { damagedText } from '../../formats/packed/damaged-store.ts';
import {
  FieldPacker,
  isSharedText,
  MOST_TEXTS,
  type Texts,
} from '../../formats/packed/packed-fields.ts';
import { SPARE_BYTES } from '../../formats/packed/place-table.ts';
import {
  read,
  type SqlDatabase,
  type SqlStatement,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';
import { type Checked, checksumOf, packAnswers } from './packed-answers.ts';

/** In place of a text whose checksum differs: no answer has such a text. */
const DAMAGED = '\0';

interface NumberedText extends Checked {
  readonly number: number;
  readonly text: string;
}

/** The texts of a store by number, all in memory (at most 4,096 and the slugs). Cells are read and written in batches, so the numbers of a
 * batch are read or assigned before it. Only committed texts are kept here: after a rollback, other texts get the same numbers. */
export class TextTable implements Texts {
  /** The file or the address of the store, for messages. */
  readonly store: string;
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];

  constructor(store: string) {
    this.store = store;
  }

  /** Reads the texts numbered since the last call. Sent after the statement that reads cells, it finds all their texts. */
  newer(): SqlStatement<NumberedText> {
    return statement(
      'SELECT number, text, checksum FROM texts WHERE number >= $1 ORDER BY number',
      [this.#texts.length],
    );
  }

  /** Keeps the rows of `newer`. */
  take(rows: readonly NumberedText[]): void {
    for (const { number, text, checksum } of rows) {
      // A damaged text keeps its number and is not read: `textOf` reports the answers that have it.
      const isIntact = checksum === null || checksum === checksumOf([number], text);
      this.#texts[number] = isIntact ? text : DAMAGED;
      if (isIntact) this.#numbers.set(text, number);
    }
  }

  /** All texts by number; null for a damaged one. */
  all(): (string | null)[] {
    return Array.from(this.#texts, (text) =>
      text === undefined || text === DAMAGED ? null : text,
    );
  }

  numberOf(text: string): number {
    return this.#numbers.get(text) ?? -1;
  }

  textOf(number: number): string {
    const text = this.#texts[number];
    if (text !== undefined && text !== DAMAGED) return text;
    throw damagedText(number, this.store);
  }

  /** Packs the answers of cells, in the caller's transaction, and numbers their new texts. */
  *pack(
    database: SqlDatabase,
    answers: readonly (readonly Answer[])[],
  ): SqlWork<readonly Buffer[]> {
    const missing = new Set<string>();
    this.#packedBy(answers, (text) => numberOrNote(this, text, missing));
    const slugs = new Set(
      answers.flatMap((cellAnswers) => cellAnswers.map(({ topic }): string => topic)),
    );
    const given = yield* this.#give(database, missing, slugs);
    return this.#packedBy(answers, (text) => given.get(text) ?? this.numberOf(text));
  }

  /** Makes what packs the answers of cells outside a transaction, one after the other. */
  newPacker(): NumberedPacker {
    return new NumberedPacker(this);
  }

  #packedBy(
    answers: readonly (readonly Answer[])[],
    numberOf: Texts['numberOf'],
  ): readonly Buffer[] {
    const packer = new FieldPacker({ numberOf, textOf: (number) => this.textOf(number) });
    return answers.map((cellAnswers) => {
      const end = packAnswers(cellAnswers, packer, numberOf, 0);
      return Buffer.from(packer.bytes.subarray(0, end));
    });
  }

  /** Numbers texts; slugs even if there are too many texts. */
  *#give(
    database: SqlDatabase,
    missing: Iterable<string>,
    slugs: ReadonlySet<string>,
  ): SqlWork<Map<string, number>> {
    const { dialect } = database;
    yield* write(...dialect.lockInserts('texts'));
    const [newer] = yield* read(this.newer());
    this.take(newer);
    const first = this.#texts.length;
    const texts = [...missing].filter((text) => this.numberOf(text) < 0);
    const room = Math.max(0, MOST_TEXTS - first);
    const given = [
      ...texts.filter((text) => slugs.has(text)),
      ...texts.filter((text) => !slugs.has(text)).slice(0, room),
    ];
    const rows = given.map((text, index) => {
      const number = first + index;
      return { number, text, checksum: checksumOf([number], text) };
    });
    const columns = { number: 'integer', text: 'text', checksum: 'integer' } as const;
    const insert = (table: string) =>
      `INSERT INTO texts (number, text, checksum) SELECT number, text, checksum FROM ${table}`;
    yield* write(...dialect.eachRow(rows, 'new', columns, insert));
    return new Map(rows.map(({ number, text }) => [text, number]));
  }
}

/** The number of a text; -1 without one, and then noted if it may have one. */
function numberOrNote(
  texts: Pick<TextTable, 'numberOf'>,
  text: string,
  missing: Set<string>,
): number {
  const number = texts.numberOf(text);
  if (number < 0 && isSharedText(text)) missing.add(text);
  return number;
}

const SPARE = new Uint8Array(SPARE_BYTES);

/** Packs answers whose texts all have numbers, those of each cell after those of the one before. */
export class NumberedPacker {
  readonly #missing = new Set<string>();
  readonly #numberOf: Texts['numberOf'];
  readonly #packer: FieldPacker;
  /** What many cells share, packed. */
  readonly #shared = new WeakMap<readonly Answer[], Uint8Array>();

  constructor(texts: TextTable) {
    this.#numberOf = (text) => numberOrNote(texts, text, this.#missing);
    this.#packer = new FieldPacker({
      numberOf: this.#numberOf,
      textOf: (number) => texts.textOf(number),
    });
  }

  get bytes(): Buffer {
    return this.#packer.bytes;
  }

  /** The bytes up to an end, and `SPARE_BYTES` more. */
  withSpare(end: number): Buffer {
    this.#packer.appendPacked(SPARE, end);
    return this.#packer.bytes.subarray(0, end + SPARE_BYTES);
  }

  /** @param shared answers that are one object for many cells
   * @param start where those of the cell before end
   * @returns where those of this cell end; null where a text has no number yet, which is rare */
  pack(answers: readonly Answer[], shared: readonly Answer[], start: number): number | null {
    this.#missing.clear();
    const at = this.#packShared(shared, start);
    const end = packAnswers(answers, this.#packer, this.#numberOf, at);
    return this.#missing.size === 0 ? end : null;
  }

  #packShared(shared: readonly Answer[], start: number): number {
    if (shared.length === 0) return start;
    const packed = this.#shared.get(shared);
    if (packed !== undefined) return this.#packer.appendPacked(packed, start);
    const end = packAnswers(shared, this.#packer, this.#numberOf, start);
    // A number that a text gets later is not in these bytes.
    if (this.#missing.size === 0)
      this.#shared.set(shared, Uint8Array.from(this.bytes.subarray(start, end)));
    return end;
  }
}
