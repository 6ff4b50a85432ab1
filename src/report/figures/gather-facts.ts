import { basename } from 'node:path';
import type { TopicSlug } from '../../contract/topics.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { countyAt } from '../../geo/us-counties.ts';
import type { Job } from '../../job/settings.ts';
import type { Connection } from '../../run/frame/connection-kinds.ts';
import { type Effects, openContext } from '../../run/frame/run-context.ts';
import { type Prepared, prepareScanned } from '../../run/prepare.ts';
import { OTHER_CODES } from '../../run/scan/currency.ts';
import { type Scan, scan as scanInput } from '../../run/scan/scan-input.ts';
import { cellOfInput, enrichedCells, locationsOf } from '../../run/write/enriched-cells.ts';
import type { Store } from '../../store/port.ts';
import type { RunRecord } from '../../store/runs/port.ts';
import type { Comparison } from '../compare/match-rows.ts';
import { fitFrame } from '../map/frame.ts';
import type { MapFigures } from '../map/map-bins.ts';
import { listFinds } from '../map/map-finds.ts';
import { type CellClasses, makeCellClasses, ratedTopics } from './cell-classes.ts';
import { type Circle, heaviestCircles, sortedBy } from './circles.ts';
import type { Facts, PlaceAtRisk } from './facts.ts';
import { countLosses } from './loss-facts.ts';
import { namedRows } from './named-rows.ts';
import type { CellAtRisk } from './place-lists.ts';
import { METERS_PER_MILE, type Units } from './scales.ts';
import { gatherCredits, leftOver } from './spending.ts';
import { formatStory } from './story.ts';
import { type FileCurrencies, sumCurrencies, sumMaker } from './sums.ts';
import { makeTally } from './tally.ts';

async function latestRun(job: Job, store: Store): Promise<RunRecord | null> {
  return (await store.runs({ job: job.name })).find(({ input }) => input === job.input) ?? null;
}

export interface Report {
  readonly facts: Facts;
  readonly map: MapFigures;
}

/** The report of a job's latest run: an answer that has become stale since then was fresh in that run's output. If the
 * job has never run on this input, the report shows the answers in the store. Spends nothing.
 * @param compare compares with an earlier output */
export async function reportOfLatestRun(
  job: Job,
  connection: Connection,
  store: Store,
  effects: Effects,
  compare?: (prepared: Prepared, complete: CellClasses) => Promise<Comparison>,
): Promise<Report> {
  const now = effects.clock.now();
  const run = await latestRun(job, store);
  // Threads would take 25 MB more, and save only a second for a million rows.
  const alone = { ...effects, rowThreads: 0 };
  const context = await openContext(job, {
    connection,
    store,
    effects: alone,
    asOf: run?.startedAt ?? now,
  });
  using scanned = await scanInput(context);
  // Before the answers are read, whose memory then takes the place of what this needs.
  const circles = findCircles(job, scanned);
  const topics = ratedTopics(job);
  const complete = makeCellClasses(topics, scanned.groups.size);
  const fields = new Map(topics.map(({ slug, scale }) => [slug, scale.fields]));
  const prepared = await prepareScanned(context, scanned, {
    fieldsOf: (topic) => fields.get(topic)!,
  });
  const read = prepared.plan.fields;
  const unpack = await read.unpacker();
  // Rows with codes of their own may have other answers than their cell.
  const whole = scanned.coded === null ? scanned.cells.size : 0;
  for (let cell = 0; cell < whole; cell++)
    if (read.isComplete(cell)) complete.putComplete(cell, read.times[cell]!, unpack(cell));
  return await gatherFacts(prepared, now, {
    circles,
    complete,
    comparison: await compare?.(prepared, complete),
  });
}

interface Gathered {
  readonly circles?: readonly Circle[];
  /** The complete cells, if the plan has collected them. */
  readonly complete?: CellClasses;
  readonly comparison?: Comparison | undefined;
}

