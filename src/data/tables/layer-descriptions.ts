import { createHash } from 'node:crypto';
import type { LayerDescription } from '../../contract/layers/layer-description.ts';
import { allLayers, isBuiltIn, TOPICS } from '../../contract/topics.ts';
import { datasetOfLayer } from '../zones/zone-layers.ts';
import type { DataDatabase } from './data-database.ts';
import type { DatasetName } from './records.ts';

/* Which description of a layer its records were loaded by. A member that is in neither list below changes nothing that is stored: titles,
 * addresses, and what only the note says. */

/** Decide what a load stores: after a change the records are those of another layer. */
function recordMembers(layer: LayerDescription): unknown {
  if (layer.kind === 'points') {
    const { lat, lng, vintage, sources = [] } = layer;
    return [lat, lng, vintage, sources.map(({ where }) => where)];
  }
  const {
    area,
    class: own,
    columns,
    nothing,
    overlaps,
    sheets,
    sources = [],
    study,
    vintage,
  } = layer;
  const { show: _, ...ofClass } = own ?? {};
  return [
    area && { level: area.level, from: area.from },
    { ...ofClass },
    Object.entries(columns ?? {}),
    nothing,
    typeof overlaps === 'object' ? overlaps : null,
    sheets,
    sources.map(({ where, set }) => ({ where, set })),
    study,
    vintage,
  ];
}

/** Decide what is answered from these records. */
function answerMembers(layer: LayerDescription): unknown {
  if (layer.kind === 'points') return [layer.within_m, layer.states];
  const { class: own, classes, none, not_studied, unknown_class, outside, overlaps } = layer;
  const { states, count, gap_m, distance_m } = layer;
  return [
    ...[own?.show, classes, none, not_studied, unknown_class, outside, overlaps],
    ...[states, count, gap_m, distance_m],
  ];
}

const digestOf = (members: unknown): string =>
  createHash('sha256').update(JSON.stringify(members)).digest('hex').slice(0, 16);

interface StoredDescription {
  readonly dataset: DatasetName;
  readonly records: string;
  readonly answers: string;
  readonly changedAt: number;
}

/** The descriptions by which layers were loaded, by the names of their datasets. */
function storedDescriptions(database: DataDatabase): ReadonlyMap<DatasetName, StoredDescription> {
  const rows = database
    .prepare<[], StoredDescription>(
      'SELECT dataset, records, answers, changed_at AS changedAt FROM layers',
    )
    .all();
  return new Map(rows.map((row) => [row.dataset, row]));
}

/** Keeps by which description a dataset was loaded; nothing for one that is no layer. Call it in the transaction that replaces it. */
export function writeDescription(database: DataDatabase, dataset: DatasetName, now: number): void {
  const layer = allLayers().find((one) => datasetOfLayer(one) === dataset);
  if (layer === undefined) return;
  database
    .prepare('INSERT OR REPLACE INTO layers VALUES (?, ?, ?, ?)')
    .run(dataset, digestOf(recordMembers(layer)), digestOf(answerMembers(layer)), now);
}

/** The layers of a user's own whose records were loaded by another description: they must be loaded again before they answer. The layers
 * that Perilbook brings change with its versions, whose migrations see to what is stored. */
export function outdatedDatasets(database: DataDatabase): ReadonlySet<DatasetName> {
  const stored = storedDescriptions(database);
  const own = TOPICS.flatMap((topic) => (isBuiltIn(topic) ? [] : [topic.layer!]));
  return new Set(
    own
      .filter((layer) => {
        const before = stored.get(datasetOfLayer(layer));
        return before !== undefined && before.records !== digestOf(recordMembers(layer));
      })
      .map(datasetOfLayer),
  );
}

/** Since when the layers are answered as now, by their datasets: now, where the description is another than it was last. */
export function describedSince(
  database: DataDatabase,
  now: number,
): ReadonlyMap<DatasetName, number> {
  const stored = storedDescriptions(database);
  return new Map(
    allLayers().flatMap((layer) => {
      const dataset = datasetOfLayer(layer);
      const before = stored.get(dataset);
      if (before === undefined) return [];
      const isSame = before.answers === digestOf(answerMembers(layer));
      return [[dataset, isSame ? before.changedAt : now] as const];
    }),
  );
}

/** Keeps that descriptions have changed, so that answers from before stay stale. @returns whether any has */
export function noteDescriptions(database: DataDatabase, now: number): boolean {
  const stored = storedDescriptions(database);
  const changed = allLayers().filter((layer) => {
    const before = stored.get(datasetOfLayer(layer));
    return before !== undefined && before.answers !== digestOf(answerMembers(layer));
  });
  if (database.readonly) return changed.length > 0;
  const update = database.prepare(
    'UPDATE layers SET answers = ?, changed_at = ? WHERE dataset = ?',
  );
  for (const layer of changed)
    update.run(digestOf(answerMembers(layer)), now, datasetOfLayer(layer));
  return changed.length > 0;
}
