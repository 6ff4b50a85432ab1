import { pointOf } from './csv-features.ts';

/** A row of the Storm Prediction Center's file by field name. */
export type TornadoRow = Readonly<Record<string, string>>;

/** A row and its line. */
export interface TornadoPart {
  readonly line: number;
  readonly row: TornadoRow;
}

/** The ends of a part are within the box of the whole track; single files differ in the last digits, and some tracks
 * bend. */
const MARGIN_DEGREES = 0.1;

/**
 * A tornado has a row for the whole track (sg 1) and more for the parts in each state (sg 2) and further counties (-9).
 * Parts have the number of the whole or their own. A part outside every whole track of its day is a tornado without
 * another row (number 291657 of 2011 is the only one in 6,198 rows of five years).
 */
export function createTornadoParts() {
  const wholes = new Set<string>();
  const tracks = new Map<string, TornadoRow[]>();
  const parts = new Map<string, TornadoPart[]>();
  const numberOf = (row: TornadoRow) => `${row.yr!.trim()} ${row.om!.trim()}`;
  const dayOf = (row: TornadoRow) => `${row.yr!.trim()} ${Number(row.mo)} ${Number(row.dy)}`;
  return {
    /** True for a row with a whole track; the others wait for the end. */
    isWhole(part: TornadoPart): boolean {
      const isWhole = part.row.sg!.trim() === '1';
      if (isWhole) wholes.add(numberOf(part.row));
      if (isWhole) addTo(tracks, dayOf(part.row), part.row);
      else addTo(parts, numberOf(part.row), part);
      return isWhole;
    },
    /** The parts by number, and whether another row has the whole track. */
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

/** Whether the box around some positions, with the margin, holds all others. */
function holds(around: readonly [number, number][], others: readonly [number, number][]): boolean {
  return [0, 1].every((axis) => {
    const values = around.map((position) => position[axis]!);
    const [least, greatest] = [Math.min(...values) - MARGIN_DEGREES, Math.max(...values) + MARGIN_DEGREES];
    return others.every((position) => position[axis]! >= least && position[axis]! <= greatest);
  });
}
