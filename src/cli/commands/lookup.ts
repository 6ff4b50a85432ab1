import { addedColumns } from '../../columns/row.ts';
import type { RowStatus } from '../../columns/row-status.ts';
import { columnsOf, snakeCase } from '../../columns/topic-columns.ts';
import type { Field } from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { stateAt } from '../../data/tables/states-near.ts';
import { parseDegrees } from '../../geo/lenient-location.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import { openRun } from '../../host/run-host.ts';
import { type Job, NO_OUTPUT } from '../../job/settings.ts';
import { BatchRun } from '../../library/batch-run.ts';
import type { Prepared } from '../../run/prepare.ts';
import { askToSpend } from '../frame/ask-approval.ts';
import { type CliContext, lineWidth, print, runHost, say, sayJson } from '../frame/context.ts';
import { readOptionalJob } from '../frame/job-of-options.ts';
import { listed } from '../messages/format.ts';
import { SAMPLE_DATA } from '../messages/input-messages.ts';
import { type RunCommand, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { EXIT } from '../options/exit-codes.ts';

/** `perilbook lookup LAT LNG`: answers at one location, from local data, the sample or a service, as a table or JSON. What it buys is in
 * the ledger and the store, as for a run. */
export const lookupCommand: RunCommand<Flags<'lookup'>> = async (context, flags, words) => {
  const [lat, lng] = locationIn(words);
  const settings = readOptionalJob(context, [], flags);
  const job: Job = {
    ...settings,
    ...{ name: 'lookup', output: NO_OUTPUT, location: { lat: 'lat', lng: 'lng' } },
    // A person types one location in any notation: nothing of it is written.
    coordinates: 'lenient',
  };
  const [latitude, longitude] = [
    parseDegrees(lat, 'lat') ?? Number(lat),
    parseDegrees(lng, 'lng') ?? Number(lng),
  ];
  const host = { ...runHost(context), findState: () => stateAt({ lat: latitude, lng: longitude }) };
  await using opened = await openRun(host, job, { interrupt: context.interrupt });
  await using run = new BatchRun(
    opened.context,
    () => {},
    null,
    (prepared) => approve(context, flags, prepared),
  );
  const [fields] = await run.answer([[lat, lng]]);
  run.end();
  if (run.refusal !== null) throw run.refusal;
  const names = addedColumns(job.topics, '', job.counts).map(({ name }) => name);
  const values = new Map(names.map((name, index) => [name, fields![index]!]));
  const status = values.get('hazard_status') as RowStatus;
  const note = values.get('hazard_note') ?? null;
  if (status === 'invalid') throw usageError(`${lat}, ${lng} is no location: ${note}`, EXAMPLE);
  const hazards = [...values].filter(([name]) => !/^hazard_(status|note|as_of)$/.test(name));
  const asOf = values.get('hazard_as_of') ?? null;
  if (flags.json)
    sayJson(context, {
      lat: latitude,
      lng: longitude,
      status,
      note,
      as_of: asOf,
      hazards: Object.fromEntries(hazards),
    });
  else {
    if (opened.context.connection.sample) say(context, SAMPLE_DATA);
    const answers = job.topics.map((topic): readonly [string, string] => [
      topic,
      answerText(topic, values),
    ]);
    if (hazards.some(([, value]) => value !== null))
      print(context, listed(answers, '', lineWidth(context.stdout)).join('\n'));
    // The line above says of the sample what the note repeats.
    const shownNote = opened.context.connection.sample && status === 'ok' ? null : note;
    const text = [status === 'ok' ? null : status, shownNote].filter(Boolean).join(': ');
    if (text !== '') say(context, text);
    if (status === 'outside_us' && isUsWithMinus(lat, lng))
      say(context, `Longitudes in the US are negative: perilbook lookup ${lat} -${lng}`);
  }
  if (status === 'ok') return undefined;
  return status === 'deferred' ? EXIT.paused : EXIT.someFailed;
};

/** The values of a topic's columns by their names without the topic's own: `rating Very High, score 98.2`. */
function answerText(topic: TopicSlug, values: ReadonlyMap<string, Field>): string {
  const texts = columnsOf(topic).flatMap(({ name }) => {
    const value = values.get(name) ?? null;
    return value === null
      ? []
      : [`${name.replace(`${snakeCase(topic)}_`, '').replaceAll('_', ' ')} ${value}`];
  });
  return texts.length === 0 ? '-' : texts.join(', ');
}

const EXAMPLE = 'For example: perilbook lookup 34.0522 -118.2437 --topics wildfire.';

/** `34.05 -118.24`, or both in one word with a comma or a space. @throws USAGE */
function locationIn(words: readonly string[]): readonly [lat: string, lng: string] {
  // Of two words each is whole: a comma in it is a decimal one.
  const parts =
    words.length === 2
      ? words.map((word) => word.replace(/,$/, ''))
      : words.join(' ').split(/[\s,]+/);
  const [lat, lng, ...others] = parts.filter((part) => part !== '');
  if (lat !== undefined && lng !== undefined && others.length === 0) return [lat, lng];
  throw usageError('lookup needs a latitude and a longitude', EXAMPLE);
}

/** Whether the other sign of the longitude puts a place outside the US into it. */
function isUsWithMinus(lat: string, lng: string): boolean {
  const [latitude, longitude] = [Number(lat), Number(lng)];
  return longitude > 0 && longitude <= 180 && isCovered({ lat: latitude, lng: -longitude });
}

/** Spending needs a yes on a terminal; elsewhere it needs --yes or a budget. */
async function approve(
  context: CliContext,
  flags: Flags<'lookup'>,
  { job, summary }: Prepared,
): Promise<void> {
  const { credits } = summary;
  if (credits === 0 || flags.yes || job.budget !== null || summary.source.kind === 'sample') return;
  const words = {
    what: 'look-up',
    approve: `Add --yes or --budget ${credits}.`,
    later: 'Run the command again to spend them.',
  };
  await askToSpend(context, credits, words);
}
