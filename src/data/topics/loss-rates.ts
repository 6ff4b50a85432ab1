import { memo } from '../../base/memo.ts';
import { NATURAL_SLUGS, type NaturalSlug, type TopicSlug } from '../../contract/topics.ts';
import type { Area } from '../tables/area-finder.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import type { LoadedDataset } from '../tables/describe-data.ts';

/** Under this name the store keeps the loss rates of a place. It is no topic: rates are asked for by a setting of the job, and no service
 * sells them. */
export const LOSS_RATES = 'loss rates' as TopicSlug;

/** What the store keeps under it: how many rates there are, and the rates of all hazards. The first field is never null, as the store reads
 * answers fastest. */
export const LOSS_FIELDS = 1 + NATURAL_SLUGS.length;

/** The loss rates of a place for all hazards, in the order of `NATURAL_SLUGS`; null where the index has none. */
export type LossRates = readonly (number | null)[];

/** The most areas with cached rates: about 15 MB. */
const CACHED_AREAS = 50_000;

/** Makes the function that finds the loss rates of an area: of a hazard that of the tract if the tract has its rating, else that of its
 * county. Call it within a transaction. */
export function createLossRates(
  database: DataDatabase,
  versionOf: DataVersion,
): (area: Area) => LossRates {
  const [ofTract, ofCounty] = (['tract', 'county'] as const).map((level) => {
    const select = database.prepare<[string], { topic: NaturalSlug; rate: number | null }>(
      `SELECT topic, loss_rate AS rate FROM ratings_${level} WHERE geoid = ?`,
    );
    return (geoid: string) => new Map(select.all(geoid).map(({ topic, rate }) => [topic, rate]));
  });
  const ratesOf = oncePerVersion(versionOf, () =>
    memo((geoid: string) => {
      const [own, rest] = [ofTract!(geoid), ofCounty!(geoid.slice(0, 5))];
      return NATURAL_SLUGS.map(
        (topic) => own.get(topic) ?? (own.has(topic) ? null : (rest.get(topic) ?? null)),
      );
    }, CACHED_AREAS),
  );
  return ({ geoid }) => ratesOf()(geoid);
}

/** Whether some rating has a loss rate: data that an earlier version loaded has none, nor has a file without these columns. */
export function hasLossRates(database: DataDatabase): boolean {
  const sql = (['tract', 'county'] as const)
    .map((level) => `SELECT 1 FROM ratings_${level} WHERE loss_rate IS NOT NULL`)
    .join(' UNION ALL ');
  return database.prepare<[], number>(`SELECT EXISTS (${sql})`).pluck().get() === 1;
}

/** The vintages of the index: `nri December 2025`. */
export function lossVintages(datasets: readonly LoadedDataset[]): string {
  const vintages = datasets.filter(({ name }) => name === 'nri').map(({ vintage }) => vintage);
  return ['nri', [...new Set(vintages)].filter(Boolean).join(' and ')].filter(Boolean).join(' ');
}
