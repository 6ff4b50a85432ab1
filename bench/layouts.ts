/**
 * The shapes that a store of answers can have: what each takes on the disk, and how many cells a second it gives for a plan
 * and a write, one cell after the other in an order that is not the file's. Each is read until the 54 fields of 18 natural
 * topics can be written without a look at the store.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import type { Answer } from '../src/contract/answer.ts';
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import { openCells } from '../test/store/open-cells.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

const CELLS = sized(100_000, 500);
const CELLS_A_READ = 250;
const ROUNDS = sized(5, 1);
const RATINGS = [
  'Very Low',
  'Relatively Low',
  'Relatively Moderate',
  'Relatively High',
  'Very High',
] as const;

interface Layout {
  readonly name: string;
  readonly make: (
    database: Database.Database,
    cells: ReturnType<typeof openCells>,
  ) => { add(cell: number): void; read(cells: readonly number[]): readonly unknown[] };
}

/** 36 numbers and 18 ratings a cell, with two times of answers. */
const answersOf = (cell: number): Answer[] =>
  NATURAL_SLUGS.map((topic, index) => {
    const mixed = (cell * 7919 + index * 104_729) % 1_000_000;
    return {
      topic,
      asOf: 1_780_000_000_000 + (index % 2),
      fields: [RATINGS[mixed % 5]!, mixed / 1e4, (mixed % 977) / 1000],
    };
  });

const LAYOUTS: readonly Layout[] = [
  {
    name: 'a row an answer',
    make(database) {
      database.exec(`CREATE TABLE answers (lat7 INTEGER, lng7 INTEGER, topic TEXT, as_of INTEGER, fields TEXT,
        PRIMARY KEY (lat7, lng7, topic)) STRICT, WITHOUT ROWID`);
      const insert = database.prepare('INSERT INTO answers VALUES (?, ?, ?, ?, ?)');
      const all = database
        .prepare<[number, number], [string, number, string]>(
          'SELECT topic, as_of, fields FROM answers WHERE lat7 = ? AND lng7 = ?',
        )
        .raw();
      return {
        add: (cell) => {
          for (const { topic, asOf, fields } of answersOf(cell)) {
            insert.run(...placeOf(cell), topic, asOf, JSON.stringify(fields));
          }
        },
        read: (cells) =>
          cells.map((cell) =>
            all
              .all(...placeOf(cell))
              .map(([topic, asOf, fields]) => [topic, asOf, JSON.parse(fields)]),
          ),
      };
    },
  },
  textLayout('a row a cell, JSON', jsonOf, JSON.parse),
  {
    name: 'a row a cell, packed (ours), unpacked',
    make(_, { merge, readAll }) {
      const cellAt = (cell: number) => ({ lat7: placeOf(cell)[0], lng7: placeOf(cell)[1] });
      return {
        add: (cell) => merge(1, cellAt(cell), answersOf(cell), []),
        read: (cells) => readAll(1, cells.map(cellAt)),
      };
    },
  },
  textLayout('a row a cell, finished suffix', suffixOf, (text) => text),
];

function textLayout(
  name: string,
  textOf: (cell: number) => string,
  made: (text: string) => unknown,
): Layout {
  return {
    name,
    make(database) {
      database.exec(`CREATE TABLE texts_of_cells (id INTEGER PRIMARY KEY, lat7 INTEGER, lng7 INTEGER, answers TEXT,
        UNIQUE (lat7, lng7)) STRICT`);
      const insert = database.prepare(
        'INSERT INTO texts_of_cells (lat7, lng7, answers) VALUES (?, ?, ?)',
      );
      const select = database
        .prepare<[number, number], string>(
          'SELECT answers FROM texts_of_cells WHERE lat7 = ? AND lng7 = ?',
        )
        .pluck();
      return {
        add: (cell) => insert.run(...placeOf(cell), textOf(cell)),
        read: (cells) => cells.map((cell) => made(select.get(...placeOf(cell))!)),
      };
    },
  };
}

function jsonOf(cell: number): string {
  return JSON.stringify(
    Object.fromEntries(answersOf(cell).map(({ topic, asOf, fields }) => [topic, [asOf, fields]])),
  );
}

function suffixOf(cell: number): string {
  return [
    'ok',
    '',
    '2026-05-28T20:26:40.000Z',
    ...answersOf(cell).flatMap(({ fields }) => fields),
  ].join();
}

const placeOf = (cell: number): [number, number] => [
  360_000_000 + 10_000 * (cell % 500),
  -1_000_000_000 + 10_000 * Math.floor(cell / 500),
];

/** Measures each layout in a file of its own; the best of five rounds. */
export function run(): Goal[] {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-layouts-'));
  try {
    const lines = LAYOUTS.map((layout, index) => measure(layout, join(folder, `${index}.db`)));
    const json = lines[1]![2] as number;
    console.log(`${CELLS.toLocaleString('en-US')} cells, 18 answers each\n`);
    console.log(
      table(
        ['layout', 'MB', 'cells a second', 'of JSON'],
        lines.map(([name, size, rate]) => [
          name,
          size,
          rate.toLocaleString('en-US'),
          (rate / json).toFixed(2),
        ]),
      ),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [];
}

function measure(
  { name, make }: Layout,
  file: string,
): [name: string, megabytes: string, rate: number] {
  const cells = openCells(file);
  const { handle: database } = cells;
  const { add, read } = make(database, cells);
  database.transaction(() => {
    for (let cell = 0; cell < CELLS; cell++) add(cell);
  })();
  database.pragma('wal_checkpoint(TRUNCATE)');
  let best = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    for (let from = 0; from < CELLS; from += CELLS_A_READ) {
      const cells = Array.from(
        { length: CELLS_A_READ },
        (_, index) => ((from + index) * 7919) % CELLS,
      );
      const found = database.transaction(() => read(cells))();
      if (found.some((one) => one === null)) throw new Error(`${name} lacks a cell`);
    }
    best = Math.max(best, CELLS / ((performance.now() - begun) / 1000));
  }
  database.close();
  return [name, (statSync(file).size / 1e6).toFixed(0), Math.round(best)];
}
