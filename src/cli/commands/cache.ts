import { byteSize, counted, dateTime, grouped, isoTime } from '../../base/format-numbers.ts';
import { isFreeSource } from '../../host/connection.ts';
import type { Job } from '../../job/settings.ts';
import { bundlesAsSeen, expectedPrices, priceCheapest } from '../../run/plan/cheapest-calls.ts';
import { shownAddress } from '../../sql/postgres-address.ts';
import { topicsIn } from '../../store/answers/topic-set.ts';
import type { Charges, Compaction, Store } from '../../store/port.ts';
import { requireApproval } from '../frame/ask-approval.ts';
import { type CliContext, printResult, say, sayJson } from '../frame/context.ts';
import { readOptionalJob } from '../frame/job-of-options.ts';
import { openExistingStore, type StoreUse } from '../frame/open-store.ts';
import type { CachePruneJson, CacheStatsJson, ChargesJson } from '../json/ledger-json.ts';
import { listed } from '../messages/format.ts';
import { durationOption, type RunCommand, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';

/** A command on the answers of a store. */
function onStore<OwnFlags extends Flags<'cache stats'>>(
  use: StoreUse,
  act: (context: CliContext, flags: OwnFlags, store: Store, job: Job) => Promise<undefined>,
): RunCommand<OwnFlags> {
  return async (context, flags) => {
    const job = readOptionalJob(context, [], { store: flags.store });
    await using store = await openExistingStore(context, job, flags, use);
    return await act(context, flags, store, job);
  };
}

export const cacheCommands = {
  'cache stats': onStore('reads', showStats),
  'cache prune': onStore('writes', prune),
};

async function showStats(
  context: CliContext,
  flags: Flags<'cache stats'>,
  store: Store,
  job: Job,
): Promise<undefined> {
  const stats = await store.stats();
  const paid = stats.chargesOf((source) => !isFreeSource(source));
  const sample = stats.chargesOf(isFreeSource);
  const madeUp = `${counted(sample.calls.charged, 'call')}, ${counted(sample.credits.charged, 'credit')}`;
  const lines = [
    shownAddress(job.store),
    ...listed([
      ['size', byteSize(stats.bytes)],
      ...stats.sources.map(({ source, cells, answers, oldest }): [string, string] => [
        source,
        `${counted(cells, 'place')}, ${counted(answers, 'answer')}${oldest === null ? '' : `, oldest ${dateTime(oldest)}`}`,
      ]),
      [
        'calls',
        `${grouped(paid.calls.charged)} charged, ${grouped(paid.calls.free)} free, ${grouped(paid.calls.unknown)} unknown, ${grouped(paid.calls.sent)} in flight`,
      ],
      [
        'credits',
        `${grouped(paid.credits.charged)} charged, ${grouped(paid.credits.unknown)} unknown`,
      ],
      ...(sample.calls.charged === 0
        ? []
        : [['sample', `${madeUp}: made up, nobody charges them`] as const]),
    ]),
  ];
  // The figures have the same names as in `quota --json` and `status --json`. Nobody charges those of the sample.
  const sources = stats.sources.map((source) => ({ ...source, oldest: isoTime(source.oldest) }));
  const value: CacheStatsJson = {
    sources,
    ...chargesJson(paid),
    sample: chargesJson(sample),
    bytes: stats.bytes,
  };
  printResult(context, flags, value, () => lines);
}

function chargesJson({ calls, credits }: Charges): ChargesJson {
  return {
    calls: {
      charged: calls.charged,
      free: calls.free,
      unknown: calls.unknown,
      in_flight: calls.sent,
    },
    credits: { charged: credits.charged, unknown: credits.unknown, in_flight: credits.open },
  };
}

/** `perilbook cache prune`: deletes old answers, rejections of locations, learned prices, damaged answers, or several of these. */
async function prune(
  context: CliContext,
  flags: Flags<'cache prune'>,
  store: Store,
): Promise<undefined> {
  const age = flags['older-than'];
  const ms = durationOption('older-than', age);
  if (ms === undefined && !flags.rejected && !flags.prices && !flags.damaged) {
    const hint = 'For example: perilbook cache prune --older-than 400d';
    throw usageError('cache prune needs --older-than, --rejected, --prices or --damaged', hint);
  }
  const result: { -readonly [Name in keyof CachePruneJson]: number } = {};
  const lines: string[] = [];
  if (flags.damaged) {
    const found = await store.damaged({ delete: false });
    if (found > 0) await approveDamaged(context, flags, found);
    result.damaged_forgotten = await store.damaged({ delete: true });
    lines.push(
      `Deleted the answers of ${counted(result.damaged_forgotten, 'damaged place')}. The ledger is unchanged.`,
    );
  }
  if (ms !== undefined) {
    const before = context.clock.now() - ms;
    await approve(context, flags, store, before);
    result.forgotten = await store.prune(before);
    result.runs_forgotten = await store.forgetRuns(before);
    const gone = `${counted(result.forgotten, 'answer')} and ${counted(result.runs_forgotten, 'run')}`;
    lines.push(`Deleted ${gone} older than ${age}. The ledger is unchanged.`);
  }
  if (ms !== undefined || flags.damaged) {
    const compaction = await store.compact();
    if (compaction.kind === 'done') result.bytes_freed = compaction.freed;
    lines.push(...compactionText(compaction));
  }
  // Asking again about a rejected location is free: no approval is needed.
  if (flags.rejected) {
    result.rejections_forgotten = await store.forgetRejections();
    const locations = counted(result.rejections_forgotten, 'location');
    lines.push(`Deleted the rejections of ${locations}. The next run asks again, free of charge.`);
  }
  if (flags.prices) {
    result.prices_forgotten = await store.forgetPrices();
    const prices = counted(result.prices_forgotten, 'price');
    lines.push(`Forgot ${prices}. The next run expects those of the contract.`);
  }
  if (flags.json) sayJson(context, result);
  else say(context, lines.join('\n'));
}

function compactionText(compaction: Compaction): string[] {
  if (compaction.kind === 'server') return [];
  if (compaction.kind === 'done') return [`The store is ${byteSize(compaction.freed)} smaller.`];
  const why = {
    busy: 'another program has the store open: prune again when it has ended',
    no_room: 'the disk has no room for a copy of what is left',
  }[compaction.kind];
  return [`The file keeps its size, because ${why}.`];
}

/** Asks before damaged answers are deleted. What they were of cannot be read. @throws NEEDS_APPROVAL, INTERRUPTED */
async function approveDamaged(
  context: CliContext,
  flags: Flags<'cache prune'>,
  places: number,
): Promise<void> {
  if (flags.yes) return;
  const what = `the answers of ${counted(places, 'damaged place')}`;
  await requireApproval(context, {
    question: `Delete ${what}? Runs that need them buy them again.`,
    unapproved: `This would delete ${what}, which are then bought again`,
    approve: 'Add --yes, or put back a copy of the store.',
    refused: 'Nothing was deleted',
    later: 'Put back a copy of the store.',
  });
}

/** Asks before paid answers are deleted. @throws NEEDS_APPROVAL without a terminal, INTERRUPTED after a no */
async function approve(
  context: CliContext,
  flags: Flags<'cache prune'>,
  store: Store,
  before: number,
): Promise<void> {
  if (flags.yes) return;
  let [answers, credits] = [0, 0];
  for (const [source, sets] of await store.countOlder(before)) {
    if (isFreeSource(source)) continue;
    for (const [set, cells] of sets) answers += topicsIn(set).length * cells;
    const number = await store.source(source);
    const seen = bundlesAsSeen(await store.bundleContents(number));
    const { expected, most } = expectedPrices(await store.chargedPrices(number));
    // Which key will buy them is not known.
    const allScopes = { bundles: true, singles: () => true };
    credits += priceCheapest(sets, {
      ...seen,
      ...allScopes,
      credits: expected,
      most,
      optimize: 'credits',
    }).credits;
  }
  if (answers === 0) return;
  const what = counted(answers, 'paid answer');
  const cost = `Buying ${answers === 1 ? 'it' : 'them'} again costs ${counted(credits, 'credit')}`;
  await requireApproval(context, {
    question: `Delete ${what}? ${cost}.`,
    unapproved: `This would delete ${what}. ${cost}`,
    approve: 'Add --yes, or give an older age.',
    refused: 'Nothing was deleted',
    later: 'Give an older age to delete less.',
  });
}
