import { counted, dateTime, grouped } from '../../base/format-numbers.ts';
import type { Job } from '../../job/settings.ts';
import { isoTime } from '../../run/summary.ts';
import { shownAddress } from '../../sql/postgres-address.ts';
import type { Store, StoreStats } from '../../store/port.ts';
import type { RunCommand } from '../command.ts';
import type { Flags } from '../command-table.ts';
import { type CliContext, printResult } from '../context.ts';
import { anyJobOf, openStore } from '../job-of-options.ts';
import { byteSize, listed } from '../messages/format.ts';
import { prune } from './cache-prune.ts';

/** A command on the answers of a store. */
function onStore<OwnFlags extends Flags<'cache stats'>>(
  act: (context: CliContext, flags: OwnFlags, store: Store, job: Job) => Promise<number>,
): RunCommand<OwnFlags> {
  return async (context, flags) => {
    const job = anyJobOf(context, [], { store: flags.store });
    await using store = await openStore(context, job);
    return await act(context, flags, store, job);
  };
}

/** The commands of `perilbook cache`. */
export const cacheCommands = {
  stats: onStore(showStats),
  prune: onStore(prune),
};

async function showStats(context: CliContext, flags: Flags<'cache stats'>, store: Store, job: Job): Promise<number> {
  const stats = await store.stats();
  const { calls, credits } = stats;
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
        `${grouped(calls.charged)} charged, ${grouped(calls.free)} free, ${grouped(calls.unknown)} unknown, ${grouped(calls.sent)} in flight`,
      ],
      ['credits', `${grouped(credits.charged)} charged, ${grouped(credits.unknown)} unknown`],
    ]),
  ];
  return printResult(context, flags, statsJson(stats), () => lines);
}

/** The figures, under the same names as in `quota --json` and `status --json`. */
function statsJson({ sources, calls, credits, bytes }: StoreStats): Record<string, unknown> {
  return {
    sources: sources.map((source) => ({ ...source, oldest: isoTime(source.oldest) })),
    calls: { charged: calls.charged, free: calls.free, unknown: calls.unknown, in_flight: calls.sent },
    credits: { charged: credits.charged, unknown: credits.unknown, in_flight: credits.open },
    bytes,
  };
}
