import { PerilbookError } from '../../base/errors.ts';
import { counted, grouped } from '../../base/format-numbers.ts';
import { RATINGS, type Rating } from '../../contract/topic-values.ts';
import type { NaturalSlug } from '../../contract/topics.ts';
import { type CodeFinding, readGeoid } from '../tables/area-codes.ts';
import type { NaturalRatingRecord } from '../tables/records.ts';
import { invalidFile } from './agency-file.ts';
import { type Columns, columnsIn, numberIn, tableRows } from './agency-table.ts';
import { FEWEST_COMPARED, isLoss } from './load-losses.ts';
import { inTurn, type Loader, type LoadReporter } from './loader.ts';

/** The index's prefix for each topic (NRI data dictionary). Riverine flooding became inland flooding in v1.20.0. */
export const NRI_PREFIXES: readonly (readonly [topic: NaturalSlug, ...prefixes: string[]])[] = [
  ['avalanche', 'AVLN'],
  ['coastalFlood', 'CFLD'],
  ['coldWave', 'CWAV'],
  ['drought', 'DRGT'],
  ['earthquake', 'ERQK'],
  ['hail', 'HAIL'],
  ['heatWave', 'HWAV'],
  ['hurricane', 'HRCN'],
  ['iceStorm', 'ISTM'],
  ['landslide', 'LNDS'],
  ['lightning', 'LTNG'],
  ['riverineFlood', 'RFLD', 'IFLD'],
  ['strongWind', 'SWND'],
  ['tornado', 'TRND'],
  ['tsunami', 'TSUN'],
  ['volcano', 'VLCN'],
  ['wildfire', 'WFIR'],
  ['winterWeather', 'WNTW'],
];

/** FEMA's terms (National Risk Index metadata, December 2025) require this sentence word for word. */
export const FEMA_SENTENCE =
  "This product uses the Federal Emergency Management Agency's National Risk Index dataset API or downloadable datasets " +
  'but is not endorsed by FEMA. The Federal Government or FEMA cannot vouch for the data or analyses derived from these ' +
  "data after the data have been retrieved from the Agency's website(s).";

/** FEMA's National Risk Index, by tract or by county, as the header shows. */
export const nri: Loader = {
  describe:
    'FEMA National Risk Index: table of census tracts or of counties (CSV, March 2023 or December 2025)',
  source: 'FEMA National Risk Index',
  licence: FEMA_SENTENCE,
  loads: { name: 'nri', level: '' },
  signature: {
    columns: [
      ['STCOFIPS', 'TRACTFIPS'],
      ['NRI_ID', 'NRI_VER', 'RISK_RATNG', 'HAIL_RISKR', 'DRGT_RISKR'],
    ],
  },
  async read(files, _, report) {
    const levels = new Set<'tract' | 'county'>();
    for (const file of files) levels.add(findLevel(await columnsIn(file)));
    if (levels.size !== 1) {
      const hint = 'Load them one after the other: they do not replace each other.';
      throw new PerilbookError(
        'SERVICE_DATA',
        'Cannot load tables of tracts and of counties together',
        hint,
      );
    }
    const level = [...levels][0]!;
    let version = '';
    const seen = new Set<string>();
    const faults = new HazardFaults();
    const rates = new LossRateCheck();
    const ratingsIn = (file: string) =>
      tableRows(file, (columns) => {
        const hazards = findHazards(columns, file, report);
        const codeOf = codeReader(columns, level);
        const versionAt = columns.find('NRI_VER');
        const composite = columns.find('ALR_VALB');
        const ratingsOf = (
          cells: readonly string[],
          line: number,
        ): readonly NaturalRatingRecord[] | string => {
          if (cells.length !== columns.names.length)
            return 'the row has another number of fields than the header';
          const code = codeOf(cells);
          if ('problem' in code) return code.problem;
          const ratings = hazards.map((hazard) =>
            parseRating(code.geoid, hazard, cells, columns, (problem) => faults.add(problem, line)),
          );
          const known = ratings.filter((rating) => typeof rating !== 'string');
          if (known.length === 0) return ratings[0] as string;
          if (seen.has(code.geoid)) return `the ${level} is listed twice`;
          seen.add(code.geoid);
          version = cells[versionAt] || version;
          faults.rows += 1;
          for (const problem of ratings) if (typeof problem === 'string') faults.add(problem, line);
          rates.add(known, composite < 0 ? '' : cells[composite]!);
          return known;
        };
        return ({ line, cells }) => report.take(ratingsOf(cells, line), line, cells);
      });
    const records = async function* () {
      yield* inTurn(files, report, ratingsIn);
      faults.tell(files, report);
      rates.tell(report);
    };
    return { level, vintage: () => version, records: records() };
  },
};

/** Unusable values of single hazards: the other hazards of their rows are loaded. */
class HazardFaults {
  readonly #byProblem = new Map<string, { count: number; readonly firstLine: number }>();
  rows = 0;

  add(problem: string, line: number): void {
    const fault = this.#byProblem.get(problem);
    if (fault === undefined) this.#byProblem.set(problem, { count: 1, firstLine: line });
    else fault.count += 1;
  }

