import type { Answer } from '../../contract/answer.ts';
import { PerilbookError } from '../../errors.ts';
import type { Session } from '../../sql/postgres-pool.ts';
import { isSharedText, MOST_TEXTS, type StoreTexts } from '../packed-fields.ts';

/** A time is packed as a number, so it needs none of these. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * The texts of a store by number, all of them in memory (at most 4,096 and the slugs). Cells are read and written in batches, so
 * the numbers that a batch needs are read or given before it.
 */
export class TextTable implements StoreTexts {
  readonly #store: string;
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  /** Those of a transaction that is not committed yet: if it is undone, their numbers are given to other texts. */
  #given: string[] = [];

  constructor(store: string) {
    this.#store = store;
  }

  /** Reads the texts that were given since the last call. What a statement has seen of the cells, a later one sees the texts of. */
  async refresh(session: Session): Promise<void> {
    const rows = await session.rows<{ number: number; text: string }>(
      'SELECT number, text FROM texts WHERE number >= $1 ORDER BY number',
      [this.#texts.length],
    );
    for (const { number, text } of rows) {
      this.#texts[number] = text;
      this.#numbers.set(text, number);
    }
  }

  /** Gives numbers to the texts of answers, in the caller's transaction: only one of a process at a time writes texts. */
  async give(session: Session, answers: readonly Answer[]): Promise<void> {
    this.#given = [];
    const slugs = new Set(answers.map(({ topic }) => topic as string));
    const shared = new Set(answers.flatMap(({ fields }) => fields.filter((field) => typeof field === 'string')));
    const missing = () => {
      const room = Math.max(0, MOST_TEXTS - this.#texts.length);
      const newSlugs = [...slugs].filter((slug) => !this.#numbers.has(slug));
      const newTexts = [...shared].filter(
        (text) => !this.#numbers.has(text) && !slugs.has(text) && isSharedText(text) && !TIME.test(text),
      );
      return [...newSlugs, ...newTexts.slice(0, room)];
    };
    if (missing().length === 0) return;
    // A lock of the table itself would ask for more rights than to insert.
    await session.rows("SELECT pg_advisory_xact_lock('texts'::regclass::oid::integer, 1)");
    await this.refresh(session);
    const given = missing();
    if (given.length === 0) return;
    await session.rows(
      'INSERT INTO texts (number, text) SELECT $1 + place - 1, text FROM unnest($2::text[]) WITH ORDINALITY AS new (text, place)',
      [this.#texts.length, given],
    );
    this.#given = given;
  }

  /** The number of a text that is committed, so that readers know it. */
  known(text: string): number {
    return this.#numbers.get(text) ?? -1;
  }

  numberOf(text: string): number {
    const known = this.known(text);
    const place = known >= 0 ? -1 : this.#given.indexOf(text);
    return place < 0 ? known : this.#texts.length + place;
  }

  ensure(text: string): number {
    const number = this.numberOf(text);
    if (number < 0) throw new Error(`No number was given to the text ${text}`);
    return number;
  }

  textOf(number: number): string {
    const text = this.#texts[number];
    if (text !== undefined) return text;
    throw new PerilbookError(
      'STORE_UNUSABLE',
      `The store ${this.#store} is damaged: its text ${number} is missing`,
      'Restore a backup of the database, or name another store with --store: its answers are then bought again.',
      { file: this.#store },
    );
  }
}
