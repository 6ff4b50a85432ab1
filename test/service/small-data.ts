import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import type { Geometry, Polygon } from 'geojson';
import type { Clock } from '../../src/base/clock.ts';
import { SUBSCRIPTIONS, type Subscription } from '../../src/contract/subscriptions.ts';
import {
  NATURAL_SLUGS,
  POLLUTANTS,
  PROXIMITY_SLUGS,
  TOPIC_SLUGS,
} from '../../src/contract/topics.ts';
import { type DataDatabase, openDataDatabase } from '../../src/data/tables/data-database.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import {
  type AreaRecord,
  type CountyDataset,
  type Dataset,
  type DatasetInfo,
  type DatasetName,
  EVENTS,
  type EventRecord,
  type NaturalRatingRecord,
  type ZoneRecord,
} from '../../src/data/tables/records.ts';
import {
  type AccountsDatabase,
  accountsFileFor,
  openAccounts,
  sqliteAccounts,
} from '../../src/service/accounts/open-accounts.ts';
import {
  type RunningService,
  type ServiceOptions,
  startService,
} from '../../src/service/http/start-service.ts';
import { sharedFolder, temporaryFolder } from '../temporary-folder.ts';
import { createAccount, createKey, driverOf, usage } from './file-accounts.ts';

/** 2026-03-15, 12:00:00.250 UTC: in the middle of a month, a quarter of a second past a full minute. */
export const NOON = Date.UTC(2026, 2, 15, 12, 0, 0, 250);

/** A clock that stands still until it is set. */
export class StillClock implements Clock {
  at: number;

  constructor(at: number = NOON) {
    this.at = at;
  }

  now(): number {
    return this.at;
  }

  sleep(): Promise<void> {
    throw new Error('Nothing in the service sleeps');
  }
}

/** In the tract 31001000100 of the county 31001. */
export const HERE = { lat: 40.25, lng: -99.75 };
/** In the county 31003, which has no tracts. */
export const NEXT_DOOR = { lat: 40.5, lng: -98.5 };
/** In the Pacific. */
export const AT_SEA = { lat: 30, lng: -140 };

/** A square of `size` degrees whose south-west corner is given. */
export function square(lng: number, lat: number, size: number): Polygon {
  const [west, south, east, north] = [lng, lat, lng + size, lat + size];
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ];
  return { type: 'Polygon', coordinates: [[...corners, corners[0]!]] };
}

export function info(name: DatasetName, sample = false): DatasetInfo {
  return { name, source: 'https://example.org/data', vintage: '2026', licence: '', sample };
}

export const AREAS: readonly AreaRecord[] = [
  area('31001', -100, 40, 1),
  area('31001000100', -100, 40, 0.5),
  area('31001000200', -99.5, 40, 0.5),
  area('31001000300', -100, 40.5, 0.5),
  area('31001000400', -99.5, 40.5, 0.5),
  area('31003', -99, 40, 1),
];

function area(geoid: string, lng: number, lat: number, size: number): AreaRecord {
  const level = geoid.length === 11 ? 'tract' : 'county';
  return { geoid, level, name: `Area ${geoid}`, state: 'NE', geometry: square(lng, lat, size) };
}

export const RATINGS: readonly NaturalRatingRecord[] = NATURAL_SLUGS.flatMap((topic) => [
  { geoid: '31001000100', topic, rating: 'Relatively High', score: 81.5, frequency: 0.25 },
  { geoid: '31003', topic, rating: 'Not Applicable', score: null, frequency: null },
]);

export function feature(geometry: Geometry, properties: Record<string, unknown> = {}): EventRecord {
  return { geometry, properties };
}

export function point(
  lng: number,
  lat: number,
  properties: Record<string, unknown> = {},
): EventRecord {
  return feature({ type: 'Point', coordinates: [lng, lat] }, properties);
}

/** The SQL that leaves datasets parts of some states (`CA,NV`), or of the whole US. */
export function coverOnly(states: string, ...datasets: readonly string[]): string {
  const [named, listed] = [datasets, states.split(',')].map((texts) =>
    texts.map((text) => `'${text}'`).join(),
  );
  return `
    INSERT OR REPLACE INTO parts
      SELECT dataset, level, value, asked_of, reach, source, files, vintage, licence, rows, state_rows, loaded_at, units, extent, territories
      FROM (SELECT * FROM parts WHERE dataset IN (${named}) GROUP BY dataset, level), json_each('["${states.replaceAll(',', '","')}"]');
    DELETE FROM parts WHERE dataset IN (${named}) AND state NOT IN (${listed});`;
}

