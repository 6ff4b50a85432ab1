import { basename } from 'node:path';
import { z } from 'zod';
import { locationOf } from '../geo/coordinates.ts';
import { countyAt } from '../geo/us-counties.ts';
import type { Connection } from '../job/connection-kinds.ts';
import { cellOfInput, enrichedCells, locationsOf } from '../job/enriched-cells.ts';
import { type NotedRows, notedRows } from '../job/noted-rows.ts';
import { accountState } from '../job/planning/account-state.ts';
import { type Effects, type Prepared, prepare, type TakeComplete } from '../job/prepare.ts';
import type { Job } from '../job/settings/settings.ts';
import type { RunRecord, Store } from '../store/port.ts';
import { CellClasses, ratedTopics } from './cell-classes.ts';
import { CellCounties } from './cell-counties.ts';
import { heaviestCircles } from './circles.ts';
import type { Comparison } from './compare/comparison.ts';
import { type BookCurrencies, currenciesOf } from './currencies.ts';
import type { Facts, LedgerLine, Missing, Money, PlacedCircle } from './facts.ts';
import type { ReportFigures } from './figures.ts';
import { type LabelColumns, labelColumns, labelOf } from './location-labels.ts';
import { frameOf } from './map/frame.ts';
import { nearOrder } from './near-order.ts';
import { reportPage } from './page/page.ts';
import { METERS_PER_MILE, type Units } from './scales.ts';
import { Tally } from './tally.ts';

const RUNS_SHOWN = 10;

/** The latest run of a job on the input that it names now, or null. */
async function latestRun(job: Job, store: Store): Promise<RunRecord | null> {
  return (await store.runs({ job: job.name })).find(({ input }) => input === job.input) ?? null;
}

/** A page, and what changed since the earlier output, if one was named. */
export interface MadeReport {
  readonly page: string;
  /** False where the job has never run on this input: the page shows what the store has. */
  readonly hasRun: boolean;
  readonly comparison: Comparison | null;
}

export interface ReportOptions {
  /** Compares with an earlier output; null: with none. */
  readonly compare?: ((prepared: Prepared, complete: CellClasses) => Promise<Comparison>) | null;
}

/**
 * Makes the report of a job as its latest run left it: an answer that has gone stale since was fresh in that run's output.
 * Spends nothing.
 */
export async function reportOfLatestRun(
  job: Job,
  connection: Connection,
  store: Store,
  effects: Effects,
  { compare = null }: ReportOptions = {},
): Promise<MadeReport> {
  const now = effects.clock.now();
  const run = await latestRun(job, store);
  let complete: CellClasses | undefined;
  const takeComplete: TakeComplete = ({ cells }) => {
    const taken = new CellClasses(ratedTopics(job), cells.size);
    complete = taken;
    return (cell, { asOf, fields }) => taken.putComplete(cell, asOf, fields());
  };
  // Threads would take 25 MB more, and save a second of a million rows.
  const alone = { ...effects, rowThreads: 0 };
  using prepared = await prepare(job, { connection, store, effects: alone, asOf: run?.startedAt ?? now, takeComplete });
  const comparison = compare && (await compare(prepared, complete!));
  const page = await makeReport(prepared, store, now, { comparison, complete: complete! });
  return { page, hasRun: run !== null, comparison };
}

interface ReportParts {
  readonly comparison?: Comparison | null;
  /** The complete cells, where the plan has given them. */
  readonly complete?: CellClasses | null;
}

/** Makes the report of a job, as one HTML page, from the input, the store and the ledger. */
export async function makeReport(
  prepared: Prepared,
  store: Store,
  now: number,
  { comparison = null, complete = null }: ReportParts = {},
): Promise<string> {
  const { job, plan, connection, rowFile } = prepared;
  const { scan } = plan;
  const currencies = await currenciesOf(prepared);
  const circles = circlesOf(prepared, currencies);
  const figures = await figuresOf(prepared, store, currencies, complete);
  const columns = labelColumns(
    scan.layout.dropFrom === null ? rowFile.columns : rowFile.columns.slice(0, scan.layout.dropFrom),
    scan.layout.id,
  );
  const shown = new Set([...figures.locations, ...circles].map(({ cell }) => cell));
  const noted = await notedRows(
    prepared,
    shown,
    [columns.id, columns.name].filter((index) => index !== null),
  );
  const run = await latestRun(job, store);
  const valueColumns = scan.layout.columns.slice(2, 2 + scan.layout.values);
  return reportPage({
    job: job.name,
    // Without its folder: the page may be sent to others.
    input: job.input === '-' ? 'standard input' : basename(job.input),
    madeAt: now,
    runAt: run?.startedAt ?? null,
    source: sourceName(connection),
    sample: prepared.sampleRows.any,
    ...('datasets' in prepared.summary.source ? { local: prepared.summary.source.datasets } : {}),
    topics: job.topics,
    valueName: valueColumns.length === 0 ? null : valueColumns.map((index) => rowFile.columns[index]!).join(' + '),
    currency: currencies.shown,
    decimals: scan.cells.decimals,
    currencies: currencies.totals,
    units: job.units,
    rows: scan.rows,
    invalid: scan.invalid,
    outsideUs: scan.outsideUs,
    unit: rowFile.unit ?? 'line',
    findings: scan.findings.map(({ finding, note, rows, firstLine, ...part }) => ({
      note,
      rows,
      places: noted.places.get(finding) ?? [{ line: firstLine, ...part }],
    })),
    figures,
    circles,
    labels: labelsOf(noted, columns),
    comparison,
    money: moneyOf(prepared, run),
    missing: await missingOf(prepared, store, run, now),
    ledger: await ledgerOf(job, store),
    runs: await runsOf(job, store),
  });
}

