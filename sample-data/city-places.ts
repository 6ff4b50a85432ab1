import { CITIES, type City } from '../src/geo/cities.ts';
import { anyDirection, awayFrom, type Land, landLocation, round } from '../src/sample/land.ts';
import type { Random } from '../src/sample/random.ts';

/** The outlines are simplified: what lies nearer to the water than this may in truth lie in it. */
const SHORE_KM = 1.5;

/** A place on dry land near the middle of a city, in the city's own state, with so many decimals (five at most). */
export function placeNear(
  city: City,
  reachKm: number,
  decimals: number,
  land: Land,
  random: Random,
) {
  for (;;) {
    const place = landLocation(land, () => {
      const { lat, lng } = awayFrom(city, reachKm * Math.sqrt(random()), anyDirection(random));
      return { lat: round(lat, decimals), lng: round(lng, decimals) };
    });
    if (place?.county.state !== city.state) continue;
    const around = [0, 1, 2, 3].map((quarter) =>
      awayFrom(place, SHORE_KM, (quarter * Math.PI) / 2),
    );
    if (around.every((neighbour) => land.countyAt(neighbour) !== null))
      return { lat: place.lat, lng: place.lng };
  }
}

/** The city of this name. */
export function cityNamed(name: string): City {
  return CITIES.find((city) => city.name === name)!;
}
