import { geoPath } from 'd3-geo';
import { feature, mesh } from 'topojson-client';
import { usAtlas } from '../../geo/us-atlas.ts';
import { type Frame, HEIGHT, type MapPoint, onDrawing, type PlaneView, WIDTH } from './frame.ts';
import { type ProjectedAtlas, projectedAtlas } from './state-bounds.ts';
import { TERRITORIES } from './territories.ts';

/** The map's background as SVG path data, and the names of the states with their positions. */
export interface Outlines {
  readonly land: string;
  readonly states: string;
  readonly counties: string;
  /** The land of the frame's insets. */
  readonly insets: string;
  readonly labels: readonly { readonly name: string; readonly at: MapPoint }[];
}

/** Points closer to the previous one are dropped: less than a line's width. */
const FINEST = 0.5;

/** A state's name is drawn where the state is at least this wide. */
const ROOM_FOR_NAME = 120;

const PAPER = 40;

/** Reads us-atlas's projected shapes and draws what a frame shows of them. */
export function outlinesOf(frame: Frame): Outlines {
  const atlas = projectedAtlas();
  const { counties, states, nation } = atlas.objects;
  const inner = mesh(atlas, counties, (a, b) => a !== b && stateOf(a) === stateOf(b));
  const borders = mesh(atlas, states, (a, b) => a !== b);
  const territories = territoryPaths(frame).join('');
  const hasInsets = frame.insets.length > 0;
  const isOfStates = !frame.whole && (hasInsets || frame.territories.length === 0);
  const nationPaths = feature(atlas, nation).features.map(({ geometry }) => areaPath(geometry, frame));
  return {
    land: nationPaths.join('') + (hasInsets ? '' : territories),
    states: linesPath(borders.coordinates, frame, false),
    counties: linesPath(inner.coordinates, frame, false),
    insets: hasInsets ? territories : '',
    labels: [...(isOfStates ? stateNames(atlas, frame) : []), ...territoryNames(frame)],
  };
}

function shownTerritories({ territories }: Frame) {
  return TERRITORIES.filter(({ name }) => territories.includes(name));
}

function territoryPaths(frame: Frame): string[] {
  const shapes = usAtlas('counties-10m');
  const states = feature(shapes, shapes.objects.states).features;
  return shownTerritories(frame).flatMap(({ name, codes, projection }) => {
    const view = frame.insets.find(({ territory }) => territory === name) ?? frame;
    return states
      .filter(({ id }) => codes.includes(String(id)))
      .flatMap(({ geometry }) =>
        geometry.type === 'MultiPolygon'
          ? geometry.coordinates
          : geometry.type === 'Polygon'
            ? [geometry.coordinates]
            : [],
      )
      .map((rings) =>
        linesPath(
          rings.map((ring) => ring.map((point) => projection([point[0]!, point[1]!])!)),
          view,
          true,
        ),
      );
  });
}

/** Half the width of "American Samoa" in the largest letters. */
const HALF_NAME = 115;

/** From the lower edge of an inset to its name. */
const NAME_ABOVE = 9;

function territoryNames(frame: Frame): { name: string; at: MapPoint }[] {
  return shownTerritories(frame).map(({ name, projection, west, east, north, south }) => {
    // Above Samoa: below it, its name would stand on that of Guam.
    const isAbove = name === 'American Samoa';
    const inset = frame.insets.find(({ territory }) => territory === name);
    if (inset) {
      const at = [inset.left + inset.width / 2, inset.top + inset.height - NAME_ABOVE] as const;
      return { name: shortName(name), at };
    }
    const [x, y] = projection([(west + east) / 2, isAbove ? north : south])!;
    const [left, top] = frame.whole ? onDrawing(frame, [x, isAbove ? y : y + 16]) : [WIDTH / 2, HEIGHT - PAPER];
    // Names are centered and largest on narrow screens; Puerto Rico is at the right edge. From nearby, the second one is shown too.
    return {
      name: frame.whole ? shortName(name) : name,
      at: [Math.min(left, WIDTH - HALF_NAME), top],
    };
  });
}

const shortName = (name: string) => name.replace(/ and .*/, '');

/** The outline of the country, small, for the locator of a close-up. */
export function countryPath(): string {
  const atlas = projectedAtlas();
  const small = { x0: -60, y0: 0, k: 0.15 };
  return feature(atlas, atlas.objects.nation)
    .features.map(({ geometry }) => areaPath(geometry, small, 2))
    .join('');
}

/** The frame in the coordinates of `countryPath`. */
export function frameOnCountry({ x0, y0, k }: Frame): { x: number; y: number; width: number; height: number } {
  return { x: (x0 + 60) * 0.15, y: y0 * 0.15, width: (WIDTH / k) * 0.15, height: (HEIGHT / k) * 0.15 };
}

function stateOf({ id }: { id?: string | number | undefined }): string {
  return String(id).slice(0, 2);
}

function stateNames(shapes: ProjectedAtlas, frame: Frame): { name: string; at: MapPoint }[] {
  const path = geoPath();
  return feature(shapes, shapes.objects.states).features.flatMap((state) => {
    const [[west, north], [east, south]] = path.bounds(state);
    const [x0, y0] = onDrawing(frame, [west, north]);
    const [x1, y1] = onDrawing(frame, [east, south]);
    const at = onDrawing(frame, path.centroid(state) as [number, number]);
    const bottom = frame.insets[0]?.top ?? HEIGHT - PAPER;
    const isSeen = at[0] > PAPER && at[0] < WIDTH - PAPER && at[1] > PAPER && at[1] < bottom;
    return isSeen && Math.max(x1 - x0, y1 - y0) > ROOM_FOR_NAME ? [{ name: state.properties.name, at }] : [];
  });
}

function areaPath(geometry: GeoJSON.Geometry, frame: PlaneView, finest = FINEST): string {
  if (geometry.type !== 'MultiPolygon' && geometry.type !== 'Polygon') return '';
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  return linesPath(polygons.flat(), frame, true, finest);
}

/** Lines as one path in tenths of a unit. Relative coordinates take a third of the size of absolute ones. */
function linesPath(
  lines: readonly (readonly number[][])[],
  frame: PlaneView,
  closed: boolean,
  finest = FINEST,
): string {
  return lines.map((line) => linePath(line as unknown as readonly MapPoint[], frame, closed, finest)).join('');
}

function linePath(line: readonly MapPoint[], frame: PlaneView, closed: boolean, finest: number): string {
  const points = line.map((point) => onDrawing(frame, point));
  if (!isSeen(points)) return '';
  let path = '';
  let [lastX, lastY] = [0, 0];
  for (const [index, [x, y]] of points.entries()) {
    const isEnd = index === 0 || index === points.length - 1;
    const [tenX, tenY] = [Math.round(x * 10), Math.round(y * 10)];
    if (!isEnd && Math.hypot(tenX - lastX, tenY - lastY) < finest * 10) continue;
    if (index === 0) path = `M${tenX / 10} ${tenY / 10}`;
    else if (tenX !== lastX || tenY !== lastY) path += `l${(tenX - lastX) / 10} ${(tenY - lastY) / 10}`;
    [lastX, lastY] = [tenX, tenY];
  }
  return path.includes('l') ? path + (closed ? 'z' : '') : '';
}

/** Whether a line's bounding box touches the drawing. */
function isSeen(points: readonly MapPoint[]): boolean {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [west, east] = [Math.min(...xs), Math.max(...xs)];
  const [north, south] = [Math.min(...ys), Math.max(...ys)];
  return west < WIDTH && east > 0 && north < HEIGHT && south > 0;
}
