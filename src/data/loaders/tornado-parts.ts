import { pointOf } from './csv-features.ts';

/** A row of the Storm Prediction Center's file, by the names of its fields. */
export type TornadoRow = Readonly<Record<string, string>>;

/** A row and where it stands. */
export interface TornadoPart {
  readonly line: number;
  readonly row: TornadoRow;
}

/** A part's ends lie within the whole's box; single files differ in the last digits, and some tracks are bent. */
const MARGIN_DEGREES = 0.1;

/**
 * A tornado has a row for its whole (sg 1), and more for its parts in each state (sg 2) and for further counties (-9). The parts
 * bear the whole's number, or one of their own; one that lies within no whole of its day is a tornado that has no other row (number
 * 291657 of 2011 is the one in 6,198 rows of five years).
 */
export function createTornadoParts() {
  const wholes = new Set<string>();
  const tracks = new Map<string, TornadoRow[]>();
  const parts = new Map<string, TornadoPart[]>();
  const numberOf = (row: TornadoRow) => `${row.yr!.trim()} ${row.om!.trim()}`;
  const dayOf = (row: TornadoRow) => `${row.yr!.trim()} ${Number(row.mo)} ${Number(row.dy)}`;
  return {
    /** True for a row that gives a tornado whole; others are kept for the end. */
    isWhole(part: TornadoPart): boolean {
      const isWhole = part.row.sg!.trim() === '1';
      if (isWhole) wholes.add(numberOf(part.row));
      if (isWhole) addTo(tracks, dayOf(part.row), part.row);
      else addTo(parts, numberOf(part.row), part);
      return isWhole;
    },
    /** The parts by their number, and whether another row gives the tornado whole. */
    *atEnd(): Generator<{ readonly parts: readonly TornadoPart[]; readonly hasWhole: boolean }> {
      for (const [number, own] of parts) {
        const isPlaced = (part: TornadoPart) => {
          const ends = endsOf(part.row);
          return ends.length === 0 || (tracks.get(dayOf(part.row)) ?? []).some((whole) => holds(endsOf(whole), ends));
        };
        yield { parts: own, hasWhole: wholes.has(number) || own.every(isPlaced) };
      }
    },
  };
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [value]);
  else known.push(value);
}

function endsOf(row: TornadoRow): [number, number][] {
  return [pointOf(row.slat, row.slon), pointOf(row.elat, row.elon)].filter((end) => typeof end !== 'string');
}

/** Whether the box around some positions, a little wider, holds all others. */
function holds(around: readonly [number, number][], others: readonly [number, number][]): boolean {
  return [0, 1].every((axis) => {
    const values = around.map((position) => position[axis]!);
    const [least, greatest] = [Math.min(...values) - MARGIN_DEGREES, Math.max(...values) + MARGIN_DEGREES];
    return others.every((position) => position[axis]! >= least && position[axis]! <= greatest);
  });
}