async function figuresOf(
  prepared: Prepared,
  store: Store,
  { valueOfCell }: BookCurrencies,
  complete: CellClasses | null,
): Promise<ReportFigures> {
  const { topics, counts, units } = prepared.job;
  const { cells } = prepared.plan.scan;
  const order = nearOrder(cells);
  const counties = new CellCounties(cells, order);
  const frame = frameOf(locationsOf(cells), (_, cell) => counties.of(cell)?.state.code ?? null);
  const tally = new Tally({ topics, counts, units, cells: cells.size, frame });
  const classes = complete ?? new CellClasses(ratedTopics(prepared.job), cells.size);
  for (const time of classes.times) tally.noteTime(time);
  for await (const batch of enrichedCells(prepared, store, (cell) => classes.has(cell))) {
    for (const { number, rows, fields } of batch) {
      tally.count(fields, rows);
      classes.put(number, fields);
    }
  }
  for (const number of order) {
    const cell = { ...cellOfInput(cells, number), value: valueOfCell(number) };
    tally.add(cell, counties.of(number), classes);
  }
  return tally.figures();
}

const CIRCLES_SHOWN = 10;

/** The radius of the circles, in meters. */
const RADIUS: Readonly<Record<Units, number>> = { miles: METERS_PER_MILE, kilometers: 1000 };

function circlesOf({ job, plan }: Prepared, { valueOfCell, totals }: BookCurrencies): PlacedCircle[] {
  const { cells } = plan.scan;
  const rows = (place: number) => cells.rows(place);
  const location = (place: number) => locationOf(cells.cell(place));
  const weightOf = totals.length === 0 ? rows : valueOfCell;
  const places = { size: cells.size, location, rows, value: valueOfCell };
  return heaviestCircles(places, weightOf, RADIUS[job.units], CIRCLES_SHOWN).map((circle) => {
    const center = location(circle.cell);
    const county = countyAt(center);
    return { ...circle, ...center, county: county === null ? '' : `${county.name}, ${county.state.name}` };
  });
}

function labelsOf({ first }: NotedRows, { id, name }: LabelColumns): Facts['labels'] {
  const nameAt = id === null ? 0 : 1;
  return new Map(
    [...first].map(([cell, { number, texts, ...place }]) => [
      cell,
      {
        ...place,
        order: number,
        id: id === null ? '' : labelOf(texts[0]),
        name: name === null ? '' : labelOf(texts[nameAt]),
      },
    ]),
  );
}

function sourceName(connection: Connection): string {
  if (connection.kind === 'local') return 'local data';
  return connection.sample ? 'the embedded service' : addressOf(connection.baseUrl);
}

/** Host and path only: an address may hold a password or a token. */
function addressOf(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  return host + (pathname === '/' ? '' : pathname);
}

/** What the report reads of a run's summary. A summary of another version may lack it. */
const storedSummary = z
  .object({
    stopped: z.string().nullable(),
    saved_by_plan: z.object({ by_cells: z.number(), by_cache: z.number(), by_areas: z.number() }),
  })
  .nullable()
  .catch(null);

function moneyOf({ summary }: Prepared, run: RunRecord | null): Money {
  const saved = storedSummary.parse(run?.summary ?? null)?.saved_by_plan ?? summary.saved;
  return {
    planned: run?.plannedCredits ?? summary.credits,
    charged: run?.charged ?? 0,
    unknown: run?.unknown ?? 0,
    inFlight: run?.open ?? 0,
    allowed: run?.budget ?? null,
    saved: { byCells: saved.by_cells, byCache: saved.by_cache, byAreas: saved.by_areas },
  };
}

async function missingOf({ plan }: Prepared, store: Store, run: RunRecord | null, now: number): Promise<Missing> {
  const payers = plan.accounts.map(({ account }) => account);
  const states = await Promise.all(payers.map((account) => accountState(account, store, now)));
  const isPaused = run !== null && run.resumeAfter !== null && run.resumeAfter > now;
  const isUsedUp = states.length > 0 && states.every(({ available }) => available === 0);
  return {
    credits: plan.price.credits,
    cells: plan.order.length,
    stopped: storedSummary.parse(run?.summary ?? null)?.stopped ?? null,
    resumeAfter: isPaused ? run.resumeAfter : isUsedUp ? Math.min(...states.map(({ period }) => period.end)) : null,
    accounts: states.map(({ account, available, period }) => ({
      account: account.name,
      allowance: account.subscription.creditsPerMonth,
      left: available,
      resetsAt: period.end,
    })),
  };
}

async function ledgerOf({ name }: Job, store: Store): Promise<LedgerLine[]> {
  const rows = await store.statement({ by: 'kind', job: name });
  return rows.map(({ name: kind, calls, credits }) => ({ kind: kind as LedgerLine['kind'], calls, credits }));
}

async function runsOf({ name }: Job, store: Store): Promise<Facts['runs']> {
  const runs = await store.runs({ job: name });
  return runs.slice(0, RUNS_SHOWN).map(({ run, startedAt, state, plannedCredits, charged, unknown, open }) => ({
    ...{ run, startedAt, state, charged, unknown },
    planned: plannedCredits,
    inFlight: open,
  }));
}
