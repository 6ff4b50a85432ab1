import { join } from 'node:path';
import { refuseFullDisk } from '../../data/download/download-errors.ts';
import { type WantedSource, wantedSources } from '../../data/download/get-sources.ts';
import { chooseSources } from '../../data/sources/source-table.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import { requireApproval } from '../ask-approval.ts';
import { usageError } from '../command.ts';
import type { Flags } from '../command-table.ts';
import { type CliContext, printResult, say, sayJson } from '../context.ts';
import type { DataAction, DataSettings } from '../data-settings.ts';
import { EXIT, exitCodeOfError } from '../exit-codes.ts';
import {
  downloadPlanJson,
  downloadPlanMessages,
  estimatedBytes,
  type SourceOutcome,
  sizeOfAll,
  sourceOutcomeMessages,
  sourceOutcomesJson,
} from '../messages/download-messages.ts';
import { areaOfFile, type LocationsArea, parseStates } from '../states-of-file.ts';
import { downloadedSources, freeBytes, makeFolder, updateSources } from '../update-sources.ts';

/** `perilbook data get NAME…`: shows sizes and licences, asks, downloads, loads. */
export const getAction: DataAction<Flags<'data get'>> = async (context, settings, names, flags) => {
  if (names.length === 0) {
    const hint = 'For example: perilbook data get natural --for FILE. perilbook data lists the sources.';
    throw usageError('Missing argument: topics, sources, natural or all', hint);
  }
  const area = flags.for === undefined ? { states: parseStates(flags.states) } : await areaOfFile(context, flags.for);
  return await getData(context, settings, names, area, flags);
};

/** Lists the sources for some names, asks, downloads and loads them.
 * @param area its states are null for the whole US; its tiles are left out where no locations were named
 * @throws PerilbookError NEEDS_APPROVAL without a terminal and without --yes; INTERRUPTED after a no, or when the download is stopped */
export async function getData(
  context: CliContext,
  settings: DataSettings,
  names: readonly string[],
  { states, tiles }: { readonly states: readonly string[] | null } & Partial<Pick<LocationsArea, 'tiles'>>,
  flags: Flags<'data get'>,
): Promise<number> {
  const { sources, leftOut } = chooseSources(names, states !== null, settings.sources);
  for (const { source, reason } of leftOut) say(context, `Without ${source.name}: ${reason}.`, 'warning');
  const all = wantedSources(sources, states, settings, tiles);
  const wanted = all.filter(({ slices }) => slices.length > 0);
  for (const { source } of all.filter(({ slices }) => slices.length === 0)) {
    const note = source.note === undefined ? '' : ` ${source.note}`;
    say(context, `Without ${source.name}: it is not published for ${states!.join(', ')}.${note}`, 'warning');
  }
  if (wanted.length === 0 && !flags['dry-run'] && !flags.json) return EXIT.complete;
  const lines = downloadPlanMessages(wanted, states, settings.mirror ?? settings.copy);
  if (flags['dry-run']) return printResult(context, flags, downloadPlanJson(wanted, states), () => lines);
  // Without --yes the plan is what the user approves: --quiet does not hide it.
  say({ ...context, isQuiet: flags.quiet === true && flags.yes === true }, lines.join('\n'));
  makeFolder(settings.downloads);
  // Twice, because the data file needs space too. Each file is checked again when its size is known.
  refuseFullDisk(join(settings.downloads, 'The download'), 2 * estimatedBytes(wanted), freeBytes);
  if (!flags.yes) {
    await requireApproval(context, {
      question: `Download ${sizeOfAll(wanted)}?`,
      unapproved: 'Nothing was downloaded: without a terminal it needs --yes',
      approve: 'Add --yes to download what is listed above.',
      refused: 'Nothing was downloaded',
      later: 'Run again when you want to.',
    });
  }
  return await obtainAndLoad(context, settings, wanted, flags);
}

/** `perilbook data update [NAME…]`: downloads and loads what changed. */
export const updateAction: DataAction<Flags<'data update'>> = async (context, settings, names, flags) => {
  const { sources, downloads } = settings;
  const chosen = names.length === 0 ? sources : chooseSources(names, true, sources).sources;
  const wanted = downloadedSources(chosen, downloads);
  if (wanted.length === 0) {
    const hint = 'For example: perilbook data get natural --for FILE';
    throw usageError('Nothing to update: no data was downloaded yet', hint);
  }
  return await obtainAndLoad(context, settings, wanted, flags);
};

async function obtainAndLoad(
  context: CliContext,
  settings: DataSettings,
  wanted: readonly WantedSource[],
  flags: Flags<'data get'>,
): Promise<number> {
  const outcomes = await updateSources(context, settings, wanted, flags.replace === true, (outcome) => {
    const level = outcome.error !== undefined ? 'error' : gotNothing(outcome) ? 'warning' : 'info';
    if (!flags.json) say(context, sourceOutcomeMessages(outcome).join('\n'), level);
  });
  if (flags.json) sayJson(context, sourceOutcomesJson(outcomes));
  noteSample(context, settings);
  const [failed] = outcomes.filter(({ error }) => error !== undefined);
  return failed === undefined ? EXIT.complete : exitCodeOfError(failed.error);
}

/** Whether the publisher has no record of what was asked. */
function gotNothing({ loaded, without = [] }: SourceOutcome): boolean {
  return without.length > 0 && (loaded?.records ?? 0) === 0;
}

/** Warns about sample data beside real data. */
function noteSample(context: CliContext, { open, file }: DataSettings): void {
  const made = describeData(open()).datasets.filter(({ sample }) => sample);
  if (made.length === 0) return;
  say(
    context,
    `${file} also holds sample data (made up): ${made.map(({ name }) => name).join(', ')}. For real data alone: --db NEW.db, or data get all.`,
  );
}
