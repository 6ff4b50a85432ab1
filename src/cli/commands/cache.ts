import { PerilbookError } from '../../errors.ts';
import { counted, dateTime, grouped } from '../../format-numbers.ts';
import { isoTime } from '../../job/summary.ts';
import { shownAddress } from '../../sql/postgres-address.ts';
import type { StoreStats } from '../../store/port.ts';
import type { Flags } from '../command.ts';
import { type CliContext, print, sayJson } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { anyJobOf } from '../job-of-options.ts';
import { byteSize, listed } from '../messages/format.ts';
import { openStore } from '../open-store.ts';
import { exportCommand } from './cache-export.ts';
import { importCommand } from './cache-import.ts';
import { prune } from './cache-prune.ts';

/** `perilbook cache stats | prune | export | import`. */
export async function cacheCommand(context: CliContext, flags: Flags): Promise<number> {
  if (flags.action !== 'import' && flags.path !== undefined) {
    const hint = `Only cache import takes a path; see perilbook cache --help.`;
    throw new PerilbookError('USAGE', `Unexpected argument: ${flags.path}`, hint);
  }
  // Other options have the names of settings, but are not the job's: --details, --output.
  const job = anyJobOf(context, undefined, { store: flags.store, topics: flags.topics });
  await using store = await openStore(context, job);
  switch (flags.action) {
    case 'stats': {
      const stats = await store.stats();
      if (flags.json) {
        sayJson(context, statsJson(stats));
        return EXIT.complete;
      }
      const { calls, credits, details } = stats;
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
          ...(details.answers === 0
            ? []
            : [
                [
                  'details',
                  `of ${counted(details.answers, 'answer')}, ${byteSize(details.bytes)} (${byteSize(details.jsonBytes)} as JSON)`,
                ] satisfies [string, string],
              ]),
          ['credits', `${grouped(credits.charged)} charged, ${grouped(credits.unknown)} unknown`],
        ]),
      ];
      print(context, lines.join('\n'));
      return EXIT.complete;
    }
    case 'prune':
      return await prune(context, flags, store);
    case 'import':
      return await importCommand(context, flags, store, job);
    default:
      return await exportCommand(context, flags, store, job);
  }
}

/** The figures under the names that `quota --json` and `status --json` use too. */
function statsJson({ sources, calls, credits, details, bytes }: StoreStats): Record<string, unknown> {
  return {
    sources: sources.map((source) => ({ ...source, oldest: isoTime(source.oldest) })),
    calls: { charged: calls.charged, free: calls.free, unknown: calls.unknown, in_flight: calls.sent },
    credits: { charged: credits.charged, unknown: credits.unknown, in_flight: credits.open },
    details: { answers: details.answers, bytes: details.bytes, json_bytes: details.jsonBytes },
    bytes,
  };
}
