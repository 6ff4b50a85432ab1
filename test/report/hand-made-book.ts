import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import type { Answer, Field } from '../../src/contract/answer.ts';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import { cellOf } from '../../src/geo/coordinates.ts';
import { readJobFile } from '../../src/job/read-job-file.ts';
import { makeJob } from '../../src/job/settings.ts';
import type { Facts } from '../../src/report/figures/facts.ts';
import { gatherFacts } from '../../src/report/figures/gather-facts.ts';
import { reportPage } from '../../src/report/html/page.ts';
import { openContext } from '../../src/run/frame/run-context.ts';
import { type Prepared, prepare } from '../../src/run/prepare.ts';
import type { Claim, Settlement } from '../../src/store/ledger/port.ts';
import type { Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** What a service is to have said of a place: fields of answers by topic, notes of failures by topic. */
interface Said {
  readonly at: readonly [lat: number, lng: number];
  readonly answers: Readonly<Partial<Record<TopicSlug, readonly Field[]>>>;
  readonly failures?: Readonly<Partial<Record<TopicSlug, string>>>;
}

export interface HandMade {
  readonly prepared: Prepared;
  readonly store: Store;
  readonly clock: MovedClock;
  /** The report of the book, as it is now. */
  readonly page: () => Promise<string>;
  readonly facts: () => Promise<Facts>;
}

const BOOKS = join(import.meta.dirname, 'books');

/** Puts a book of `books/`, and what `answers.json` says of it, into a store, as a run that paused would have left them. */
export async function handMadeBook(t: TestContext, name: string): Promise<HandMade> {
  const folder = join(BOOKS, name);
  const file = readJobFile(join(folder, 'job.yaml'), 'job.yaml');
  const job = makeJob([file], { dataFolder: temporaryFolder(t), workingFolder: folder });
  const clock = new MovedClock('2026-03-15T12:00:00Z');
  const owner = { name: 'test', isAlive: () => true };
  const store = openSqliteStore(job.store, clock, owner, (topic) => columnsOf(topic).length);
  t.after(() => store.close());
  const source = await store.source('hand-made');
  const run = await store.startRun({
    ...{ job: job.name, input: job.input, output: job.output, account: job.account.name },
    ...{ plannedCredits: 150, budget: 140 },
  });
  const said: Said[] = JSON.parse(readFileSync(join(folder, 'answers.json'), 'utf8'));
  const period = billingPeriod(job.account.anniversaryDay, clock.now());
  const limits = { periodLimit: 1000, creditsPerMinute: 1000, budget: 1000, leaseMs: 60_000 };
  const claims = await store.claim(
    { run, source, account: job.account.name, period, ...limits },
    said.map(({ at: [lat, lng] }) => ({
      ...{
        cell: cellOf({ lat, lng }, job.precision),
        call: { kind: 'standard' } as const,
        credits: 15,
        key: 'k',
      },
      wanted: [],
    })),
  );
  clock.move(60_000);
  await store.settle(
    said.map((one, index) => settlementOf(one, claims[index]!, period, clock.now())),
  );
  await store.finishRun(run, {
    state: 'paused',
    resumeAfter: Date.parse('2026-03-31T00:00:00Z'),
    summary: {
      stopped: 'The quota is used up <b>.',
      saved_by_plan: { by_cells: 30, by_cache: 4, by_areas: 0 },
    },
  });
  clock.move(60_000);
  const effects = {
    clock,
    random: Math.random,
    streams: { stdin: new PassThrough(), stdout: new PassThrough() },
    notice: () => {},
  };
  const key = { secret: 'SECRET-KEY', fingerprint: 'k', scopes: null };
  const connection = {
    ...{
      kind: 'service' as const,
      baseUrl: 'https://hazards.example.com/v1?token=SECRET-TOKEN',
      source: 'hand-made',
    },
    ...{ sample: name === 'spread', keys: [key] },
  };
  const prepared = await prepare(
    await openContext(job, {
      ...{ connection, store, effects },
      asOf: Date.parse('2026-03-15T12:00:00Z'),
    }),
  );
  const made = () => gatherFacts(prepared, clock.now());
  const page = async () => made().then(({ facts, map }) => reportPage(facts, map));
  return { prepared, store, clock, page, facts: async () => (await made()).facts };
}

function settlementOf(
  { answers, failures = {} }: Said,
  claim: Claim,
  period: Settlement['period'],
  now: number,
): Settlement {
  if (claim.outcome !== 'granted') throw new Error(`not granted: ${claim.outcome}`);
  return {
    ...{ call: claim.call, charge: 'charged', credits: 15, period, outcome: '200' },
    answers: Object.entries(answers).map(
      ([topic, fields]) => ({ topic, asOf: now, fields }) as Answer,
    ),
    failures: Object.entries(failures).map(([topic, note]) => ({
      ...{ topic: topic as TopicSlug, note: note!, reason: 'unavailable' as const, at: now },
    })),
  };
}
