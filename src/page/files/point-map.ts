import type { Location } from '../../geo/coordinates.ts';
import { parseLocation } from '../../geo/parse-location.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import { drawnPoint, frameOf, HEIGHT, type MapPoint, project, WIDTH } from '../../report/map/frame.ts';
import { outlinesOf } from '../../report/map/outlines.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import type { ChosenFile } from './workspace.ts';

/** A map of a file's locations, before anything is bought: SVG paths and points, in units of the drawing. */
export interface PointMap {
  readonly width: number;
  readonly height: number;
  readonly land: string;
  readonly states: string;
  /** Locations that can be looked up, and locations that are numbers but cannot be looked up. */
  readonly good: readonly MapPoint[];
  readonly bad: readonly MapPoint[];
  /** The number of rows read, and of rows among them that are not on this map. */
  readonly rows: number;
  readonly unseen: number;
  /** The file has more rows. */
  readonly isPart: boolean;
}

/** Half a second of reading. More rows would not change what the map shows. */
const MOST_ROWS = 100_000;

/** Above this number, points overlap. */
const MOST_POINTS = 3_000;

/** Draws the locations of a file's first rows. @throws INPUT_UNREADABLE */
export async function pointMap({ path }: ChosenFile, lat: number, lng: number, header: boolean): Promise<PointMap> {
  const rowFile = await openRowFile(path, header ? {} : { header });
  const good: Location[] = [];
  const bad: Location[] = [];
  let rows = 0;
  let isPart = false;
  for await (const batch of rowFile.read([lat, lng])) {
    for (const { fields, problem } of batch) {
      rows++;
      if (problem !== undefined) continue;
      const [latText = '', lngText = ''] = fields;
      const parsed = parseLocation(latText, lngText, isCovered);
      if (parsed.ok) good.push(parsed.location);
      else {
        const location = { lat: Number(latText), lng: Number(lngText) };
        const isSomewhere = Math.abs(location.lat) <= 90 && Math.abs(location.lng) <= 180;
        if (isSomewhere && latText.trim() !== '' && lngText.trim() !== '') bad.push(location);
      }
    }
    if (rows >= MOST_ROWS) {
      isPart = true;
      break;
    }
  }
  const frame = frameOf(good);
  const drawn = (locations: readonly Location[]) => distinctPoints(locations, (point) => drawnPoint(frame, point));
  const [goodPoints, badPoints] = [drawn(good), drawn(bad)];
  const { land, states } = outlinesOf(frame);
  return {
    width: WIDTH,
    height: HEIGHT,
    land,
    states,
    rows,
    isPart,
    good: goodPoints.points,
    bad: badPoints.points,
    unseen: rows - goodPoints.rows - badPoints.rows,
  };
}

/** The points of locations inside the drawing, each once, to a unit. */
function distinctPoints(locations: readonly Location[], onMap: (point: MapPoint) => MapPoint) {
  const points = new Map<string, MapPoint>();
  let rows = 0;
  for (const location of locations) {
    const projected = project(location);
    if (projected === null) continue;
    const [x, y] = onMap(projected);
    if (x < 0 || y < 0 || x > WIDTH || y > HEIGHT) continue;
    rows++;
    const at = [Math.round(x), Math.round(y)] as const;
    points.set(at.join(' '), at);
  }
  const all = [...points.values()];
  const step = Math.max(1, all.length / MOST_POINTS);
  return { rows, points: Array.from({ length: Math.ceil(all.length / step) }, (_, i) => all[Math.floor(i * step)]!) };
}