  /** Notes them. @throws PerilbookError SERVICE_DATA when all rows, or a third of many, have the same: the file has changed */
  tell(files: readonly string[], report: LoadReporter): void {
    for (const [problem, { count, firstLine }] of this.#byProblem) {
      if (
        count === this.rows ||
        (this.rows >= FEWEST_COMPARED && isLoss(this.rows, this.rows - count))
      ) {
        throw invalidFile(
          files.join(', '),
          `${problem}: ${count} of ${this.rows} rows`,
          'The file may have changed.',
        );
      }
      report.note(`${problem}: unknown in ${counted(count, 'row')}, first on line ${firstLine}.`);
    }
  }
}

/** Loss rates that differ by less are one, as are their sums. */
const SAME_RATE = 1e-4;

/** Compares the loss rates of each area with the composite rate that the index gives beside them. */
class LossRateCheck {
  #areas = 0;
  #rated = 0;
  #compared = 0;
  #differ = 0;

  add(ratings: readonly NaturalRatingRecord[], composite: string): void {
    this.#areas += 1;
    const rates = ratings.flatMap(({ lossRate }) => lossRate ?? []);
    if (rates.length === 0) return;
    this.#rated += 1;
    const whole = numberIn(composite);
    if (whole === null) return;
    this.#compared += 1;
    const sum = rates.reduce((total, rate) => total + rate, 0);
    if (Math.abs(sum - whole) > SAME_RATE * Math.abs(whole)) this.#differ += 1;
  }

  tell(report: LoadReporter): void {
    if (this.#areas === 0) return;
    if (this.#rated === 0) {
      report.note(
        'The file has no loss rates of buildings (AVLN_ALRB and so on): expected annual losses stay unknown.',
      );
    } else if (this.#compared > 0) {
      report.note(
        `In ${grouped(this.#differ)} of ${counted(this.#compared, 'area')} the loss rates of the hazards add up to another rate than the composite (ALR_VALB), by more than 1 in 10,000.`,
      );
    }
  }
}

function findLevel(columns: Columns): 'tract' | 'county' {
  return columns.find('TRACTFIPS') >= 0 ? 'tract' : 'county';
}

/** The columns of a hazard by index; -1 without loss rates. */
interface HazardColumns {
  readonly topic: NaturalRatingRecord['topic'];
  readonly rating: number;
  readonly score: number;
  readonly frequency: number;
  readonly lossRate: number;
}

function findHazards(columns: Columns, file: string, report: LoadReporter): HazardColumns[] {
  const hazards = NRI_PREFIXES.flatMap(([topic, ...prefixes]) => {
    const find = (suffix: string) =>
      columns.find(...prefixes.map((prefix) => `${prefix}_${suffix}`));
    const hazard = { topic, rating: find('RISKR'), score: find('RISKS'), frequency: find('AFREQ') };
    // Of drought, and in releases without loss rates, there is none.
    if (Math.min(hazard.rating, hazard.score, hazard.frequency) >= 0)
      return [{ ...hazard, lossRate: find('ALRB') }];
    report.note(`${file}: no columns of ${topic} (${prefixes.join(' or ')})`);
    return [];
  });
  if (hazards.length > 0) return hazards;
  const hint =
    'Use the table with all columns (AVLN_RISKR, AVLN_RISKS, AVLN_AFREQ and so on), not the summary.';
  throw invalidFile(file, 'it has no ratings, scores and frequencies of hazards', hint);
}

function codeReader(
  columns: Columns,
  level: 'tract' | 'county',
): (cells: readonly string[]) => CodeFinding {
  const stateFips = columns.find('STATEFIPS');
  const state = columns.find('STATEABBRV');
  const code = columns.need(level === 'tract' ? 'TRACTFIPS' : 'STCOFIPS');
  return (cells) =>
    readGeoid(cells[code]!, level, {
      stateFips: cells[stateFips] ?? '',
      stateAbbreviation: cells[state] ?? '',
    });
}

/** Blank (Not Applicable, Insufficient Data) is null, never 0. The shapefile's tables write -9999 for it. Undefined: not a number. */
function blankOr(cell: string): number | null | undefined {
  if (cell.trim() === '') return null;
  const number = numberIn(cell);
  return number === -9999 ? null : (number ?? undefined);
}

/** @param onFault gets what is wrong with a loss rate, without which the rating is known */
function parseRating(
  geoid: string,
  hazard: HazardColumns,
  cells: readonly string[],
  columns: Columns,
  onFault: (problem: string) => void,
): NaturalRatingRecord | string {
  const rating = cells[hazard.rating]!.trim();
  const name = columns.names[hazard.rating]!.slice(0, 4);
  if (!(RATINGS as readonly string[]).includes(rating))
    return `${name}: the rating is not one of the index's eight`;
  const isBlank = rating === 'Not Applicable' || rating === 'Insufficient Data';
  const [score, frequency] = [blankOr(cells[hazard.score]!), blankOr(cells[hazard.frequency]!)];
  if (score === undefined || frequency === undefined)
    return `${name}: its score or its frequency is not a number`;
  if (!isBlank && score === null) return `${name}: it has a rating but no score`;
  const given = hazard.lossRate < 0 ? null : blankOr(cells[hazard.lossRate]!);
  const lossRate = given === undefined || (given !== null && given < 0) ? null : given;
  if (lossRate !== given) onFault(`${name}: its loss rate is not a number from 0 on`);
  return { geoid, topic: hazard.topic, rating: rating as Rating, score, frequency, lossRate };
}
