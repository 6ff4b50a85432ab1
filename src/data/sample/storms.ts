import type { EventRecord } from '../tables/records.ts';
import type { Land } from './land.ts';
import { awayFrom, line, positionOf, round } from './places.ts';
import { between, normal, pick, type Random, whole } from './random.ts';
import { weightedPlaces } from './weighted-places.ts';

const HAIL_REPORTS = 8000;
const TORNADOES = 4000;
const YEARS_OF_REPORTS = 10;
const KM_PER_MILE = 1.609344;

/** Hail reports in the Storm Prediction Center's fields: `mag` is the size of the stones in inches. */
export function* hailReports(land: Land, now: number, random: Random): Generator<EventRecord> {
  const place = weightedPlaces('hail', land, 2);
  for (let index = 1; index <= HAIL_REPORTS; index += 1) {
    const { lat, lng, county } = place(random);
    yield {
      geometry: { type: 'Point', coordinates: positionOf({ lat, lng }) },
      properties: {
        om: index,
        ...whenOf(now, random),
        st: county.state,
        mag: pick(random, [0.75, 0.88, 1, 1, 1, 1.25, 1.5, 1.75, 2, 2.75]),
        inj: 0,
        fat: 0,
        slat: lat,
        slon: lng,
        source: 'sample',
      },
    };
  }
}

/** Tornado tracks in the Storm Prediction Center's fields: `mag` is the EF number, `len` miles, `wid` yards. */
export function* tornadoReports(land: Land, now: number, random: Random): Generator<EventRecord> {
  const place = weightedPlaces('tornado', land, 2);
  for (let index = 1; index <= TORNADOES; index += 1) {
    const start = place(random);
    const mag = Math.min(5, Math.floor(-1.1 * Math.log(1 - random())));
    const length = round(between(random, 0.1, 3 + 6 * mag), 2);
    // Most travel to the north-east.
    const { lat, lng } = awayFrom(start, length * KM_PER_MILE, Math.PI / 4 + 0.4 * normal(random));
    const end = { lat: round(lat, 4), lng: round(lng, 4) };
    yield {
      geometry: { type: 'LineString', coordinates: [positionOf(start), positionOf(end)] },
      properties: {
        om: index,
        ...whenOf(now, random),
        st: start.county.state,
        mag,
        inj: mag > 1 ? whole(random, 0, 12) : 0,
        fat: mag > 2 ? whole(random, 0, 3) : 0,
        slat: start.lat,
        slon: start.lng,
        elat: end.lat,
        elon: end.lng,
        len: length,
        wid: whole(random, 20, 100 + 300 * mag),
        source: 'sample',
      },
    };
  }
}

/** The time of a storm, more often in warm months, in the Storm Prediction Center's fields. */
function whenOf(now: number, random: Random) {
  const year = new Date(now).getUTCFullYear() - whole(random, 1, YEARS_OF_REPORTS);
  const day = new Date(Date.UTC(year, 0, 1 + Math.max(0, Math.min(364, Math.round(150 + 60 * normal(random))))));
  const time = `${String(whole(random, 0, 23)).padStart(2, '0')}:${String(whole(random, 0, 59)).padStart(2, '0')}:00`;
  return {
    yr: year,
    mo: day.getUTCMonth() + 1,
    dy: day.getUTCDate(),
    date: day.toISOString().slice(0, 10),
    time,
    tz: 3,
  };
}

/** The usual paths of storms; a made-up storm follows one of them at some distance. */
const PATHS = [
  line('-58 15, -66 19, -73 22.5, -78.5 25, -81.2 26, -83.5 28.5, -84.5 31.5, -82 35'),
  line('-50 14, -60 18, -68 23, -74 27, -77.5 31, -77.5 34.5, -75.5 37.5, -71 41.5, -65 45'),
  line('-82 17, -85.5 21, -87.5 24.5, -89 27.5, -89.8 29.8, -89.5 32.5, -86 36, -80 39'),
  line('-84 18, -89 21.5, -92.5 24.5, -94.6 28, -95.2 29.8, -95 32, -92 35'),
  line('-88 19.5, -93 22.5, -96 25.5, -97.6 27.8, -99 29.5, -100 31'),
  line('-52 14, -61 16.8, -64.8 17.8, -66.3 18.4, -69 20, -73 24, -73 30, -66 38'),
  line('-84 21, -84.5 25, -84 28.5, -83.5 30.2, -81 33, -77 36.5, -72 40.5'),
  line('-140 14, -148 17, -154 19, -158 20.8, -163 22'),
  line('152 11, 148 12.6, 144.8 13.6, 140 15.5, 134 18.5'),
];

const STORMS = 90;
const SEASONS = 40;

/** Tracks of made-up hurricanes, in the fields of the best-track lists. */
export function* hurricaneTracks(now: number, random: Random): Generator<EventRecord> {
  for (let index = 1; index <= STORMS; index += 1) {
    const path = PATHS[index % PATHS.length]!;
    const [eastward, northward] = [0.9 * normal(random), 0.7 * normal(random)];
    const coordinates = path.map(([lng, lat]) =>
      positionOf({ lat: lat + northward + 0.25 * normal(random), lng: lng + eastward + 0.25 * normal(random) }),
    );
    const season = new Date(now).getUTCFullYear() - whole(random, 1, SEASONS);
    const start = Date.UTC(season, 5, 1) + whole(random, 0, 150) * 86_400_000;
    const wind = 5 * whole(random, 13, 31);
    const number = String(index).padStart(2, '0');
    yield {
      geometry: { type: 'LineString', coordinates },
      properties: {
        sid: `SAMPLE${season}${number}`,
        name: `Sample storm ${number}`,
        season,
        basin: path[0]![0] > 0 ? 'Western Pacific' : path[0]![0] < -130 ? 'Central Pacific' : 'North Atlantic',
        max_wind_kt: wind,
        min_pressure_mb: Math.round(1020 - wind * 0.62),
        category: [64, 83, 96, 113, 137].filter((knots) => wind >= knots).length,
        start: new Date(start).toISOString(),
        end: new Date(start + coordinates.length * 12 * 3_600_000).toISOString(),
        source: 'sample',
      },
    };
  }
}