/** The facts and the map of a run. Reads the store, the ledger and, once more, the input. */
export async function gatherFacts(
  prepared: Prepared,
  now: number,
  gathered: Gathered = {},
): Promise<Report> {
  const { job, store, connection } = prepared;
  const { scan } = prepared.plan;
  const { rowFile } = scan;
  const valueColumns = scan.layout.columns.slice(2, 2 + scan.layout.values);
  const decimals = valueColumns.length === 0 ? null : scan.cells.decimals;
  const sumOf = sumMaker(decimals);
  const currencies = sumCurrencies(job, scan);
  const {
    circles = findCircles(job, scan),
    complete = makeCellClasses(ratedTopics(job), scan.groups.size),
    comparison = null,
  } = gathered;
  const rates = await prepared.plan.fields.losses(prepared);
  const losses = countLosses(prepared, rates, currencies);
  const { figures, atRisk, map, status, reasons } = await tallyAnswers(
    prepared,
    currencies,
    decimals,
    complete,
    losses === null ? null : rates,
  );
  // On a map of single places each can be looked for; on others those that the report lists.
  const [finest] = map.kind === 'point' ? map.levels : [];
  const onMap = finest?.bins.map(({ first }) => first) ?? atRisk.map(({ cell }) => cell);
  const shown = new Set([
    ...[...atRisk, ...circles, ...(losses?.locations ?? [])].map(({ cell }) => cell),
    ...onMap,
  ]);
  const { labels, problems } = await namedRows(scan, shown);
  const ratings = await sumRatings(prepared, atRisk);
  const run = await latestRun(job, store);
  const isLocal = connection.kind === 'local';
  const facts = {
    job: job.name,
    input: job.input === '-' ? 'standard input' : basename(job.input),
    output: run === null || job.output === '-' ? null : basename(job.output),
    madeAt: timeOf(now),
    runAt: run === null ? null : timeOf(run.startedAt),
    running: run?.state === 'running',
    source: sourceName(connection),
    sample: prepared.sampleRows.any,
    datasets: datasetsOf(prepared.summary.source),
    unit: rowFile.unit ?? 'line',
    units: job.units,
    valueName:
      decimals === null ? null : valueColumns.map((index) => rowFile.columns[index]!).join(' + '),
    currency: currencies.shown,
    currencies: currencies.totals.map(({ currency, ...sum }) => ({
      currency,
      ...sumOf(sum),
      // Several currencies, which have no sum.
      ...(currency === OTHER_CODES && { value: null }),
    })),
    rows: scan.rows,
    invalid: scan.invalid,
    outsideUs: scan.outsideUs,
    ...figures,
    losses: losses && {
      ...losses,
      locations: losses.locations.map(({ cell, ...loss }) => ({ ...labels(cell), ...loss })),
    },
    circles: circles.map(({ cell, places, ...sum }) => ({
      places,
      ...sumOf(sum),
      ...labels(cell),
    })),
    locations: atRisk.map(({ cell, rows, value }) => ({
      ...sumOf({ rows, value }),
      ...labels(cell),
      ratings: ratings.get(cell)!,
    })),
    changes: comparison,
    problems,
    missing: {
      status: Object.entries({ ...status, outside_us: scan.outsideUs, invalid: scan.invalid })
        .filter(([, rows]) => rows > 0)
        .map(([name, rows]) => ({ status: name, rows })),
      reasons,
      ...(await leftOver(prepared, run, now)),
    },
    credits: isLocal ? null : await gatherCredits(prepared, run),
  };
  const counties = new Set(map.levels.at(-1)!.bins.map(({ county }) => county));
  const finds = listFinds(map.frame, counties, onMap.map(labels));
  return { facts: { story: formatStory(facts), ...facts }, map: { ...map, finds } };
}

const timeOf = (ms: number) => new Date(ms).toISOString();

