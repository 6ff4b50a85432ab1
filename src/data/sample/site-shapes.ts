import type { Geometry, LineString, Polygon } from 'geojson';
import type { ProximitySlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { anyDirection, awayFrom, positionOf } from './places.ts';
import { between, chance, normal, type Random, whole } from './random.ts';

/** The geometry of a site: lines for pipelines and power lines, polygons for larger parks, else points. */
export function siteShape(topic: ProximitySlug, place: Location, random: Random): Geometry {
  switch (topic) {
    case 'naturalGasPipeline':
    case 'highVoltageLine':
      return wanderingLine(place, whole(random, 2, 6), between(random, 0.2, 1.1), random);
    case 'park':
      return chance(random, 0.5) ? roundOutline(place, between(random, 0.04, 0.5), random) : pointAt(place);
    default:
      return pointAt(place);
  }
}

export function pointAt(place: Location): Geometry {
  return { type: 'Point', coordinates: positionOf(place) };
}

/** A line from a place that roughly keeps its direction. */
function wanderingLine(from: Location, steps: number, stepKm: number, random: Random): LineString {
  const line = [positionOf(from)];
  let direction = anyDirection(random);
  let at = from;
  for (let step = 0; step < steps; step += 1) {
    direction += 0.3 * normal(random);
    at = awayFrom(at, stepKm * between(random, 0.6, 1.4), direction);
    line.push(positionOf(at));
  }
  return { type: 'LineString', coordinates: line };
}

/** A star-shaped polygon around a place, closed and counter-clockwise (RFC 7946). */
export function roundOutline(centre: Location, radiusKm: number, random: Random): Polygon {
  const corners = whole(random, 5, 9);
  const ring = Array.from({ length: corners }, (_, corner) =>
    positionOf(awayFrom(centre, radiusKm * between(random, 0.7, 1.2), -(2 * Math.PI * corner) / corners)),
  );
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] };
}