/** A zone of a study of the county 31001. */
export function floodZone(code: string, geometry: Polygon): ZoneRecord {
  const facts = { baseElevationFt: null, baseElevationDatum: null, depthFt: null };
  return {
    kind: 'zone',
    geoid: '31001C',
    code,
    detail: '',
    facts: { special: '', facts },
    geometry,
  };
}

/** Everything, small: two features of each layer near HERE and one far from it. */
export function deliveries(measuredAt = NOON - 3_600_000): Dataset[] {
  const near = [
    point(-99.751, 40.251, { name: 'A "quoted" name, µ' }),
    point(-99.752, 40.252, { name: 'second' }),
  ];
  const records = [...near, point(-80, 30)];
  const days = {
    ...{
      daysWithAqi: 365,
      goodDays: 300,
      moderateDays: 60,
      unhealthyForSensitiveGroupsDays: 4,
      unhealthyDays: 1,
    },
    ...{ veryUnhealthyDays: 0, hazardousDays: 0, maxAqi: 160, medianAqi: 42 },
  };
  const counties = ['31001', '31003'];
  const ofCounties: {
    readonly [Kind in CountyDataset]: Extract<Dataset, { readonly kind: Kind }>;
  } = {
    airQuality: {
      kind: 'airQuality',
      info: info('airQuality'),
      records: counties.map((countyGeoid) => ({ countyGeoid, year: 2025, ...days })),
    },
    radon: {
      kind: 'radon',
      info: info('radon'),
      records: counties.map((countyGeoid) => ({ countyGeoid, zone: 2 as const })),
    },
  };
  return [
    { kind: 'areas', info: info('areas'), records: AREAS },
    { kind: 'nri', info: info('nri'), records: RATINGS },
    ...PROXIMITY_SLUGS.map(
      (topic): Dataset => ({ kind: 'sites', topic, info: info(`sites:${topic}`), records }),
    ),
    ...Object.values(EVENTS)
      .flat()
      .map(
        (event): Dataset => ({ kind: 'records', event, info: info(`records:${event}`), records }),
      ),
    ...Object.values(ofCounties),
    {
      kind: 'zones',
      info: info('floodZones'),
      records: [
        floodZone('AE', square(-100, 40, 1)),
        floodZone('AREA NOT INCLUDED', square(-99, 40, 1)),
      ],
    },
    {
      kind: 'readings',
      info: info('readings'),
      records: POLLUTANTS.map((pollutant) => ({
        pollutant,
        monitor: `monitor of ${pollutant}`,
        lat: 40.3,
        lng: -99.7,
        concentration: 12.5,
        measuredAt,
      })),
    },
  ];
}

const RELEASES = new WeakMap<TestContext, AsyncDisposableStack>();

/** Releases what a test took when it ends, the last taken first: `t.after` goes the other way round. */
export function releaseLater(t: TestContext, release: () => unknown): void {
  const releases = RELEASES.get(t) ?? new AsyncDisposableStack();
  releases.defer(async () => void (await release()));
  if (RELEASES.has(t)) return;
  RELEASES.set(t, releases);
  t.after(() => releases.disposeAsync());
}

/** The path of a database file in a directory that is removed when the test ends. */
export function databaseFile(t: TestContext): string {
  return join(
    temporaryFolder({ after: (release: () => void) => releaseLater(t, release) }),
    'data.db',
  );
}

/** Opens a data file with `deliveries(measuredAt)`, loaded now. */
export function openSmallData(
  t: TestContext,
  file: string,
  clock: Clock,
  measuredAt = NOON - 3_600_000,
): DataDatabase {
  copyFileSync(loadedDeliveries(), file);
  const database = openDatabase(t, file);
  database.prepare('UPDATE datasets SET loaded_at = ?').run(clock.now());
  database.prepare('UPDATE reading_boxes SET measured_at = ?').run(measuredAt);
  return database;
}

/** A data file with `deliveries()`. Loading them takes 50 to 90 ms of processor time, and hundreds of tests need them. */
function loadedDeliveries(): string {
  const file = join(sharedFolder(), 'small-data.db');
  if (existsSync(file)) return file;
  const making = `${file}.${process.pid}`;
  const database = openDataDatabase(making);
  for (const delivery of deliveries()) importDataset(database, delivery, new StillClock());
  database.close();
  // Of two processes that make it at the same time, the second replaces the file by an equal one.
  renameSync(making, file);
  return file;
}

