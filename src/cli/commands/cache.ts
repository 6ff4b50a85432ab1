import { isNoData } from '../../contract/answer.ts';
import { counted, dateTime, grouped } from '../../format-numbers.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { isoTime } from '../../job/summary.ts';
import type { StoreStats } from '../../store/port.ts';
import { shownAddress } from '../../store/store-address.ts';
import type { Flags } from '../command.ts';
import { type CliContext, sayJson } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { anyJobOf } from '../job-options.ts';
import { byteSize, listed } from '../messages/format.ts';
import { openStore } from '../open-store.ts';
import { prune } from './cache-prune.ts';

/** `perilbook cache stats | prune | export`. */
export async function cacheCommand(context: CliContext, flags: Flags): Promise<number> {
  // Only --store is an option of the job here; --details is not the setting of the same name.
  const job = anyJobOf(context, undefined, { store: flags.store });
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
      context.stdout.write(`${lines.join('\n')}\n`);
      return EXIT.complete;
    }
    case 'prune':
      return await prune(context, flags, store);
    default: {
      if (flags.details) {
        for await (const { source, cell, topic, asOf, json } of store.details()) {
          const head = JSON.stringify({ source, ...locationOf(cell), topic, as_of: isoTime(asOf) });
          if (!(await writeLine(context, `${head.slice(0, -1)},"details":${json}}`))) break;
        }
        return EXIT.complete;
      }
      for await (const { source, cell, record } of store.cells()) {
        for (const { topic, asOf, fields } of record.answers.values()) {
          const said = isNoData(fields) ? { no_data: true } : { fields };
          const line = JSON.stringify({ source, ...locationOf(cell), topic, as_of: isoTime(asOf), ...said });
          if (!(await writeLine(context, line))) return EXIT.complete;
        }
      }
      return EXIT.complete;
    }
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

/** Resolves to false when the reader has closed the pipe, as `head` does. */
async function writeLine({ stdout }: CliContext, line: string): Promise<boolean> {
  if (!stdout.destroyed && !stdout.write(`${line}\n`)) {
    await new Promise<void>((resolve) => {
      const goOn = () => {
        stdout.off('drain', goOn).off('close', goOn);
        resolve();
      };
      stdout.on('drain', goOn).on('close', goOn);
      if (stdout.destroyed) goOn();
    });
  }
  return !stdout.destroyed;
}
