import type { NaturalSlug } from '../../contract/topics.ts';
import type { SampleCounty } from './land.ts';
import { kilometresTo, type Landmark } from './landmarks.ts';

/*
 * How exposed a county is to a hazard, 0 to 1, from its centre alone; null where the hazard has no meaning. The rules
 * make the sample believable (hurricanes on the coasts, hail on the plains); they are not science and no estimate of
 * anything.
 */

type ExposureRule = (county: SampleCounty) => number | null;

const PACIFIC_ISLANDS = new Set(['HI', 'GU', 'MP', 'AS']);
const CARIBBEAN = new Set(['PR', 'VI']);

const isIsland = (county: SampleCounty) => PACIFIC_ISLANDS.has(county.state) || CARIBBEAN.has(county.state);
const isTropical = (county: SampleCounty) => isIsland(county) || county.centre.lat < 26.8;

/** 1 on the landmark, about a third at `reach` kilometres. */
function near(county: SampleCounty, landmark: Landmark, reach: number): number {
  return Math.exp(-kilometresTo(landmark, county.centre) / reach);
}

/** A hill of height 1 around a place; widths in degrees. */
function hill({ centre }: SampleCounty, lat: number, lng: number, latWidth: number, lngWidth: number): number {
  return Math.exp(-(((centre.lat - lat) / latWidth) ** 2) - ((centre.lng - lng) / lngWidth) ** 2);
}

/** 0 below `low`, 1 above `high`, linear between; falling when `low` is the larger. */
function ramp(value: number, low: number, high: number): number {
  return Math.max(0, Math.min(1, (value - low) / (high - low)));
}

/** 0 in the east, 1 from the front range of the Rockies on. */
const west = (county: SampleCounty) => ramp(county.centre.lng, -98, -106);

/** How cold the winters are: latitude, softened by the Pacific. */
const cold = (county: SampleCounty) =>
  county.state === 'AK' ? 0.75 : ramp(county.centre.lat, 30, 46) * (1 - 0.7 * near(county, 'pacific', 150));