export function openDatabase(t: TestContext, file: string = databaseFile(t)): DataDatabase {
  const database = openDataDatabase(file);
  releaseLater(t, () => database.close());
  return database;
}

/** As a copy that is put back in place does: pages of tables change, and the file stays. */
export function damageAreas(file: string): void {
  const database = new Database(file);
  const roots = database
    .prepare<[], number>(
      "SELECT rootpage FROM sqlite_schema WHERE name LIKE 'area%' AND rootpage > 0",
    )
    .pluck()
    .all();
  const size = database.pragma('page_size', { simple: true }) as number;
  database.close();
  const bytes = readFileSync(file);
  for (const root of roots) bytes.fill(0x55, (root - 1) * size, root * size);
  writeFileSync(file, bytes, { flag: 'r+' });
}

/** The accounts of a data file, or accounts in a file of their own. */
export function openAccountsOf(
  t: TestContext,
  dataFile: string = databaseFile(t),
): AccountsDatabase {
  const accounts = openAccounts(accountsFileFor(dataFile));
  releaseLater(t, () => accounts.close());
  return accounts;
}

/** To be forked, with the arguments that it lists. */
export const FORKED_SERVICE = new URL('./forked-service.ts', import.meta.url);

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely
  readonly body: any;
}

export interface SetupOptions {
  readonly subscription?: Subscription;
  readonly overages?: boolean;
  readonly signedUpAt?: number;
  readonly clock?: StillClock;
  readonly deliveries?: readonly Dataset[];
  readonly service?: StartOptions;
}

/** What can be set differently in a service of a test. */
export type StartOptions = Partial<Omit<ServiceOptions, 'accounts'>> & { readonly clock?: Clock };

/** A service with all data and one account, `tester`, on a file of its own. */
export async function setUp(t: TestContext, options: SetupOptions = {}) {
  const clock = options.clock ?? new StillClock();
  const file = databaseFile(t);
  const database =
    options.deliveries === undefined ? openSmallData(t, file, clock) : openDatabase(t, file);
  for (const delivery of options.deliveries ?? []) importDataset(database, delivery, clock);
  const { subscription = SUBSCRIPTIONS.professional, overages = false, signedUpAt } = options;
  const accounts = openAccountsOf(t, file);
  createAccount(
    accounts,
    { name: 'tester', subscription, overages, ...(signedUpAt === undefined ? {} : { signedUpAt }) },
    clock,
  );
  const { id, key } = createKey(accounts, 'tester', ['bundle', ...TOPIC_SLUGS], clock);
  const service = await start(t, { data: database, accounts, clock, ...options.service });
  /** One request with the key, which has all scopes, or with another or none. */
  const get = (path: string, other: string | null = key) => request(service.url + path, other);
  return {
    ...{ file, clock, database, accounts, key, keyId: id, service, get },
    port: sqliteAccounts(accounts, clock),
    /** One natural topic at HERE: a credit. */
    single: () => get(pathTo('/v1/drought/risk')),
    /** Credits that the account was charged in all. */
    charged: () => usage(accounts, 'tester', clock.now()).totalCredits,
  };
}

export async function start(
  t: TestContext,
  {
    accounts,
    clock,
    ...options
  }: StartOptions & {
    readonly data: DataDatabase;
    readonly accounts: AccountsDatabase;
    readonly clock: Clock;
  },
): Promise<RunningService> {
  // Its own clock before that of a test that only looks.
  driverOf(accounts, clock);
  const service = await startService({
    port: 0,
    ...options,
    accounts: sqliteAccounts(accounts, clock),
  });
  releaseLater(t, () => service.close());
  return service;
}

export function pathTo(path: string, { lat, lng } = HERE): string {
  return `${path}?lat=${lat}&lng=${lng}`;
}

export async function request(
  url: string,
  key: string | null,
  init: RequestInit = {},
): Promise<Reply> {
  const response = await fetch(url, {
    ...init,
    headers: { ...(key === null ? {} : { 'x-api-key': key }) },
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : JSON.parse(text),
  };
}

/** A subscription with figures of its own. */
export function subscriptionOf(creditsPerMonth: number, creditsPerMinute: number): Subscription {
  return { name: 'custom', creditsPerMonth, creditsPerMinute, overageRate: null };
}
