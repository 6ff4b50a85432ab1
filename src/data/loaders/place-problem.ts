import type { Box } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { isCovered, isForeign } from '../../geo/us-coverage.ts';
import { statesWithin } from '../tables/states-near.ts';

/** Farther from the US nothing of it lies: its waters end after 370 km, and the Gulf has gaps. */
const FARTHEST_METERS = 500_000;

/** Why a point, or a line or outline with this box, is no place of the US; null for one that may be. */
export function placeProblem({ minLat, minLng, maxLat, maxLng }: Box): string | null {
  if (minLat === maxLat && minLng === maxLng) return pointProblem({ lat: minLat, lng: minLng });
  const middle = { lat: (minLat + maxLat) / 2, lng: (minLng + maxLng) / 2 };
  const corners = [minLat, maxLat].flatMap((lat) => [minLng, maxLng].map((lng) => ({ lat, lng })));
  // Lines and outlines reach far out at sea, and into neighbours.
  const isOfUs = (place: Location) => isCovered(place) || isNear(place);
  return [middle, ...corners].some(isOfUs) ? null : pointProblem(middle);
}

function pointProblem({ lat, lng }: Location): string | null {
  if (isCovered({ lat, lng })) return null;
  if (isCovered({ lat, lng: -lng }))
    return lng > 0 ? 'its longitude has lost its minus sign' : 'its longitude has the wrong sign';
  if (isCovered({ lat: -lat, lng })) return 'its latitude has the wrong sign';
  const isSwapped =
    Math.abs(lng) <= 90 &&
    (isCovered({ lat: lng, lng: lat }) || isCovered({ lat: lng, lng: -lat }));
  if (isSwapped) return 'its latitude and longitude are swapped';
  return !isForeign({ lat, lng }) && isNear({ lat, lng }) ? null : 'it is outside the US';
}

const isNear = (place: Location): boolean => statesWithin(place, FARTHEST_METERS).length > 0;
