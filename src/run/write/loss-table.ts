import { lossTopics } from '../../columns/loss-columns.ts';
import { NATURAL_SLUGS } from '../../contract/topics.ts';
import { LOSS_FIELDS, LOSS_RATES } from '../../data/topics/loss-rates.ts';
import { numberedTexts } from '../../formats/packed/output-places.ts';
import { FieldPacker, skipFields } from '../../formats/packed/packed-fields.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import { makePlaceTable, placeFinder, takeBlocks } from '../../formats/packed/place-table.ts';
import type { PlacesRead } from '../../store/answers/port.ts';
import { changedSince } from '../frame/local-data.ts';
import type { RunContext } from '../frame/run-context.ts';
import { lookUpLossRates } from '../look-up/look-up.ts';
import type { Plan } from '../plan/planning.ts';
import type { Scan } from '../scan/scan-input.ts';

/** Of 400,000 places; those of more lie in blocks of their own. */
const TABLE_BYTES = 64 * 1024 * 1024;
/** A natural topic without events: its data is what rates depend on. */
const TOPIC_OF_RATES = 'avalanche';

/** The loss rates of all places, as the store has them; null for a job without losses. */
export async function readLosses(context: RunContext, scan: Scan): Promise<PlaceLosses | null> {
  return (await lossReader(context, scan))?.losses() ?? null;
}

/** As `readLosses`, for the plan of a report, without those that must not be shown. */
export async function readShownLosses(
  prepared: RunContext & { readonly plan: Plan },
): Promise<PlaceLosses | null> {
  const { scan, fields } = prepared.plan;
  const losses = await readLosses(prepared, scan);
  if (losses !== null) leaveOutBesideMadeUp(prepared, fields.times, losses);
  return losses;
}

/** Real rates never stand beside made-up answers. @param times of the oldest answers of the places */
export function leaveOutBesideMadeUp(
  { connection, sampleRows }: RunContext,
  times: Float64Array,
  { numberOf }: PlaceLosses,
): void {
  if (connection.kind === 'local' || connection.sample) return;
  for (const time of times) sampleRows.has(time);
  if (sampleRows.any) numberOf.fill(0);
}

/** As `readLosses`, after rates that the store lacks were looked up. They cost nothing. */
export async function lookUpLosses(context: RunContext, scan: Scan): Promise<PlaceLosses | null> {
  const reader = await lossReader(context, scan);
  const { losses } = context;
  if (reader === null || losses === null || !losses.data.hasLossRates)
    return reader?.losses() ?? null;
  const lacking = reader.lacking();
  if (lacking.length > 0) {
    await lookUpLossRates(context, lacking, scan.cells, losses);
    await reader.readAgain(lacking);
  }
  return reader.losses();
}

/** Reads the stored rates of all places. */
async function lossReader(context: RunContext, scan: Scan) {
  const { job, store, losses } = context;
  if (!job.losses) return null;
  const { cells } = scan;
  const source = losses?.data.hasLossRates ? losses : null;
  const count = source === null ? 0 : cells.size;
  const table = makePlaceTable(cells.size, count === 0 ? 0 : TABLE_BYTES, null);
  const times = new Float64Array(new SharedArrayBuffer(8 * count));
  const asked = new Uint8Array(new SharedArrayBuffer(count));
  /** 1: the store has rates that are still true. */
  const isFresh = new Uint8Array(count);

  async function read(numbers: Int32Array | null): Promise<void> {
    const { data, source: number } = source!;
    const freshSince = changedSince(data, TOPIC_OF_RATES, data.asOf);
    const wanted = [{ topic: LOSS_RATES, freshSince, fields: LOSS_FIELDS }];
    const shared = { cells: cells.shared, table, times, moments: [0, 0, 0], rated: [] };
    const again = numbers && { asked, numbers };
    const request = { ...shared, source: number, wanted, again, dropsReplaced: false };
    // Each reader numbers its forms.
    const forms = new Map<number, boolean[]>();
    const outdated: number[] = [];
    const take = ({ reader, forms: more, pairs, left }: PlacesRead) => {
      const own = forms.get(reader) ?? [];
      forms.set(reader, own);
      for (const { isComplete } of more) own.push(isComplete);
      for (let at = 0; at < pairs.length; at += 2)
        if (!own[pairs[at + 1]!]!) outdated.push(pairs[at]!);
      takeBlocks(table, left);
    };
    const pool = scan.inThreads?.pool ?? null;
    const asks = { ...request, count: numbers?.length ?? count };
    for await (const part of store.readPlaces(asks, pool)) take(part);
    for (const place of numbers ?? isFresh.keys()) isFresh[place] = table.entries[place]! && 1;
    for (const place of outdated) isFresh[place] = 0;
  }

  if (count > 0) await read(null);
  const texts = await store.texts();
  return {
    /** The places without rates, by number. */
    lacking: () => [...isFresh.keys()].filter((place) => isFresh[place] === 0),
    async readAgain(places: readonly number[]): Promise<void> {
      for (const place of places) {
        asked[place] = 1;
        table.entries[place] = 0;
      }
      await read(Int32Array.from(places));
    },
    losses(): PlaceLosses {
      const topics = lossTopics(job.topics);
      const indexes = topics.map((topic) => 1 + NATURAL_SLUGS.indexOf(topic));
      const unlocated = scan.places.unlocated.length;
      const numberOf = new Uint32Array(new SharedArrayBuffer(4 * (cells.size + unlocated)));
      const packer = new FieldPacker(numberedTexts(texts));
      const find = placeFinder(table);
      // The places of a tract have the same rates: their bytes are compared, not unpacked.
      const numbers = new Map<string, number>();
      const rates: number[] = topics.map(() => Number.NaN);
      let last = 0;
      for (let place = 0; place < count; place++) {
        if (isFresh[place] === 0) continue;
        const { bytes, from } = find(place);
        const key = bytes.toString('latin1', from, skipFields(bytes, from, LOSS_FIELDS));
        let number = numbers.get(key);
        if (number === undefined) {
          const fields = packer.unpack(bytes, from, LOSS_FIELDS);
          // Without a rate of any hazard, the place is in no area of the index.
          number = fields[0] === 0 ? 0 : ++last;
          if (number > 0)
            for (const index of indexes) rates.push((fields[index] as number | null) ?? Number.NaN);
          numbers.set(key, number);
        }
        numberOf[place] = number;
      }
      const shared = new Float64Array(new SharedArrayBuffer(8 * rates.length));
      shared.set(rates);
      const hasAmounts = scan.layout.losses === 'amounts';
      return { topics: topics.length, rates: shared, numberOf, hasAmounts };
    },
  };
}