const RULES: Readonly<Record<NaturalSlug, ExposureRule>> = {
  avalanche(county) {
    const steep = Math.max(near(county, 'westernMountains', 90), 0.5 * near(county, 'whiteMountains', 50));
    return steep < 0.2 || isIsland(county) ? null : steep * ramp(county.centre.lat, 33, 38);
  },
  coastalFlood(county) {
    if (isIsland(county)) return 0.55;
    const most = Math.max(
      1.1 * near(county, 'gulfAtlantic', 70),
      0.6 * near(county, 'pacific', 50),
      0.45 * near(county, 'alaskaCoast', 80),
    );
    return most < 0.2 ? null : most;
  },
  coldWave: (county) => (isTropical(county) ? null : cold(county) ** 1.3),
  drought(county) {
    if (county.state === 'AK' || PACIFIC_ISLANDS.has(county.state)) return null;
    if (CARIBBEAN.has(county.state)) return 0.25;
    return 0.12 + 0.6 * west(county) + 0.55 * hill(county, 37, -101, 8, 5) - 0.25 * ramp(county.centre.lat, 43, 48);
  },
  earthquake(county) {
    if (CARIBBEAN.has(county.state)) return 0.62;
    if (PACIFIC_ISLANDS.has(county.state)) return county.state === 'AS' ? 0.3 : 0.6;
    return Math.max(
      0.06,
      near(county, 'sanAndreas', 220) ** 0.8,
      0.85 * near(county, 'cascadia', 200),
      0.75 * near(county, 'wasatch', 130),
      0.7 * near(county, 'walkerLane', 120),
      0.9 * near(county, 'newMadrid', 150),
      0.65 * near(county, 'charleston', 90),
      0.85 * near(county, 'alaskaCoast', 350),
      0.25 * near(county, 'appalachians', 150),
    );
  },
  hail(county) {
    if (county.state === 'AK' || isIsland(county)) return null;
    return Math.max(
      0.95 * hill(county, 38, -99, 8, 6.5),
      0.5 * hill(county, 34, -88, 6, 9),
      0.35 * hill(county, 41, -88, 5, 9),
      0.06,
    );
  },
  heatWave(county) {
    if (county.state === 'AK' || isIsland(county)) return null;
    return Math.max(
      0.85 * ramp(county.centre.lat, 43, 30) * (1 - 0.6 * near(county, 'pacific', 80)),
      hill(county, 33.5, -113.5, 4, 4),
      0.5 * hill(county, 39, -91, 4, 6),
    );
  },
  hurricane(county) {
    if (CARIBBEAN.has(county.state)) return 0.9;
    if (PACIFIC_ISLANDS.has(county.state)) return county.state === 'HI' ? 0.45 : 0.7;
    if (county.state === 'AK' || county.centre.lng < -103) return null;
    const strength = 1.12 - 0.6 * ramp(county.centre.lat, 34, 44);
    const exposure = strength * near(county, 'gulfAtlantic', 230);
    return exposure < 0.06 ? null : exposure;
  },
  iceStorm(county) {
    if (isTropical(county) || (county.centre.lng < -104 && near(county, 'cascadia', 150) < 0.3)) return null;
    return Math.max(
      0.8 * hill(county, 37, -93, 5, 8),
      0.7 * hill(county, 43, -74, 4, 9),
      0.4 * hill(county, 45.5, -122.5, 2, 2),
      0.05,
    );
  },
  landslide(county) {
    if (CARIBBEAN.has(county.state)) return 0.7;
    if (PACIFIC_ISLANDS.has(county.state)) return 0.5;
    return Math.max(
      0.8 * near(county, 'pacific', 120),
      0.75 * near(county, 'appalachians', 140),
      0.7 * near(county, 'westernMountains', 140),
      0.6 * near(county, 'alaskaCoast', 150),
      0.04,
    );
  },
  lightning(county) {
    if (county.state === 'AK' || PACIFIC_ISLANDS.has(county.state)) return null;
    if (CARIBBEAN.has(county.state)) return 0.4;
    return Math.max(
      hill(county, 28, -82, 4, 4),
      0.85 * near(county, 'gulfAtlantic', 500) * ramp(county.centre.lat, 41, 30),
      0.5 * hill(county, 38, -97, 7, 8),
      0.3 * hill(county, 35, -108, 4, 5),
      0.05,
    );
  },
  riverineFlood: (county) =>
    Math.max(0.9 * near(county, 'bigRivers', 60), 0.5 * near(county, 'appalachians', 200), 0.16),
  strongWind(county) {
    if (isIsland(county)) return county.state === 'HI' ? 0.3 : null;
    return Math.max(
      0.85 * hill(county, 39, -94, 8, 9),
      0.7 * hill(county, 34, -87, 5, 9),
      0.5 * hill(county, 40, -77, 4, 6),
      0.2,
    );
  },
  tornado(county) {
    if (county.state === 'AK' || (isIsland(county) && county.state !== 'PR')) return null;
    return Math.max(
      hill(county, 35.8, -97.2, 5, 5),
      0.9 * hill(county, 33.5, -88, 4, 6),
      0.7 * hill(county, 40.5, -89.5, 4, 7),
      0.5 * hill(county, 28.5, -82, 3, 2.5),
      0.05,
    );
  },
  tsunami(county) {
    if (isIsland(county)) return county.state === 'HI' ? 0.85 : 0.5;
    const exposure = Math.max(
      0.95 * near(county, 'pacific', 60) * ramp(county.centre.lat, 24, 40),
      0.8 * near(county, 'alaskaCoast', 90),
    );
    return exposure < 0.15 ? null : exposure;
  },
  volcano(county) {
    if (county.state === 'MP') return 0.5;
    const exposure = Math.max(
      0.95 * near(county, 'cascadeVolcanoes', 80),
      near(county, 'kilauea', 80),
      0.75 * near(county, 'alaskaVolcanoes', 160),
    );
    return exposure < 0.12 ? null : exposure;
  },
  wildfire(county) {
    if (county.state === 'AK') return 0.4;
    if (isIsland(county)) return county.state === 'HI' ? 0.35 : 0.12;
    return Math.max(
      0.95 * hill(county, 37, -120, 5, 3.5),
      hill(county, 33.9, -116.8, 2, 2.6),
      0.75 * hill(county, 43, -116, 6, 7),
      0.65 * hill(county, 35, -110, 5, 6),
      0.45 * hill(county, 28.5, -82, 3, 3),
      0.3 * hill(county, 32, -93, 4, 10),
      0.03,
    );
  },
  winterWeather(county) {
    if (isTropical(county)) return null;
    return Math.max(0.95 * cold(county), 0.7 * near(county, 'westernMountains', 100));
  },
};

/** How exposed the county is, 0 to 1; null where the hazard has no meaning. */
export function exposureOf(topic: NaturalSlug, county: SampleCounty): number | null {
  const exposure = RULES[topic](county);
  return exposure === null ? null : Math.max(0, Math.min(1, exposure));
}
