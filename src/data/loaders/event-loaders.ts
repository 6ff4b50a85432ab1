import type { Geometry, Position } from 'geojson';
import type { EventKind, EventRecord } from '../tables/records.ts';
import { featuresIn } from './feature-files.ts';
import type { FileFeature } from './geojson-features.ts';
import { describeLoad, inFeatureFiles, type Loader, type Publication, publicDomain } from './loader.ts';
import { numberIn } from './named-columns.ts';
import { geometryProblem } from './sites.ts';
import { vintageByColumns } from './vintages.ts';

const USGS = {
  source: 'USGS ANSS Comprehensive Earthquake Catalog',
  licence: publicDomain('US Geological Survey'),
};
const NIFC = {
  source: 'National Interagency Fire Center, WFIGS',
  licence: publicDomain('National Interagency Fire Center'),
};

/** Earthquakes as points with their depth in km; blasts and explosions are none. */
export const earthquakes: Loader = eventLoader(
  'earthquake',
  'USGS earthquakes: CSV (15 or 22 columns) or GeoJSON',
  USGS,
  () => {
    // A query gives 20,000 at most, so that a load is of several files, whose times may overlap.
    const known = new Set<string>();
    return ({ geometry, properties }) => {
      const { type } = properties;
      if (type !== undefined && type !== null && type !== 'earthquake') return `it is no earthquake but: ${type}`;
      const id = earthquakeId(properties);
      if (id !== null && known.has(id)) return 'an earthquake that came before';
      if (id !== null) known.add(id);
      return { geometry: withDepth(geometry as Geometry, properties), properties: withNumbers(properties) };
    };
  },
);

/** The fires that burn now. */
export const wildfireIncidents: Loader = eventLoader(
  'wildfire.current',
  'NIFC WFIGS current incident locations: GeoJSON, CSV, shapefile',
  NIFC,
  () => (feature) => {
    const out = fireField(feature, 'FireOutDateTime');
    return noWildfire(feature) ?? (out === '' ? (feature as EventRecord) : 'the fire is out');
  },
);

/** The fires of past years. */
export const wildfireHistory: Loader = eventLoader(
  'wildfire.historical',
  'NIFC WFIGS incident locations of past years: GeoJSON, CSV, shapefile',
  NIFC,
  () => (feature) => noWildfire(feature) ?? (feature as EventRecord),
);

/** The outlines of fires. */
export const wildfirePerimeters: Loader = eventLoader(
  'wildfire.perimeters',
  'NIFC WFIGS interagency fire perimeters: GeoJSON, shapefile',
  NIFC,
  () => (feature) =>
    /Polygon$/.test((feature.geometry as Geometry).type)
      ? (noWildfire(feature) ?? (feature as EventRecord))
      : 'it is no outline of a fire',
);

/** Why an incident is no wildfire; null when it is one. The lists hold prescribed burns too (RX), and cases that dispatchers gave up
 * and could only rename. */
function noWildfire(feature: FileFeature): string | null {
  if (/^rx$/i.test(fireField(feature, 'IncidentTypeCategory'))) return 'a prescribed fire';
  const names = [fireField(feature, 'IncidentName'), fireField(feature, 'IncidentShortDescription')];
  const isGivenUp =
    names.some((name) => /\bdo\s*not\s*use\b/i.test(name)) || fireField(feature, 'DeleteThis') === 'Yes';
  return isGivenUp ? 'a case that is not to be used' : null;
}

/** A field of an incident, whose name may have `attr_` or `poly_` before it and any case; '' when it is blank. */
function fireField({ properties }: FileFeature, field: string): string {
  for (const name of [`attr_${field}`, `poly_${field}`, field]) {
    const known = Object.hasOwn(properties, name)
      ? name
      : Object.keys(properties).find((other) => other.toLowerCase() === name.toLowerCase());
    const text = known === undefined ? '' : String(properties[known] ?? '').trim();
    if (text !== '') return text;
  }
  return '';
}

/** When an earthquake was, or a fire was found. */
const TIMES = ['time', 'FireDiscoveryDateTime', 'attr_FireDiscoveryDateTime', 'poly_DateCurrent', 'FireDiscov'];

/** @param begin makes what decides on the features of one load: their record, or why there is none */
function eventLoader(
  event: EventKind,
  describe: string,
  publication: Publication,
  begin: () => (feature: FileFeature) => EventRecord | string,
): Loader {
  return {
    describe,
    start(files, options, report) {
      const recordOf = begin();
      const vintage = vintageByColumns({ names: TIMES, as: 'day' });
      return {
        kind: 'records',
        event,
        info: describeLoad(`records:${event}`, files, options, publication, vintage.text),
        records: inFeatureFiles<EventRecord>(files, report, {
          featuresOf: (file) => featuresIn(file, options, report),
          recordOf(feature) {
            const record = geometryProblem(feature.geometry) ?? recordOf(feature);
            if (typeof record === 'string') {
              report.reject(record, feature.line, feature.properties);
              return null;
            }
            vintage.see(feature.properties);
            const { id } = feature;
            return { ...(id === undefined ? {} : { id }), geometry: record.geometry, properties: record.properties };
          },
        }),
      };
    },
  };
}

/** The catalog's id of an event: a column of the CSV; in GeoJSON the network's code and its own for the event make it up. */
function earthquakeId({ id, net, code }: FileFeature['properties']): string | null {
  if (typeof id === 'string') return id;
  return typeof net === 'string' && typeof code === 'string' ? net + code : null;
}

/** The CSV has the depth in a column, the GeoJSON as the third coordinate. */
function withDepth(geometry: Geometry, { depth }: FileFeature['properties']): Geometry {
  const kilometres = typeof depth === 'string' ? numberIn(depth) : null;
  if (kilometres === null || geometry.type !== 'Point') return geometry;
  const [lng, lat] = geometry.coordinates as [number, number];
  return { type: 'Point', coordinates: [lng, lat, kilometres] satisfies Position };
}

const NUMBERS = new Set(['mag', 'nst', 'gap', 'dmin', 'rms', 'horizontalError', 'depthError', 'magError', 'magNst']);

function withNumbers(properties: FileFeature['properties']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => name !== 'depth')
      .map(([name, value]) => [name, NUMBERS.has(name) && typeof value === 'string' ? numberIn(value) : value]),
  );
}
