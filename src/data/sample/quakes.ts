import type { EventRecord } from '../tables/records.ts';
import type { Land } from './land.ts';
import { round } from './places.ts';
import { between, normal, type Random, whole } from './random.ts';
import { weightedPlaces } from './weighted-places.ts';

const DAY_MS = 86_400_000;
const EARTHQUAKES = 6000;

/** Earthquakes of the last year in USGS's fields: [lng, lat, depth in km], times in milliseconds since the epoch. */
export function* earthquakes(land: Land, now: number, random: Random): Generator<EventRecord> {
  const place = weightedPlaces('earthquake', land, 3);
  for (let index = 0; index < EARTHQUAKES; index += 1) {
    const { lat, lng, county } = place(random);
    // Gutenberg-Richter law: ten times fewer with each magnitude.
    const mag = round(Math.min(6.8, 1 - Math.log10(1 - random())), 1);
    const time = Math.floor(now - random() * 365 * DAY_MS);
    const code = `sample${String(index).padStart(5, '0')}`;
    const where = `${whole(random, 1, 30)} km from the middle of ${county.name}, ${county.state}`;
    const depth = round(Math.abs(6 + 5 * normal(random)), 2);
    yield {
      geometry: { type: 'Point', coordinates: [lng, lat, depth] },
      properties: {
        mag,
        place: where,
        time,
        updated: Math.min(now, time + whole(random, 1, 40) * 60_000),
        felt: mag > 3 ? whole(random, 1, 400) : null,
        alert: mag > 4.5 ? 'green' : null,
        status: 'reviewed',
        tsunami: 0,
        sig: Math.round((mag * mag * 100) / 6.5),
        net: 'sm',
        code,
        ids: `,sm${code},`,
        nst: whole(random, 6, 90),
        dmin: round(between(random, 0.01, 0.6), 4),
        rms: round(between(random, 0.03, 0.5), 2),
        gap: whole(random, 20, 220),
        magType: mag > 3.5 ? 'mw' : 'ml',
        type: 'earthquake',
        title: `M ${mag.toFixed(1)} - ${where}`,
      },
    };
  }
}
