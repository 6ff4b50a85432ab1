import type { Answer, Field } from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { CODE_NAMES } from '../../data/tables/area-codes.ts';
import {
  numberedTexts,
  type OutputPlaces,
  type PackedFields,
} from '../../formats/packed/output-places.ts';
import { FieldPacker, OWN_TEXTS, skipFields } from '../../formats/packed/packed-fields.ts';
import {
  type FoundPlace,
  makePlaceTable,
  type PlaceWriter,
  placeFinder,
  placeWriter,
} from '../../formats/packed/place-table.ts';
import type { CodeAnswers } from '../plan/code-answers.ts';
import type { PlaceFields } from '../plan/place-fields.ts';
import type { Plan } from '../plan/planning.ts';
import { UNREADABLE_CODE } from '../scan/row-codes.ts';

/** Of some 400,000 places with different answers of one layer. */
const TABLE_BYTES = 16 * 1024 * 1024;

/** What the codes of some rows say. */
export interface OfCodes {
  /** Equal for codes that give the same answers, but for their values. */
  readonly key: string;
  /** In place of those of the rows' place. */
  readonly answers: ReadonlyMap<TopicSlug, Answer>;
  /** What the note says beside. */
  readonly remark: string;
}

/** The kind of the places of a cell whose codes say something. */
type KindOfCodes = (cell: number, of: OfCodes) => number;

/** One layer: its answers by code, and the fields of the places that it is put in place of. */
class CodedLayer {
  readonly from: CodeAnswers;
  readonly packed: PackedFields;
  /** How many fields of the source come before its own. */
  readonly skip: number;
  readonly #writer: PlaceWriter;
  /** Where the fields of an answer are in its table, by code. */
  readonly #ofCodes = new Map<number, number>();
  /** The same of places without a code, by the bytes of their fields; with their fields. */
  readonly #ofPlaces = new Map<string, { readonly entry: number; readonly fields: Field[] }>();

  constructor(from: CodeAnswers, groups: number, { parts }: PlaceFields) {
    const { wanted } = parts[from.source]!;
    const index = wanted.findIndex(({ topic }) => topic === from.topic);
    this.from = from;
    this.skip = wanted.slice(0, index).reduce((sum, { fields }) => sum + fields, 0);
    const table = makePlaceTable(groups, TABLE_BYTES, null);
    this.packed = { table, width: wanted[index]!.fields };
    this.#writer = placeWriter(table);
  }

  /** Makes all that was put readable. */
  flush(): void {
    this.#writer.flush();
  }

  /** Gives a group the fields of its place. @returns these */
  putPlace(group: number, { bytes, from: first }: FoundPlace, packer: FieldPacker): Field[] {
    const { width } = this.packed;
    const from = skipFields(bytes, first, this.skip);
    const to = skipFields(bytes, from, width);
    const key = bytes.toString('latin1', from, to);
    let known = this.#ofPlaces.get(key);
    if (known === undefined) {
      const fields = packer.unpack(bytes, from, width);
      known = { entry: this.#put(group, bytes.subarray(from, to)), fields };
      this.#ofPlaces.set(key, known);
    }
    this.packed.table.entries[group] = known.entry;
    return known.fields;
  }

  /** Gives a group the fields of the answer to a code, if there is one. */
  putAnswer(group: number, code: number): void {
    const answer = this.from.answers.get(code);
    if (answer === undefined) return;
    let entry = this.#ofCodes.get(code);
    if (entry === undefined) {
      entry = this.#put(group, OWN_TEXTS.pack(answer.fields.slice(0, this.packed.width)));
      this.#ofCodes.set(code, entry);
    }
    this.packed.table.entries[group] = entry;
  }

  /** What the note says of the code of a row. @param ofPlace the fields of its place */
  remark(code: number, ofPlace: readonly Field[]): string {
    const { topic, level, name } = this.from;
    const isZip = level === 'zip';
    if (Number.isNaN(code)) return isZip ? `${topic}: ${name} is empty` : '';
    if (code === UNREADABLE_CODE)
      return `${topic}: ${name} has no ${CODE_NAMES[level]}${isZip ? '' : ', its location counts'}`;
    if (isZip) return '';
    const { fields } = this.from.answers.get(code)!;
    const other =
      ofPlace[0] === null || ofPlace.every((field, index) => field === fields[index])
        ? ''
        : `, its location gives ${ofPlace[0] === fields[0] ? 'other values' : ofPlace[0]}`;
    return `${topic}: by ${name}${other}`;
  }

  #put(group: number, packed: Uint8Array): number {
    this.#writer.reserve(packed.length);
    const { room } = this.#writer;
    room.bytes.set(packed, room.at);
    this.#writer.end(group, packed.length);
    return this.packed.table.entries[group]!;
  }
}

/** The fields of groups of rows with codes of their own. */
export interface CodedPlaces {
  /** The fields of some groups: the result is of use for these.
   * @param numbers of groups and findings; a count for all from 0 on
   * @param places of their cells */
  placesOf(numbers: Iterable<number> | number, places: OutputPlaces): OutputPlaces;
}

