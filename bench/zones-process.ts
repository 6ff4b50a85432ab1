/** A process that looks up the zones of places in a state, so that its memory is its own. */
import type { PolygonLayer } from '../src/contract/layers/layer-description.ts';
import { declareLayers, type LayerSlug } from '../src/contract/topics.ts';
import { openPlaceLookup } from '../src/data/lookup/place-lookup.ts';
import type { Location } from '../src/geo/coordinates.ts';
import { makeRandom } from '../src/sample/random.ts';
import { peakMegabytes } from './peak-memory.ts';

/** A square and the number of places in it. */
interface PlacesOf {
  readonly south: number;
  readonly west: number;
  readonly side: number;
  readonly count: number;
}

export interface ZoneTimes {
  /** Places a second, and a second of processor time. */
  readonly rate: number;
  readonly cpuRate: number;
  /** Milliseconds of the first place, which reads all boxes. */
  readonly loadMs: number;
  /** MiB. */
  readonly peak: number;
  readonly found: number;
  readonly noted: number;
}

/** As a run sorts cells: neighbours follow each other. */
const SQUARE = 0.022;

/** Random places of a square, sorted. */
export function zonePlaces({ south, west, side, count }: PlacesOf): readonly Location[] {
  const random = makeRandom(2, 'places');
  const places = Array.from({ length: count }, () => ({
    lat: south + random() * side,
    lng: west + random() * side,
  }));
  const key = ({ lat, lng }: Location) =>
    Math.floor(lat / SQUARE) * 1e6 + Math.floor((lng + 180) / SQUARE);
  return places.sort((a, b) => key(a) - key(b));
}

if (import.meta.main) {
  const places = zonePlaces(JSON.parse(process.argv[3]!) as PlacesOf);
  const layer = JSON.parse(process.argv[4]!) as PolygonLayer;
  declareLayers([layer]);
  using data = openPlaceLookup(process.argv[2]!, { counts: false });
  const counts = { found: 0, noted: 0 };
  const lookUp = (place: Location) => {
    const found = data.lookUp([layer.layer as LayerSlug], place, 0);
    const [result] = found.kind === 'covered' ? found.results : [];
    if (result === undefined || !('value' in result)) return;
    counts.found += 1;
    if ((result.value as { boundaryMeters: number | null }).boundaryMeters !== null)
      counts.noted += 1;
  };
  const opened = performance.now();
  lookUp(places[0]!);
  const begun = performance.now();
  const used = process.cpuUsage();
  for (const place of places.slice(1)) lookUp(place);
  const rate = (places.length - 1) / ((performance.now() - begun) / 1_000);
  const { user, system } = process.cpuUsage(used);
  const cpuRate = (places.length - 1) / ((user + system) / 1e6);
  const times: ZoneTimes = {
    rate,
    cpuRate,
    loadMs: begun - opened,
    peak: peakMegabytes(),
    ...counts,
  };
  console.log(JSON.stringify(times));
}
