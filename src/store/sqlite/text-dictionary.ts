import type Database from 'better-sqlite3';
import { PerilbookError } from '../../errors.ts';
import { isSharedText, MOST_TEXTS, type StoreTexts } from '../packed-fields.ts';

/** The texts of a store by number, with a cache. */
export interface StoredDictionary extends StoreTexts {
  /** Empties the cache. Call it when a transaction is rolled back: its numbers are given to other texts. */
  forget(): void;
}

/** Numbers are given inside the transaction that writes the cell, so whoever sees the cell sees its texts. */
export function textDictionary(database: Database.Database, file: string): StoredDictionary {
  const find = database.prepare<[string], number>('SELECT number FROM texts WHERE text = ?').pluck();
  const read = database.prepare<[number], string>('SELECT text FROM texts WHERE number = ?').pluck();
  const count = database.prepare<[], number>('SELECT count(*) FROM texts').pluck();
  const insert = database.prepare(
    'INSERT INTO texts (number, text) VALUES ((SELECT coalesce(max(number) + 1, 0) FROM texts), ?) RETURNING number',
  );
  const give = insert.pluck() as Database.Statement<[string], number>;
  let numbers = new Map<string, number>();
  let texts: string[] = [];
  let isFull = false;

  const known = (text: string): number => {
    const seen = numbers.get(text);
    if (seen !== undefined) return seen;
    const number = find.get(text) ?? -1;
    if (number >= 0) numbers.set(text, number);
    return number;
  };
  const ensure = (text: string): number => {
    const number = known(text);
    if (number >= 0) return number;
    const given = give.get(text)!;
    numbers.set(text, given);
    return given;
  };
  return {
    known,
    ensure,
    numberOf(text) {
      if (!isSharedText(text)) return -1;
      const number = known(text);
      if (number >= 0) return number;
      isFull ||= count.get()! >= MOST_TEXTS;
      return isFull ? -1 : ensure(text);
    },
    textOf(number) {
      let text = texts[number];
      if (text === undefined) {
        text = read.get(number);
        if (text === undefined) throw missing(file, number);
        texts[number] = text;
      }
      return text;
    },
    forget() {
      numbers = new Map();
      texts = [];
      isFull = false;
    },
  };
}

function missing(file: string, number: number): PerilbookError {
  return new PerilbookError(
    'STORE_UNUSABLE',
    `The store ${file} is damaged: its text ${number} is missing`,
    'Put a copy of the store in its place, or name another file with --store: its answers are then bought again.',
    { file },
  );
}
