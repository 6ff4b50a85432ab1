import { resolve } from 'node:path';
import { isNoData } from '../../contract/answer.ts';
import { PerilbookError } from '../../errors.ts';
import { counted } from '../../format-numbers.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { isSampleSource } from '../../library/connection.ts';
import { printable } from '../../printable.ts';
import { formatOfOutput } from '../../rows/file-formats.ts';
import { freshnessOf } from '../../run/plan/freshness.ts';
import { rowsOutput } from '../../run/protected-files.ts';
import type { Job } from '../../run/settings/settings.ts';
import { isoTime } from '../../run/summary.ts';
import type { Store } from '../../store/port.ts';
import { exportAnswers, type TableFormat } from '../../warehouse/export-answers.ts';
import type { ExportFlags } from '../command-options.ts';
import { type CliContext, say, sayJson } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { byteSize, shownPath } from '../messages/format.ts';
import { checkFiles } from '../output-files.ts';

const FORMATS: readonly TableFormat[] = ['parquet', 'csv', 'ndjson'];

/** `perilbook cache export`: prints one line per answer, or with --format or -o writes a table with one row per place. */
export async function exportCommand(context: CliContext, flags: ExportFlags, store: Store, job: Job): Promise<number> {
  if (flags.details) return await printDetails(context, store);
  if (flags.format === undefined && flags.output === undefined) return await printAnswers(context, store);
  const path = flags.output;
  const format = formatOf(flags.format, path);
  const output = path === undefined || path === '-' ? '-' : resolve(context.workingFolder, path);
  if (output === '-' && format === 'parquet') {
    throw new PerilbookError('USAGE', 'A Parquet export needs a file or a folder', 'Name it: -o answers');
  }
  if (output === '-' && flags.json) {
    throw new PerilbookError(
      'USAGE',
      '--json and the export both write to stdout',
      'Name a file for the export: -o FILE',
    );
  }
  const isFolder = format === 'parquet' && !output.toLowerCase().endsWith('.parquet');
  if (!isFolder) await checkFiles(flags, job, [rowsOutput(output, {}, async () => new Set())]);
  const exported = await exportAnswers({
    store,
    output,
    format,
    isSampleSource,
    stdout: context.stdout,
    topics: flags.topics === undefined ? null : job.topics,
    freshness: freshnessOf(job, context.clock.now()),
  });
  if (flags.json) sayJson(context, { output, ...exported });
  else {
    const where = output === '-' ? 'stdout' : shownPath(output, context.workingFolder);
    const { places, files, bytes } = exported;
    say(context, `Wrote ${counted(places, 'place')} to ${where} (${counted(files, 'file')}, ${byteSize(bytes)})`);
  }
  return EXIT.complete;
}

/** @throws USAGE */
function formatOf(name: string | undefined, output: string | undefined): TableFormat {
  const byName = output === undefined ? null : formatOfOutput(output);
  const named = FORMATS.find((format) => format === (name ?? byName));
  if (named !== undefined) return named;
  throw new PerilbookError(
    'USAGE',
    `Cannot tell the format of ${output}`,
    `Use --format ${FORMATS.join(', --format ')}.`,
  );
}

async function printDetails(context: CliContext, store: Store): Promise<number> {
  for await (const { source, cell, topic, asOf, json } of store.details()) {
    const head = JSON.stringify({ source, ...locationOf(cell), topic, as_of: isoTime(asOf) });
    if (!(await writeLine(context, `${head.slice(0, -1)},"details":${json}}`))) break;
  }
  return EXIT.complete;
}

async function printAnswers(context: CliContext, store: Store): Promise<number> {
  const marks = new Map<string, number>();
  for await (const { source, cell, record } of store.cells()) {
    if (!marks.has(source)) marks.set(source, await sampleUntil(store, source));
    for (const { topic, asOf, fields } of record.answers.values()) {
      const value = isNoData(fields) ? { no_data: true } : { fields };
      const sample = asOf <= marks.get(source)! ? { sample: true } : {};
      const line = { source, ...locationOf(cell), topic, as_of: isoTime(asOf), ...value, ...sample };
      if (!(await writeLine(context, JSON.stringify(line)))) return EXIT.complete;
    }
  }
  return EXIT.complete;
}

/** The time of a source's newest answer from sample data; every answer of the embedded service is sample data. */
async function sampleUntil(store: Store, source: string): Promise<number> {
  if (isSampleSource(source)) return Number.POSITIVE_INFINITY;
  return (await store.sampleMark(await store.source(source)))?.until ?? Number.NEGATIVE_INFINITY;
}

/** Resolves to false when the reader has closed the pipe, as `head` does. */
async function writeLine({ stdout }: CliContext, line: string): Promise<boolean> {
  if (!stdout.destroyed && !stdout.write(`${printable(line)}\n`)) {
    await new Promise<void>((resolveLine) => {
      const goOn = () => {
        stdout.off('drain', goOn).off('close', goOn);
        resolveLine();
      };
      stdout.on('drain', goOn).on('close', goOn);
      if (stdout.destroyed) goOn();
    });
  }
  return !stdout.destroyed;
}
