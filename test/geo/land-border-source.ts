import { borders } from '@rapideditor/country-coder';
import type { MultiPolygon, Position } from 'geojson';
import { distanceMeters } from '../../src/geo/coordinates.ts';
import { metersToEdges, polygonsOf } from '../../src/geo/outline.ts';
import { foreignLandAt, nationOutline } from '../../src/geo/us-coverage.ts';

/** Shorter edges follow the houses of a town. */
const TOWN_METERS = 5_000;
/** Longer ones count where the drawn outline is as near for so long: no river is so straight, and such a line is surveyed. Elsewhere they cut
 * the bends of a river. */
const SAME_LINE_METERS = 500;
const SURVEYED_METERS = 15_000;
const STEP_METERS = 250;
/** Edges farther from foreign land are in the sea. */
const NEAR_LAND_METERS = 5_000;

type Edge = readonly [Position, Position];

/** Makes src/geo/land-border.json from the borders of country-coder, which are drawn by hand: in towns to some 50 m. */
export function makeLandBorder() {
  const rings = borders.features
    .filter(({ properties: { nameEn } }) => /^(Contiguous United States|Alaska)$/.test(nameEn))
    .flatMap(({ geometry }) => polygonsOf(geometry as MultiPolygon).flat());
  const edges = rings.flatMap((ring) => ring.slice(1).map((to, index): Edge => [ring[index]!, to]));
  return {
    rings,
    towns: edges.filter((edge) => isShort(edge) && pointsAlong(edge).some(isNearForeignLand)),
    surveyed: edges.filter((edge) => !isShort(edge)).flatMap(surveyedParts),
  };
}

const isShort = ([from, to]: Edge): boolean =>
  distanceMeters(placeOf(from), placeOf(to)) <= TOWN_METERS;

/** The parts of an edge beside which the drawn outline runs for long. */
function surveyedParts(edge: Edge): Edge[] {
  const points = pointsAlong(edge);
  const isDrawn = points.map(
    (place) =>
      isNearForeignLand(place) &&
      metersToEdges(nationOutline(), place, SAME_LINE_METERS) <= SAME_LINE_METERS,
  );
  const parts: Edge[] = [];
  for (let from = 0; from < points.length; from++) {
    if (!isDrawn[from]) continue;
    let to = from;
    while (isDrawn[to + 1]) to++;
    if ((to - from) * STEP_METERS >= SURVEYED_METERS)
      parts.push([positionOf(points[from]!), positionOf(points[to]!)]);
    from = to;
  }
  return parts;
}

const positionOf = ({ lat, lng }: ReturnType<typeof placeOf>): Position =>
  [lng, lat].map((degrees) => Number(degrees.toFixed(5)));

const isNearForeignLand = (place: ReturnType<typeof placeOf>): boolean => {
  const { isInside, meters } = foreignLandAt(place);
  return isInside || meters <= NEAR_LAND_METERS;
};

const placeOf = ([lng, lat]: Position) => ({ lat: lat!, lng: lng! });

function pointsAlong([from, to]: Edge) {
  const [a, b] = [placeOf(from), placeOf(to)];
  const steps = Math.ceil(distanceMeters(a, b) / STEP_METERS);
  return Array.from({ length: steps + 1 }, (_, step) => ({
    lat: a.lat + ((b.lat - a.lat) * step) / steps,
    lng: a.lng + ((b.lng - a.lng) * step) / steps,
  }));
}