/** Makes the fields of groups of rows with codes of their own, or with columns of an earlier run, from those of their places: the answers of the
 * codes stand in place of the place's. Null where groups are places. */
export function codedPlaces(
  { scan, codes }: Plan,
  fields: PlaceFields,
  kindOfCodes: KindOfCodes,
  kindOfKept: (kind: number, has: number) => number,
): CodedPlaces | null {
  const { coded, groups, cells, places: rowPlaces } = scan;
  if (coded === null) return null;
  const { parts } = fields;
  const count = groups.size + rowPlaces.unlocated.length;
  const answered = codes.map((of) => (of === null || parts[of.source]!.isLeftOut ? null : of));
  const layers = answered.map((of) => of && new CodedLayer(of, count, fields));
  const shared = (bytes: number) => new SharedArrayBuffer(bytes * count);
  const kindOf = new Uint32Array(shared(4));
  const times = new Float64Array(shared(8)).fill(Number.NaN);
  const rates = new Uint32Array(shared(4));
  const entries = parts.map(() => new Uint32Array(shared(4)));
  const tables = parts.flatMap(({ packed }, index) => {
    const own = layers.filter((layer) => layer?.from.source === index);
    return segmentsOf(packed, own as CodedLayer[], entries[index]!);
  });
  const hasKept = scan.layout.keptAnswers !== null;
  const answersOf = coded.codes.map((own) => answersOfCodes(answered, own));

  /** Gives a group what its place has. @returns the fields of each layer there */
  function putPlace(group: number, place: number, places: OutputPlaces, find: FindFields) {
    kindOf[group] = places.kindOf[place]!;
    times[group] = places.times![place]!;
    rates[group] = places.losses?.numberOf[place] ?? 0;
    for (const [index, of] of entries.entries()) of[group] = parts[index]!.table.entries[place]!;
    return layers.map((layer) => layer && find(layer, group, place));
  }

  /** Puts the answers of its codes in place of these. */
  function putCodes(group: number, ofPlace: readonly (readonly Field[] | null)[]): void {
    const number = coded!.codesOf(group);
    const remarks: string[] = [];
    for (const [index, layer] of layers.entries()) {
      if (layer === null) continue;
      const code = coded!.codes[number]![index]!;
      const remark = layer.remark(code, ofPlace[index]!);
      if (remark !== '') remarks.push(remark);
      layer.putAnswer(group, code);
    }
    const of = answersOf[number]!;
    if (of.answers.size === 0 && remarks.length === 0) return;
    kindOf[group] = kindOfCodes(groups.cellOf(group), { ...of, remark: remarks.join('; ') });
    if (of.answers.size > 0 && Number.isNaN(times[group])) times[group] = of.asOf;
  }

  return {
    placesOf(numbers: Iterable<number> | number, places: OutputPlaces): OutputPlaces {
      const finders = parts.map(({ table }) => placeFinder(table));
      const packer = new FieldPacker({ ...numberedTexts(places), numberOf: () => -1 });
      const find: FindFields = (layer, group, place) =>
        layer.putPlace(group, finders[layer.from.source]!(place), packer);
      for (const group of typeof numbers === 'number' ? new Array(numbers).keys() : numbers) {
        if (group < groups.size) {
          putCodes(group, putPlace(group, groups.cellOf(group), places, find));
          if (hasKept)
            kindOf[group] = kindOfKept(kindOf[group]!, coded.codes[coded.codesOf(group)]!.at(-1)!);
        } else putPlace(group, group - groups.size + cells.size, places, find);
      }
      for (const layer of layers) layer?.flush();
      const losses = places.losses && { ...places.losses, numberOf: rates };
      return { ...places, tables, kindOf, times, losses };
    },
  };
}

type FindFields = (layer: CodedLayer, group: number, place: number) => readonly Field[];

/** The answers of the codes of rows. */
function answersOfCodes(layers: readonly (CodeAnswers | null)[], codes: readonly number[]) {
  const answers = new Map<TopicSlug, Answer>();
  for (const [index, layer] of layers.entries()) {
    const answer = layer?.answers.get(codes[index]!);
    if (answer !== undefined) answers.set(answer.topic, answer);
  }
  const all = [...answers.values()];
  const key = all.map(({ topic, fields }) => `${topic} ${fields[0] === null ? 0 : 1}`).join();
  return { key, answers, asOf: Math.min(...all.map(({ asOf }) => asOf)) };
}

/** The packed fields of a source, with those of layers from tables of their own. @param entries where the fields of each group are */
function segmentsOf(
  { table, width }: PackedFields,
  layers: readonly CodedLayer[],
  entries: Uint32Array<SharedArrayBuffer>,
): PackedFields[] {
  const own = { ...table, entries };
  const segments: PackedFields[] = [];
  let at = 0;
  for (const { skip, packed } of layers.toSorted((a, b) => a.skip - b.skip)) {
    if (skip > at) segments.push({ table: own, skip: at, width: skip - at });
    segments.push(packed);
    at = skip + packed.width;
  }
  if (width > at) segments.push({ table: own, skip: at, width: width - at });
  return segments;
}
