import { PerilbookError } from '../../base/errors.ts';
import { type PlaceTiles, placeTiles } from '../../data/download/place-tiles.ts';
import { stateNamed } from '../../data/tables/states.ts';
import { statesNear } from '../../data/tables/states-near.ts';
import { SEARCH_RADII } from '../../data/topics/coverage.ts';
import { locationOf } from '../../geo/coordinates.ts';
import type { Job } from '../../job/settings.ts';
import { openJobInput, scanRows } from '../../run/scan/scan-input.ts';
import { usageError } from '../options/command.ts';
import type { CliContext } from './context.ts';
import { readJob } from './job-of-options.ts';

/** The largest search radius, that of earthquakes and storm tracks: a search near a border needs both sides. */
const MARGIN_METERS = Math.max(...Object.values(SEARCH_RADII));

export interface LocationsArea {
  /** Their states, and the states within the margin. */
  readonly states: readonly string[];
  readonly tiles: PlaceTiles;
}

/** Where the locations in a file are, or those in the input of a job file.
 * @throws PerilbookError INPUT_* when the file cannot be read, or has no location in the US */
export async function areaOfFile(context: CliContext, file: string): Promise<LocationsArea> {
  const job = readJob(context, [file], {});
  const area = await areaOfJob(context, job);
  if (area.states.length > 0) return area;
  const hint = 'Check the columns of the coordinates.';
  throw new PerilbookError('INPUT_UNREADABLE', `No row of "${file}" is in the US`, hint, { file });
}

/** Where the locations in a job's input are; no states if none lies in the US. @throws INPUT_* */
export async function areaOfJob(context: CliContext, job: Job): Promise<LocationsArea> {
  const { stdin, stdout, interrupt } = context;
  const rowFile = await openJobInput(job, { stdin, stdout, interrupt });
  using scanned = await scanRows(rowFile, job);
  const { cells } = scanned;
  const locations = cells.cells(0, cells.size).map(locationOf);
  return { states: statesNear(locations, MARGIN_METERS), tiles: placeTiles(locations) };
}

/** States in any spelling (VA, Virginia, 51), with commas between; null for the whole US. @throws PerilbookError USAGE */
export function parseStates(text: string | undefined): string[] | null {
  if (text === undefined || text.trim().toUpperCase() === 'US') return null;
  const states = text.split(',').map((name) => {
    const state = stateNamed(name);
    if (state !== null) return state;
    throw usageError(`--states: "${name.trim()}" is not a state`, 'For example: --states VA,MD');
  });
  return [...new Set(states)].sort();
}
