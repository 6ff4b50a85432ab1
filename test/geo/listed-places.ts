import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';

type Place = readonly [name: string, lat: number, lng: number];
type Kind = 'capital' | 'territory' | 'edge' | 'island' | 'abroad' | 'neighbour';

const rows: readonly Record<'kind' | 'name' | 'lat' | 'lng', string>[] = parse(
  readFileSync(new URL('places.csv', import.meta.url)),
  { columns: true },
);

/** Places of places.csv, to about a kilometre: `capital`, `territory`, `edge` (islands, piers and border towns) and `island` (those that
 * outlines leave out or cut off, shores, and more towns at borders) are in the US; `abroad` and `neighbour` are not. A `neighbour` lies
 * next to the US. Each is one that another margin, a coarser outline or an omitted island would judge otherwise. Those within some 100 m of
 * the border are left out: no outline here is so exact, and the service judges what passes. */
export function placesOf(kind: Kind): readonly Place[] {
  return rows
    .filter((row) => row.kind === kind)
    .map(({ name, lat, lng }) => [name, Number(lat), Number(lng)]);
}
