import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { CA_FIRE_ZONES } from './layers/ca-fire-zones.ts';
import { COASTAL_BARRIERS } from './layers/coastal-barriers.ts';
import { FLOOD_ZONES } from './layers/flood-zones.ts';
import type { LayerDescription } from './layers/layer-description.ts';

/* The 37 topics of the service's contract in its order, those that only public data has, and the layers that are described, with everything
 * that follows from each. The only list of them. */

export type Category = 'natural' | 'proximity' | 'measurement';

/** The content of `details`: nothing; an array of records; an object; wildfire's three arrays; a GeoJSON FeatureCollection. */
export type DetailsKind = 'none' | 'array' | 'object' | 'wildfire' | 'features';

export type AreaLevel = 'tract' | 'county';

/** How often the provider refreshes a topic. `unstated`: the contract names no interval. */
export type Cadence = 'daily' | 'near-real-time' | 'rolling' | 'release' | 'static' | 'unstated';

export interface Topic {
  readonly slug: TopicSlug;
  readonly title: string;
  readonly category: Category;
  readonly details: DetailsKind;
  readonly cadence: Cadence;
  /** The area within which its value is the same: natural ratings are scored by tract, `airQuality` and `radon` are given by county
   * (docs/developer/service-api.md, 4.1, 4.6 and 4.8). Null: each place has its own value, as with a monitor's reading or the zone of a map. */
  readonly area: AreaLevel | null;
  /** The full names of columns that count the records of `details`; the other columns follow from the category. */
  readonly countColumns: readonly CountColumn[];
  /** The description of a layer; null for the topics of the contract. */
  readonly layer: LayerDescription | null;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long an answer is fresh by default, in seconds; `null` is forever. These are the contract's intervals, and a
 * month where it states none, as for the agencies' rolling lists. */
export const TIME_TO_LIVE: Readonly<Record<Cadence, number | null>> = {
  daily: DAY,
  'near-real-time': HOUR,
  rolling: 30 * DAY,
  release: 365 * DAY,
  static: null,
  unstated: 30 * DAY,
};

type TopicRow = readonly [
  slug: string,
  title: string,
  details: DetailsKind,
  cadence: Cadence,
  ...countColumns: string[],
];

const NATURAL = [
  ['avalanche', 'Avalanche', 'none', 'release'],
  ['coastalFlood', 'Coastal Flood', 'none', 'release'],
  ['coldWave', 'Cold Wave', 'none', 'release'],
  ['drought', 'Drought', 'none', 'release'],
  ['earthquake', 'Earthquake', 'object', 'release', 'earthquake_records'],
  ['hail', 'Hail', 'array', 'release', 'hail_reports'],
  ['heatWave', 'Heat Wave', 'none', 'release'],
  ['hurricane', 'Hurricane', 'array', 'release', 'hurricane_tracks'],
  ['iceStorm', 'Ice Storm', 'none', 'release'],
  ['landslide', 'Landslide', 'none', 'release'],
  ['lightning', 'Lightning', 'none', 'release'],
  ['riverineFlood', 'Riverine Flood', 'none', 'release'],
  ['strongWind', 'Strong Wind', 'none', 'release'],
  ['tornado', 'Tornado', 'array', 'release', 'tornado_reports'],
  ['tsunami', 'Tsunami', 'none', 'release'],
  ['volcano', 'Volcanic Activity', 'none', 'release'],
  [
    'wildfire',
    'Wildfire',
    'wildfire',
    'release',
    'wildfire_current',
    'wildfire_historical',
    'wildfire_perimeters',
  ],
  ['winterWeather', 'Winter Weather', 'none', 'release'],
] as const satisfies readonly TopicRow[];

const PROXIMITY = [
  ['brownfield', 'Brownfields', 'features', 'rolling'],
  ['superfund', 'Superfund Sites', 'features', 'rolling'],
  ['toxicReleaseInventory', 'Toxic Release Inventory', 'features', 'rolling'],
  ['solidWasteLandfill', 'Landfills', 'features', 'unstated'],
  ['ustFacility', 'UST Facilities', 'features', 'unstated'],
  ['ustRelease', 'UST Releases', 'features', 'unstated'],
  ['oilGasWell', 'Oil, Gas & Fracking Wells', 'features', 'unstated'],
  ['naturalGasPipeline', 'Natural Gas Pipelines', 'features', 'unstated'],
  ['powerPlant', 'Power Plants', 'features', 'unstated'],
  ['nuclearReactors', 'Nuclear Reactors', 'features', 'static'],
  ['highVoltageLine', 'High Voltage Lines', 'features', 'unstated'],
  ['cellTower', 'Registered Cell Towers', 'features', 'unstated'],
  ['alternativeFuels', 'EV Charging Stations', 'features', 'daily'],
  ['park', 'Parks', 'features', 'unstated'],
] as const satisfies readonly TopicRow[];

type MeasurementRow = readonly [
  slug: string,
  title: string,
  cadence: Cadence,
  area: 'county' | null,
];

const MEASUREMENTS = [
  ['airQuality', 'Air Quality', 'unstated', 'county'],
  ['ozone', 'Ozone', 'near-real-time', null],
  ['pm25', 'PM2.5', 'near-real-time', null],
  ['pm10', 'PM10', 'near-real-time', null],
  ['radon', 'Radon', 'unstated', 'county'],
] as const satisfies readonly MeasurementRow[];

/** Measurements of public data that the contract lacks, and no service sells: none yet. They come after those of the contract. */
const PUBLIC_MEASUREMENTS = [] as const satisfies readonly MeasurementRow[];

type Measurement = (typeof MEASUREMENTS)[number] | (typeof PUBLIC_MEASUREMENTS)[number];

export type NaturalSlug = (typeof NATURAL)[number][0];
export type ProximitySlug = (typeof PROXIMITY)[number][0];
export type MeasurementSlug = Measurement[0];
export type PaidMeasurementSlug = (typeof MEASUREMENTS)[number][0];
/** The measurements with a value for each county. */
export type CountySlug = Extract<Measurement, readonly [...string[], 'county']>[0];
/** The topics whose values are concentrations at a monitor. */
export const POLLUTANTS = ['ozone', 'pm25', 'pm10'] as const satisfies readonly MeasurementSlug[];
export type PollutantSlug = (typeof POLLUTANTS)[number];

/** A layer: no paid bundle returns it. */
export type LayerSlug = 'floodZone' | (string & { readonly isLayer: true });

/** A table of what all pollutants have alike. */
export function ofPollutants<Value>(
  make: (slug: PollutantSlug) => Value,
): Readonly<Record<PollutantSlug, Value>> {
  return Object.fromEntries(POLLUTANTS.map((slug) => [slug, make(slug)])) as Record<
    PollutantSlug,
    Value
  >;
}

export type CountColumn = CountsOf<(typeof NATURAL)[number]>;
type CountsOf<Row> = Row extends readonly [string, string, DetailsKind, Cadence, ...infer Columns]
  ? Columns[number]
  : never;

export type TopicSlug = NaturalSlug | ProximitySlug | MeasurementSlug | LayerSlug;

function topicOfRow(
  category: Category,
  area: AreaLevel | null,
  [slug, title, details, cadence, ...countColumns]: TopicRow,
): Topic {
  return {
    slug: slug as TopicSlug,
    title,
    category,
    details,
    cadence,
    area,
    countColumns: countColumns as CountColumn[],
    layer: null,
  };
}

function topicOfMeasurement([slug, title, cadence, area]: MeasurementRow): Topic {
  return topicOfRow('measurement', area, [slug, title, 'none', cadence]);
}

/** The topics of the paid contract, in its order. */
export const PAID_TOPICS: readonly Topic[] = [
  ...NATURAL.map((row) => topicOfRow('natural', 'tract', row)),
  ...PROXIMITY.map((row) => topicOfRow('proximity', null, row)),
  ...MEASUREMENTS.map(topicOfMeasurement),
];

const PUBLIC_TOPICS: readonly Topic[] = PUBLIC_MEASUREMENTS.map(topicOfMeasurement);

/** The layers that groups of topics have, and that our own service answers. */
const BUILT_IN: readonly LayerDescription[] = [FLOOD_ZONES];

/** Layers that Perilbook brings, and that are asked for by name and looked up as a user's own are: the commands and the library declare them. */
const BROUGHT = [CA_FIRE_ZONES, COASTAL_BARRIERS] as const satisfies readonly LayerDescription[];
export type BroughtLayer = (typeof BROUGHT)[number]['layer'];

/** More topics do not fit a set of them (`TopicSet`). */
const MOST_TOPICS = 53;

/** Of a user's own. */
export const MOST_LAYERS =
  MOST_TOPICS - PAID_TOPICS.length - PUBLIC_TOPICS.length - BUILT_IN.length - BROUGHT.length;

/** Under this name threads get the layers that were declared. */
const DECLARED = 'perilbook.layers';

/** All topics: the order of columns and lists everywhere. It grows with the layers that are declared. */
export const TOPICS: readonly Topic[] = [];
export const TOPIC_SLUGS: readonly TopicSlug[] = [];
const BY_SLUG = new Map<string, Topic>();
const INDEX = new Map<TopicSlug, number>();

listTopics((getEnvironmentData(DECLARED) ?? []) as unknown as readonly LayerDescription[]);

/** Declares the layers of a user's own, in place of those that were declared before, in this process and the threads that it starts. One
 * with the name of a built-in layer takes its place. */
export function declareLayers(layers: readonly LayerDescription[]): void {
  setEnvironmentData(DECLARED, layers as never);
  listTopics(layers);
}

/** The layers of a user's own, and those that Perilbook brings: of two with one name, the user's. */
export function withBrought(layers: readonly LayerDescription[]): readonly LayerDescription[] {
  const own = new Set<string>(layers.map(({ layer }) => layer));
  return [...BROUGHT.filter(({ layer }) => !own.has(layer)), ...layers];
}

function listTopics(declared: readonly LayerDescription[]): void {
  const names = new Set(declared.map(({ layer }) => layer));
  const builtIn = BUILT_IN.filter(({ layer }) => !names.has(layer));
  const all = [...PAID_TOPICS, ...PUBLIC_TOPICS, ...[...builtIn, ...declared].map(topicOfLayer)];
  (TOPICS as Topic[]).splice(0, TOPICS.length, ...all);
  (TOPIC_SLUGS as TopicSlug[]).splice(0, TOPIC_SLUGS.length, ...all.map(({ slug }) => slug));
  BY_SLUG.clear();
  INDEX.clear();
  for (const [index, topic] of all.entries()) {
    BY_SLUG.set(topic.slug, topic);
    INDEX.set(topic.slug, index);
  }
}

function topicOfLayer(layer: LayerDescription): Topic {
  return {
    slug: layer.layer as LayerSlug,
    title: layer.title,
    ...(layer.kind === 'points'
      ? ({ category: 'proximity', details: 'features' } as const)
      : ({ category: 'measurement', details: 'none' } as const)),
    cadence: 'rolling',
    area: areaOfLayer(layer),
    countColumns: [],
    layer,
  };
}

/** The kind of area whose places have one answer; a location does not tell its ZIP code. */
function areaOfLayer(layer: LayerDescription): Topic['area'] {
  const level = layer.kind === 'areas' ? layer.area!.level : 'zip';
  return level === 'zip' ? null : level;
}

/** Of which areas a layer says something, by the codes of the rows' own columns; null for another topic, and where no column is named. */
export function rowCodesOf(slug: TopicSlug): RowCodes | null {
  const layer = BY_SLUG.get(slug)?.layer ?? null;
  const { level, row } = (layer?.kind === 'areas' ? layer.area : null) ?? {};
  return level === undefined || row === undefined ? null : { level, columns: row };
}

/** The columns of a user's files that may have the code of an area, and the kind of area. */
export interface RowCodes {
  readonly level: 'county' | 'tract' | 'zip';
  readonly columns: readonly string[];
}

/** Whether a topic is no layer of a user's own. */
export const isBuiltIn = ({ layer }: Topic): boolean => layer === null || BUILT_IN.includes(layer);

/** Whether a topic is a layer that Perilbook brings, and that is asked for by name. */
export const isBrought = ({ layer }: Topic): boolean =>
  layer !== null && (BROUGHT as readonly LayerDescription[]).includes(layer);

/** Whether a service may sell a topic: those of the contract, and flood zones, which our own service answers, too. */
export const isSold = ({ slug }: Topic): boolean =>
  PAID_SLUGS.includes(slug) || slug === 'floodZone';

/** The described layers. */
export function allLayers(): readonly LayerDescription[] {
  return TOPICS.flatMap(({ layer }) => layer ?? []);
}

/** Whether a description says what a topic is. */
export function isLayerTopic(slug: TopicSlug): slug is LayerSlug {
  return (BY_SLUG.get(slug)?.layer ?? null) !== null;
}

/** Whether a topic's value is the zone of a map that holds a place. */
export function isZoneTopic(slug: TopicSlug): slug is LayerSlug {
  return isLayerTopic(slug) && BY_SLUG.get(slug)!.layer!.kind !== 'points';
}

/** The radius of a layer of places, in metres; null for another topic. */
export function radiusOfLayer(slug: string): number | null {
  const layer = BY_SLUG.get(slug)?.layer ?? null;
  return layer?.kind === 'points' ? layer.within_m : null;
}

export const PAID_SLUGS: readonly TopicSlug[] = PAID_TOPICS.map((topic) => topic.slug);

export const NATURAL_SLUGS: readonly NaturalSlug[] = NATURAL.map(([slug]) => slug);
export const PROXIMITY_SLUGS: readonly ProximitySlug[] = PROXIMITY.map(([slug]) => slug);

/** Whether a text is the name of a topic; a declared layer is one. */
export function isTopicSlug(text: string): text is TopicSlug {
  return BY_SLUG.has(text);
}

/** The topic of a name. A layer has one while it is declared. */
export function topicOf(slug: TopicSlug): Topic {
  return BY_SLUG.get(slug)!;
}

/** The place of a topic in the order. */
export function indexOfTopic(slug: TopicSlug): number {
  return INDEX.get(slug)!;
}