async function tallyAnswers(
  prepared: Prepared,
  values: FileCurrencies,
  decimals: number | null,
  classes: CellClasses,
  losses: PlaceLosses | null,
) {
  const { topics, counts, units } = prepared.job;
  const { scan } = prepared.plan;
  const { cells } = scan;
  const frame = fitFrame(locationsOf(cells));
  const tally = makeTally({ topics, counts, units, cells: cells.size, frame, decimals, losses });
  for (const time of classes.times()) tally.noteTime(time);
  for await (const batch of enrichedCells(prepared, (group) => classes.has(group))) {
    for (const { group, rows, fields } of batch) {
      tally.count(fields, rows);
      classes.put(group, fields);
    }
  }
  let last = -1;
  for (const group of nearOrder(scan)) {
    const cell = { ...cellOfInput(scan, group), value: values.valueOfGroup(group) };
    tally.add(cell, countyAt(cell.location), classes);
    const { number } = cell;
    if (number !== last)
      tally.list({ ...cell, rows: cells.rows(number), value: values.valueOfCell(number) }, classes);
    last = number;
  }
  return tally.tallied();
}

/** Half a degree, in units of cells. */
const TILE = 5_000_000;

/** The numbers of all groups of rows, those of a cell one after the other, grouped by tiles of half a degree and in file order within each. Neighbors are in the same counties and
 * bins of the map, so their sums stay in the processor's cache: in the order of the file the report of a million places took 3 s more. */
function nearOrder({ cells, groups }: Scan): Uint32Array {
  return sortedBy(groups.size, (group) => {
    const { lat7, lng7 } = cells.cell(groups.cellOf(group));
    return (
      Math.floor((lat7 + 900_000_000) / TILE) * 1000 + Math.floor((lng7 + 1_800_000_000) / TILE)
    );
  }).sorted;
}

/** The high ratings of the listed places with their numbers, which the classes do not contain. */
async function sumRatings(prepared: Prepared, listed: readonly CellAtRisk[]) {
  const firstField = new Map(ratedTopics(prepared.job).map(({ slug, from }) => [slug, from]));
  const places = new Map(listed.map((place) => [place.cell, place]));
  const ratings = new Map<number, PlaceAtRisk['ratings']>();
  const { groups } = prepared.plan.scan;
  for await (const batch of enrichedCells(prepared, (group) => !places.has(groups.cellOf(group)))) {
    for (const { number, fields } of batch) {
      const { veryHigh, high } = places.get(number)!;
      const rated = (
        topics: readonly TopicSlug[],
        rating: PlaceAtRisk['ratings'][number]['rating'],
      ) =>
        topics.map((topic) => {
          const [, score = null, frequency = null] = fields.slice(firstField.get(topic)!);
          return { topic, rating, score, frequency };
        });
      ratings.set(number, [...rated(veryHigh, 'Very High'), ...rated(high, 'Relatively High')]);
    }
  }
  return ratings;
}

const CIRCLES_SHOWN = 10;

/** The radius of the circles, in meters. */
const RADIUS: Readonly<Record<Units, number>> = { miles: METERS_PER_MILE, kilometers: 1000 };

function findCircles(job: Job, scan: Scan): readonly Circle[] {
  const { valueOfCell, totals } = sumCurrencies(job, scan);
  const { cells } = scan;
  const rows = (cell: number) => cells.rows(cell);
  const location = (cell: number) => locationOf(cells.cell(cell));
  const weightOf = totals.length === 0 ? rows : valueOfCell;
  const places = { size: cells.size, location, rows, value: valueOfCell };
  return heaviestCircles(places, weightOf, RADIUS[job.units], CIRCLES_SHOWN);
}

/** Of an address host and path only: it may hold a password or a token. */
function sourceName(connection: Connection): string {
  if (connection.kind === 'local') return 'local data';
  if (connection.sample) return 'the embedded service';
  const { host, pathname } = new URL(connection.baseUrl);
  const service = host + (pathname === '/' ? '' : pathname);
  return connection.beside === undefined ? service : `${service} and local data`;
}

/** The datasets of local data that the answers come from; null where all are a service's. */
function datasetsOf(source: Prepared['summary']['source']) {
  if (source.kind === 'local') return source.datasets;
  return source.kind === 'service' ? (source.beside?.datasets ?? null) : null;
}
