import { counted, grouped } from '../../base/format-numbers.ts';
import { addedColumns } from '../../columns/row.ts';
import type { RowStatus } from '../../columns/row-status.ts';
import { columnsOf, snakeCase } from '../../columns/topic-columns.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { stateAt } from '../../data/tables/states-near.ts';
import { parseDegrees, splitLenientPair } from '../../geo/lenient-location.ts';
import { placeInValue } from '../../geo/place-in-value.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import { openRun } from '../../host/run-host.ts';
import { type Job, NO_OUTPUT } from '../../job/settings.ts';
import { BatchRun } from '../../run/batch-run.ts';
import type { Prepared } from '../../run/prepare.ts';
import { approveSpending } from '../frame/ask-approval.ts';
import { type CliContext, lineWidth, print, runHost, say, sayJson } from '../frame/context.ts';
import { readOptionalJob } from '../frame/job-of-options.ts';
import type { LookupJson } from '../json/lookup-json.ts';
import { listed } from '../messages/format.ts';
import { SAMPLE_DATA } from '../messages/input-messages.ts';
import { type RunCommand, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { EXIT } from '../options/exit-codes.ts';

/** `perilbook lookup LAT LNG`: answers at one location, from local data, the sample or a service, as a table or JSON. It is a run of one row:
 * what it buys is planned, approved, limited, retried and kept as in `run`. */
export const lookupCommand: RunCommand<Flags<'lookup'>> = async (context, flags, words) => {
  const typed = readLocation(words);
  const job: Job = {
    ...readOptionalJob(context, [], flags),
    name: 'lookup',
    output: NO_OUTPUT,
    location: { lat: 'lat', lng: 'lng' },
    // A person types one location in any notation: nothing of it is written.
    coordinates: 'lenient',
  };
  const location = { lat: degreesIn(typed.lat, 'lat'), lng: degreesIn(typed.lng, 'lng') };
  const host = { ...runHost(context), findState: () => stateAt(location) };
  await using opened = await openRun(host, job, { interrupt: context.interrupt });
  let limit = 0;
  const approve = async (prepared: Prepared): Promise<void> => {
    limit = prepared.summary.credits_limit;
    const words = { what: 'look-up', spending: `Add --yes or --budget ${limit}.` };
    await approveSpending(context, flags, prepared, words, true);
  };
  await using run = new BatchRun(opened.context, { renew: opened.renew, approve });
  const [fields] = await run.answer([[typed.lat, typed.lng]]);
  run.end();
  if (run.refusal !== null) throw run.refusal;
  const names = addedColumns(job.topics, '', job.counts).map(({ name }) => name);
  const values = new Map(names.map((name, index) => [name, fields![index]!]));
  const {
    hazard_status: status,
    hazard_note: note,
    hazard_as_of,
    ...hazards
  } = Object.fromEntries(values);
  if (status === 'invalid')
    throw usageError(`${typed.lat}, ${typed.lng} is no location: ${note}`, EXAMPLE);
  const answer: LookupJson = {
    ...location,
    status: status as RowStatus,
    note: note as string | null,
    as_of: hazard_as_of as string | null,
    hazards,
    credits_spent: run.spent.creditsSpent,
    credits_unknown: run.spent.creditsUnknown,
    credits_limit: limit,
  };
  if (flags.json) sayJson(context, answer);
  else tellAnswer(context, answer, { typed, job, isSample: opened.context.connection.sample });
  return exitCodeOf(answer.status);
};

function exitCodeOf(status: RowStatus): number | undefined {
  switch (status) {
    case 'ok':
      return undefined;
    case 'deferred':
      return EXIT.paused;
    default:
      return EXIT.someFailed;
  }
}

interface Asked {
  readonly typed: TypedLocation;
  readonly job: Job;
  readonly isSample: boolean;
}

/** Prints the answers to stdout, and what is to be said of them to stderr. */
function tellAnswer(
  context: CliContext,
  answer: LookupJson,
  { typed, job, isSample }: Asked,
): void {
  const { status, note, hazards } = answer;
  if (isSample) say(context, SAMPLE_DATA);
  if (Object.values(hazards).some((value) => value !== null)) {
    const lines = job.topics.map((topic) => [topic, answerText(topic, hazards)] as const);
    print(context, listed(lines, '', lineWidth(context.stdout)).join('\n'));
  }
  // The line above says of the sample what the note repeats.
  const shownNote = isSample && status === 'ok' ? null : note;
  const text = [status === 'ok' ? null : status, shownNote].filter(Boolean).join(': ');
  if (text !== '') say(context, text);
  if (status === 'outside_us' && isUsWithMinus(answer))
    say(context, `Longitudes in the US are negative: perilbook lookup ${typed.lat} -${typed.lng}`);
  const spent = spentText(answer);
  if (spent !== null && !isSample) say(context, spent);
}

/** `Spent: 27 credits of at most 34.`; null where nothing had to be bought. */
function spentText({ credits_spent, credits_unknown, credits_limit }: LookupJson): string | null {
  if (credits_limit === 0) return null;
  const unknown =
    credits_unknown === 0
      ? ''
      : ` Unknown: ${counted(credits_unknown, 'credit')} of calls without a usable answer.`;
  return `Spent: ${counted(credits_spent, 'credit')} of at most ${grouped(credits_limit)}.${unknown}`;
}

/** The values of a topic's columns by their names without the topic's own: `rating Very High, score 98.2`. */
function answerText(topic: TopicSlug, hazards: LookupJson['hazards']): string {
  const texts = columnsOf(topic).flatMap(({ name }) => {
    const value = hazards[name] ?? null;
    return value === null
      ? []
      : [`${name.replace(`${snakeCase(topic)}_`, '').replaceAll('_', ' ')} ${value}`];
  });
  return texts.length === 0 ? '-' : texts.join(', ');
}

const EXAMPLE = 'For example: perilbook lookup 34.0522 -118.2437 --topics wildfire.';

/** Latitude and longitude as they were typed. */
interface TypedLocation {
  readonly lat: string;
  readonly lng: string;
}

/** `34.05 -118.24`, or both in one text in any form that a file may have: with a comma, WKT, GeoJSON, `geo:`. @throws USAGE */
function readLocation(words: readonly string[]): TypedLocation {
  // Of two words each is whole: a comma in it is a decimal one.
  const plain = words.map((word) => word.replace(/,$/, '').trim()).filter((word) => word !== '');
  const text = words.join(' ');
  const pair = splitLenientPair(text);
  const read = pair && { lat: pair[0], lng: pair[1] };
  // Letters tell which is which: `95.3W 29.7N`.
  if (read !== null && /(?:^|[\s,;])[NSEW]|[NSEW](?:$|[\s,;])/i.test(text)) return read;
  if (plain.length === 2 && !/^[a-z;=\d]*\s*\(/i.test(plain[0]!))
    return { lat: plain[0]!, lng: plain[1]! };
  const place = placeInValue(text, null);
  if (place !== null && typeof place === 'object') return { lat: place.lat, lng: place.lng };
  if (read !== null) return read;
  throw usageError('lookup needs a latitude and a longitude', EXAMPLE);
}

/** NaN for what is no number: the run says why it is invalid. */
function degreesIn(text: string, axis: 'lat' | 'lng'): number {
  return parseDegrees(text, axis) ?? Number(text);
}

/** Whether the other sign of the longitude puts a place outside the US into it. */
function isUsWithMinus({ lat, lng }: LookupJson): boolean {
  return lng > 0 && lng <= 180 && isCovered({ lat, lng: -lng });
}
