import { type NaturalSlug, type ProximitySlug, TOPIC_SLUGS, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { DataDatabase } from './data-database.ts';
import { type DataVersion, oncePerVersion } from './data-version.ts';
import type { Layer } from './layers.ts';
import type { DatasetInfo, DatasetName, EventKind, Level } from './records.ts';
import { STATES, TERRITORIES } from './states.ts';

/** A loaded dataset, or one level of it. */
export interface LoadedDataset extends DatasetInfo {
  /** Areas and ratings have levels; '' for the others. */
  readonly level: Level;
  readonly rows: number;
  /** Milliseconds since the epoch. */
  readonly loadedAt: number;
}

/** The loaded data and which topics it can answer. */
export interface DataDescription {
  readonly datasets: readonly LoadedDataset[];
  /** The topics with an answer, in contract order. */
  readonly topics: readonly TopicSlug[];
  /** The other topics, each with the datasets it needs. */
  readonly unavailable: readonly { readonly topic: TopicSlug; readonly missing: readonly DatasetName[] }[];
  /** Topics that are answered without some of their records, each with the datasets that are missing. */
  readonly withoutRecords: readonly { readonly topic: TopicSlug; readonly missing: readonly DatasetName[] }[];
  /** True when any dataset is sample data: no answer may be taken for real. */
  readonly sample: boolean;
}

interface DatasetRow {
  readonly name: DatasetName;
  readonly level: Level;
  readonly source: string;
  readonly vintage: string;
  readonly licence: string;
  readonly sample: 0 | 1;
  readonly rows: number;
  readonly loaded_at: number;
  readonly states: string;
}

/** Lists the loaded datasets by name, and what follows from them. */
export function describeData(database: DataDatabase): DataDescription {
  const rows = database.prepare<[], DatasetRow>('SELECT * FROM datasets ORDER BY name, level').all();
  const loaded = new Set(rows.map(({ name }) => name));
  const missingOf = (namesOf: (topic: TopicSlug) => readonly DatasetName[]) =>
    TOPIC_SLUGS.map((topic) => ({ topic, missing: namesOf(topic).filter((name) => !loaded.has(name)) }));
  const needs = missingOf(needsOf);
  const isAnswered = new Set(needs.filter(({ missing }) => missing.length === 0).map(({ topic }) => topic));
  return {
    datasets: rows.map(({ sample, loaded_at, states: listed, ...row }) => {
      const states = row.name === 'areas' ? partOfUs(statesOfAreas(database, row.level)) : listed.split(',');
      return {
        ...row,
        sample: sample === 1,
        loadedAt: loaded_at,
        ...(states === null || states[0] === '' ? {} : { states }),
      };
    }),
    topics: [...isAnswered],
    unavailable: needs.filter(({ missing }) => missing.length > 0),
    withoutRecords: missingOf(eventDatasetsOf).filter(
      ({ topic, missing }) => missing.length > 0 && isAnswered.has(topic),
    ),
    sample: rows.some(({ sample }) => sample === 1),
  };
}

/** The states with boundaries, in alphabetical order. They are read from the boundaries themselves: loads never list them. */
export function statesOfAreas(database: DataDatabase, level: string): string[] {
  return database.prepare<[], string>(`SELECT DISTINCT state FROM areas_${level} ORDER BY state`).pluck().all();
}

/** Null for the whole US: all 50 states and DC. The territories are not in every file of the whole US. */
export function partOfUs(states: readonly string[]): readonly string[] | null {
  const here = new Set(states);
  return [...STATES].every((state) => here.has(state) || TERRITORIES.has(state)) ? null : states;
}

/** Makes the function that tells whether any dataset is sample data. */
export function createSampleWatch(database: DataDatabase, versionOf: DataVersion): () => boolean {
  const anySample = database.prepare<[], 0 | 1>('SELECT EXISTS (SELECT 1 FROM datasets WHERE sample = 1)').pluck();
  return oncePerVersion(versionOf, () => anySample.get() === 1);
}

/** The events in the details of five topics. */
const EVENTS: Readonly<Partial<Record<NaturalSlug, readonly EventKind[]>>> = {
  earthquake: ['earthquake'],
  hail: ['hail'],
  hurricane: ['hurricane'],
  tornado: ['tornado'],
  wildfire: ['wildfire.current', 'wildfire.historical', 'wildfire.perimeters'],
};

/** The datasets that a topic cannot be answered without. `areas` is always one, because it defines what is in the US. A
 * natural topic's events are not: a rating without records is still an answer. */
export function needsOf(topic: TopicSlug): readonly DatasetName[] {
  return ['areas', ...ownNeedsOf(topic)];
}

function ownNeedsOf(topic: TopicSlug): DatasetName[] {
  switch (topicOf(topic).category) {
    case 'natural':
      return ['nri'];
    case 'proximity':
      return [`sites:${topic as ProximitySlug}`];
    case 'measurement':
      return [topic === 'airQuality' || topic === 'radon' ? topic : 'readings'];
  }
}

/** The datasets of the events in a topic's details. */
export function eventDatasetsOf(topic: TopicSlug): readonly DatasetName[] {
  return topicOf(topic).category === 'proximity' ? [] : layersOf(topic);
}

/** The layers that are searched for a topic: its sites, or its events in the order of its `countColumns`. */
export function layersOf(topic: TopicSlug): readonly Layer[] {
  if (topicOf(topic).category === 'proximity') return [`sites:${topic as ProximitySlug}`];
  return (EVENTS[topic as NaturalSlug] ?? []).map((event): Layer => `records:${event}`);
}
