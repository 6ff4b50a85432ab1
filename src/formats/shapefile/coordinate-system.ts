import proj4 from 'proj4';
import { resultOrNull } from '../../base/errors.ts';
import type { MakeContentError } from '../bytes/byte-source.ts';

/** A position as WGS84 degrees of longitude and latitude. */
export type ToDegrees = (position: readonly number[]) => number[];

/** Datums within two metres of WGS84, in wkt-parser's spelling: all realizations of NAD83. */
const LIKE_WGS84 = /^(d_)?(wgs_?(19)?84|north_american_(datum_)?1983|nad_?(19)?83)/;
const NAD27 = /^(d_)?(north_american_(datum_)?1927|nad_?(19)?27)$/;

/** From NAD27 to WGS84 without grids, in metres: the lower 48 (EPSG:1173) and Alaska (EPSG:1176). Accurate to about 10 m; without the
 * shift, positions are off by 10 to 100 m. proj4 knows the grids of NAD27 only by name, and shifts nothing. */
const NAD27_LOWER_48 = [-8, 160, 176, 0, 0, 0, 0];
const NAD27_ALASKA = [-5, 135, 172, 0, 0, 0, 0];

/** Makes the function that converts a shapefile's coordinates to degrees, from the text of its .prj; null when they are in degrees.
 * @throws PerilbookError for an unknown system or datum: positions would be wrong without notice */
export function toDegrees(projection: string, refused: MakeContentError): ToDegrees | null {
  const text = projection.replace(/^\ufeff/, '').trim();
  const name = /"([^"]+)"/.exec(text)?.[1] ?? 'a system without a name';
  if (
    /^GEOGCS\[/i.test(text) &&
    LIKE_WGS84.test(simplifyName(/DATUM\["([^"]+)"/i.exec(text)?.[1] ?? name))
  )
    return null;
  const hint = 'Download or convert it in degrees (EPSG:4326 or 4269).';
  const unknown = () => refused(`is in an unknown coordinate system (${name})`, hint);
  const system = parseSystem(text);
  if (system === null) throw unknown();
  const datum = simplifyName(String(system.datumCode ?? ''));
  if (LIKE_WGS84.test(datum)) return forward(system);
  if (!NAD27.test(datum)) throw unknown();
  const south = forward({ ...system, datumCode: 'none', datum_params: NAD27_LOWER_48 });
  const alaska = forward({ ...system, datumCode: 'none', datum_params: NAD27_ALASKA });
  return (position) => {
    const [lng, lat] = south(position) as [number, number];
    return lng < -129 && lat > 50 ? alaska(position) : [lng, lat];
  };
}

type System = Record<string, unknown>;

/** Null when proj4 cannot read the text or does not know its projection. */
function parseSystem(text: string): System | null {
  return resultOrNull(() => {
    proj4.defs('shapefile', text);
    const system = proj4.defs('shapefile') as unknown as System;
    forward(system)([0, 0]);
    return system;
  });
}

function forward(system: System): ToDegrees {
  const { forward: convert } = proj4(system as never, 'WGS84');
  // The height is left out: the agencies' sites are on the ground.
  return ([x, y]) => convert([x!, y!]) as number[];
}

function simplifyName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^gcs_/, '');
}
