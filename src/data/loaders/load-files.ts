import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import { censusNames } from '../../geo/us-atlas.ts';
import { countyRatingLines, readCountyRatings } from '../tables/county-ratings.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { partOfUs } from '../tables/describe-data.ts';
import { type SourceFile, WHOLE_US } from '../tables/parts.ts';
import { unitsOf } from '../tables/published-units.ts';
import type { DatasetName, Level } from '../tables/records.ts';
import { STATES, stateOf, TERRITORIES } from '../tables/states.ts';
import { hashFile, unreadable, zipPath } from './agency-file.ts';
import { geopackagePath } from './geopackage.ts';
import { inputFiles } from './input-files.ts';
import { listedStates, refuseLostShapes, refuseTooFew } from './load-losses.ts';
import { type FileRecords, type LoaderOptions, type LoadReport, LoadReporter } from './loader.ts';
import { loaderNamed } from './loader-table.ts';
import { type LoadEffects, type LoadTerms, type Reading, replaceParts } from './replace-parts.ts';

export interface LoadResult extends LoadReport {
  /** The dataset that was loaded. */
  readonly dataset: DatasetName;
  /** The level of its areas; empty for what is not of areas. */
  readonly level: Level;
  /** The date or the version of the data, in words. */
  readonly vintage: string;
  /** Its states; absent for the whole US and for boundaries. */
  readonly states?: readonly string[];
  /** Records that it brought: a row may give several, and several rows one. */
  readonly records: number;
}

export interface FilesOfPart extends Pick<Reading, 'of'> {
  /** Empty where the publisher has no record. */
  readonly files: readonly string[];
  readonly options: LoaderOptions;
}

/** Loads agency files by hand. Together they replace the loader's dataset, or with `states` its parts of these states. Loading them again
 * gives the same database; when no row is usable, the dataset stays as it was.
 * @param onRecords gets the number of records so far
 * @throws PerilbookError SERVICE_DATA for a file of another loader, without usable rows, or whose load would lose rows without permission
 * (`replace`) */
export async function loadFiles(
  database: DataDatabase,
  name: string,
  files: readonly string[],
  options: LoaderOptions,
  clock: Clock,
  onRecords: (records: number) => void = () => {},
): Promise<LoadResult> {
  const { states = null, replace = false, territories = [] } = options;
  checkStates(states);
  return await loadParts(
    database,
    name,
    [{ of: states, files, options }],
    { replace, territories },
    { clock, onRecords },
  );
}

/** Loads files as parts of a dataset; each part replaces the same stored part.
 * @param level of the stored parts, for a load without files */
export async function loadParts(
  database: DataDatabase,
  name: string,
  parts: readonly FilesOfPart[],
  terms: LoadTerms,
  effects: Omit<LoadEffects, 'report'>,
  level?: Level,
): Promise<LoadResult> {
  const report = new LoadReporter();
  const loader = loaderNamed(name);
  const files = parts.flatMap((part) => part.files);
  const isForced = parts.some(({ options }) => options.force === true);
  const shapes: Parameters<typeof refuseLostShapes>[1][number][] = [];
  const readings: (Reading & { readonly level?: Level })[] = [];
  for (const { of: states, files: own, options: said } of parts) {
    const options = { ...loader.options, ...said };
    const of = states ?? (loader.isOfUs ? WHOLE_US : null);
    const paths = await inputFiles(name, own, options);
    const read =
      own.length === 0 && options.tiles === undefined
        ? NO_RECORDS
        : await loader.read(paths, options, report);
    const info = {
      source: options.source ?? loader.source,
      licence: options.licence ?? loader.licence,
      /** Known after the last row. */
      get vintage() {
        const { drawn = 0, lost = 0 } = read.shapes ?? {};
        return [
          options.vintage ?? (read.vintage() || readDay(paths.at(-1))),
          ...(options.from === undefined ? [] : [`from ${options.from}`]),
          ...(options.tiles === undefined
            ? []
            : [`in ${counted(options.tiles.boxes.length, 'tile')}`]),
          ...(drawn > 0 && lost > 0
            ? [`without ${counted(lost, 'record')} that had no outline in degrees`]
            : []),
        ].join(', ');
      },
    };
    if (read.shapes !== undefined) shapes.push(Object.assign(read.shapes, { of }));
    const described = options.source === undefined ? await digestsOf(paths, terms) : [];
    readings.push({
      of,
      info,
      records: read.records,
      files: described,
      ...(read.level && { level: read.level }),
    });
  }
  const { name: dataset } = loader.loads;
  const loads =
    loader.loads.level || (readings.find((reading) => reading.level)?.level ?? level ?? '');
  const target = { name: dataset, level: loads };
  const loaded = await replaceParts(
    database,
    target,
    readings,
    loader.isOfUs ? { ...terms, territories: [...TERRITORIES] } : terms,
    { report, ...effects },
    (taken, outside, byState) => {
      if (files.length === 0) return;
      if (report.pages >= files.length && !isForced) throw pagesMissing(files);
      if (taken === 0)
        throw nothingUsable(files, outside > 0 ? statesGiven(parts[0]!, terms) : null, report);
      if (terms.replace === true) return;
      refuseLostShapes(dataset, shapes);
      const states = parts.filter((part) => part.files.length > 0).map((part) => part.of);
      refuseTooFew(dataset, {
        least: terms.least ?? 0,
        states,
        rows: report.read().loaded,
        byState,
      });
    },
  );
  const { outside, kept, states, units } = loaded;
  if (outside > 0)
    report.note(`Left out, outside of ${listedStates(states)}: ${counted(outside, 'record')}.`);
  if (kept.inStates > 0)
    report.note(`Unchanged, in other states: ${counted(kept.inStates, 'record')}.`);
  if (kept.inUnits > 0) report.note(noteOfUnits(dataset, kept.inUnits));
  const isWhole = states.includes(WHOLE_US);
  if (dataset === 'areas') noteBoundaries(report, countiesIn(database, `areas_${loads}`, states));
  else if (!isWhole && (terms.askedOf === undefined || parts[0]!.of === null)) {
    const noun = units === null ? '' : `${unitsOf(dataset)!.noun.many} `;
    const whole = units === null ? 'the whole US' : 'all of a state';
    const option =
      terms.askedOf === undefined
        ? `add --states ${units === null ? 'US' : states.join()}`
        : `set states: US of ${terms.askedOf} in sources.yaml`;
    const hint = parts[0]!.of === null ? ` If it covers ${whole}, ${option}.` : '';
    const covered = units === null ? states : units;
    report.note(`The data covers ${noun}${listedStates(covered)} only.${hint}`);
  }
  const ratings = dataset === 'areas' || dataset === 'nri' ? readCountyRatings(database) : null;
  if (ratings !== null) for (const line of countyRatingLines(ratings)) report.note(line);
  return {
    dataset,
    level: loads,
    vintage: [...new Set(readings.map(({ info }) => info.vintage))].filter(Boolean).join('; '),
    records: loaded.records,
    ...(isWhole || dataset === 'areas' ? {} : { states }),
    ...report.read(),
  };
}

