import type { Answer } from '../../contract/answer.ts';
import type { Cell } from '../../geo/coordinates.ts';
import { mergedFailures } from './cell-answers.ts';
import type { CellAnswers, CellLists } from './port.ts';
import type { NumberedPacker, TextTable } from './text-table.ts';

/** The results of a call or a look-up for a cell of a source. */
export type CellChange = CellAnswers & { readonly source: number };

/** A change of a cell to be merged. */
export interface PackedChange extends Pick<CellChange, 'source' | 'failures'> {
  readonly cell: Cell;
  /** Packed; as they were given where a text has no number yet. */
  readonly answers: Buffer | readonly Answer[];
}

/** Answers and failures beside the packed bytes, where a cell has some. */
type Beside = Partial<Pick<PackedChange, 'failures'>> & { readonly answers?: readonly Answer[] };

/** Changes of cells in one piece of memory. As objects, those of a batch outlived two collections of young objects, and a thread's memory of
 * old ones grew to four times what it needed. */
export class PackedChanges {
  readonly #packer: NumberedPacker;
  /** Of each change: source, latitude, longitude, and where its bytes end. */
  readonly #values: number[] = [];
  readonly #beside = new Map<number, Beside>();
  #end = 0;

  constructor(packer: NumberedPacker) {
    this.#packer = packer;
  }

  get count(): number {
    return this.#values.length / VALUES;
  }

  add({ source, cell, answers, shared = NONE, failures }: CellChange): void {
    if (answers.length + shared.length + failures.length === 0) return;
    const end = this.#packer.pack(answers, shared, this.#end);
    const unpacked = end === null ? { answers: [...shared, ...answers] } : {};
    if (end === null || failures.length > 0)
      this.#beside.set(this.count, failures.length > 0 ? { ...unpacked, failures } : unpacked);
    this.#end = end ?? this.#end;
    this.#values.push(source, cell.lat7, cell.lng7, this.#end);
  }

  /** The changes in turn, so many at a time. */
  *slices(size: number): Generator<PackedChange[]> {
    for (let from = 0; from < this.count; from += size) {
      const length = Math.min(size, this.count - from);
      yield Array.from({ length }, (_, index) => this.#change(from + index));
    }
  }

  /** The changes as the rows of cells of which nothing was stored, where all are packed. Valid as long as the bytes of the packer. */
  lists(): CellLists {
    const values = this.#values;
    const lists = { lats: [] as number[], lngs: [] as number[], lengths: [] as number[] };
    for (let at = 0; at < values.length; at += VALUES) {
      lists.lats.push(values[at + 1]!);
      lists.lngs.push(values[at + 2]!);
      lists.lengths.push(values[at + 3]! - (at === 0 ? 0 : values[at - 1]!));
    }
    const failuresOf = (index: number) =>
      mergedFailures(null, this.#beside.get(index)?.failures ?? NONE, () => NONE);
    return {
      ...lists,
      answers: this.#packer.withSpare(this.#end),
      checksums: null,
      failures: this.#beside.size === 0 ? null : lists.lats.map((_, index) => failuresOf(index)),
    };
  }

  #change(index: number): PackedChange {
    const values = this.#values;
    const at = index * VALUES;
    const { answers, failures = NONE } = this.#beside.get(index) ?? NOTHING;
    return {
      source: values[at]!,
      cell: { lat7: values[at + 1]!, lng7: values[at + 2]! },
      answers:
        answers ?? this.#packer.bytes.subarray(index === 0 ? 0 : values[at - 1]!, values[at + 3]!),
      failures,
    };
  }
}

const VALUES = 4;
const NONE: readonly never[] = [];
const NOTHING: Beside = {};

/** Packs changes of cells before the transaction that merges them.
 * @param packer keeps their bytes: it packs no others before they are merged */
export function packChanges(
  { texts }: { readonly texts: TextTable },
  changes: Iterable<CellChange>,
  packer: NumberedPacker = texts.newPacker(),
): PackedChanges {
  const packed = new PackedChanges(packer);
  for (const change of changes) packed.add(change);
  return packed;
}