const NO_RECORDS: FileRecords = { records: (async function* () {})(), vintage: () => '' };

function readDay(file: string | undefined): string {
  if (file === undefined) return '';
  try {
    const { mtime } = statSync(archiveOf(file));
    return `file of ${mtime.toISOString().slice(0, 10)}`;
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The file on the disk of a path into a zip or a GeoPackage. */
const archiveOf = (path: string): string =>
  zipPath(path)?.archive ?? geopackagePath(path)?.archive ?? path;

/** With the sizes of files that are loaded by hand: those of downloads are in their manifest. */
async function digestsOf(paths: readonly string[], { askedOf }: LoadTerms): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const path of paths) {
    const file = archiveOf(path);
    const size = askedOf === undefined ? { bytes: statSync(file).size } : {};
    files.push({ name: basename(path), sha256: await hashFile(file), ...size });
  }
  return files;
}

/** A file of a few counties answers nothing in the others, and `perilbook data` lists it under its state. */
function noteBoundaries(report: LoadReporter, counties: ReadonlySet<string>): void {
  const here = Map.groupBy(counties, stateOf);
  if (partOfUs([...here.keys()]) === null) return;
  const all = Map.groupBy(censusNames('counties').keys(), stateOf);
  const parts = [...here].flatMap(([state, codes]) => {
    const most = all.get(state)?.length ?? 0;
    return codes.length < most ? [`${codes.length} of ${most} counties of ${state}`] : [];
  });
  const lacking = parts.length === 0 ? '' : ` It has ${listedStates(parts)}.`;
  report.note(`The data covers ${listedStates(here.keys())} only.${lacking}`);
}

/** The counties with outlines in some states, or in the whole US. */
function countiesIn(
  database: DataDatabase,
  table: string,
  states: readonly string[],
): ReadonlySet<string> {
  const counties = database
    .prepare<[], string>(`SELECT DISTINCT substr(geoid, 1, 5) FROM ${table}`)
    .pluck()
    .all();
  return new Set(
    counties.filter((county) => states.includes(WHOLE_US) || states.includes(stateOf(county))),
  );
}

/** What a load by hand left as it was. */
function noteOfUnits(dataset: DatasetName, kept: number): string {
  const { noun, isDated } = unitsOf(dataset)!;
  const others = isDated ? 'on other days' : `in other ${noun.many}`;
  return `Unchanged, ${others}: ${counted(kept, 'record')}. To drop them, add --replace.`;
}

/** What limited a load to its states. */
function statesGiven({ of }: FilesOfPart, { askedOf }: LoadTerms): string {
  if (askedOf === undefined) return '--states';
  return typeof of === 'string'
    ? of
    : `${listedStates(of ?? [])}: states of ${askedOf} in sources.yaml`;
}

/** @param outsideOf the states in which no row lies; null if that is not why */
function nothingUsable(
  files: readonly string[],
  outsideOf: string | null,
  report: LoadReporter,
): PerilbookError {
  const [first] = report.read().rejected;
  const why =
    outsideOf !== null
      ? ` (all are outside of ${outsideOf})`
      : first
        ? ` (${first.reason}: ${first.count})`
        : '';
  const hint = 'Check that this is a file for this loader; the stored data is unchanged.';
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load ${files.join(', ')}: no row is usable${why}`,
    hint,
  );
}

/** An ArcGIS service returns some thousand features at a time; all pages but the last say that there are more. */
function pagesMissing(files: readonly string[]): PerilbookError {
  const message = `Cannot load ${files.join(', ')}: it is one page of several (exceededTransferLimit)`;
  const hint =
    'Download the other pages (resultOffset) and load them together, or add --force to load this page alone.';
  return new PerilbookError('SERVICE_DATA', message, hint);
}

function checkStates(states: LoaderOptions['states'] | null): void {
  if (states === undefined || states === null || states === 'US') return;
  const unknown = states.length === 0 ? '' : states.find((state) => !STATES.has(state));
  if (unknown === undefined) return;
  const hint = 'Example: perilbook data load wells FILE --states CA,NV';
  throw new PerilbookError('USAGE', `"${unknown}" is not the two letters of a state`, hint);
}
