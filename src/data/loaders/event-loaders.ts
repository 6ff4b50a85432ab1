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

/** Earthquakes as points with their depth in km, without blasts and explosions. */
export const earthquakes: Loader = eventLoader(
  'earthquake',
  'USGS earthquakes: CSV (15 or 22 columns) or GeoJSON',
  USGS,
  () => {
    // A query returns at most 20,000, so a load has several files, whose times may overlap.
    const known = new Set<string>();
    return ({ geometry, properties }) => {
      const { type } = properties;
      if (type !== undefined && type !== null && type !== 'earthquake') return `not an earthquake: ${type}`;
      const id = earthquakeId(properties);
      if (id !== null && known.has(id)) return 'an earthquake that an earlier row has';
      if (id !== null) known.add(id);
      return { geometry: withDepth(geometry as Geometry, properties), properties: withNumbers(properties) };
    };
  },
);

/** Fires that are burning. */
export const wildfireIncidents: Loader = eventLoader(
  'wildfire.current',
  'NIFC WFIGS current incident locations: GeoJSON, CSV, shapefile',
  NIFC,
  () => (feature) => {
    const out = fireField(feature, 'FireOutDateTime');
    return whyNotWildfire(feature) ?? (out === '' ? (feature as EventRecord) : 'the fire is out');
  },
);

/** The fires of past years. */
export const wildfireHistory: Loader = eventLoader(
  'wildfire.historical',
  'NIFC WFIGS incident locations of past years: GeoJSON, CSV, shapefile',
  NIFC,
  () => (feature) => whyNotWildfire(feature) ?? (feature as EventRecord),
);

/** The outlines of fires. */
export const wildfirePerimeters: Loader = eventLoader(
  'wildfire.perimeters',
  'NIFC WFIGS interagency fire perimeters: GeoJSON, shapefile',
  NIFC,
  () => (feature) =>
    /Polygon$/.test((feature.geometry as Geometry).type)
      ? (whyNotWildfire(feature) ?? (feature as EventRecord))
      : 'not the outline of a fire',
);

/** Why an incident is not a wildfire; null when it is one. The lists also have prescribed burns (RX), and cases that
 * dispatchers abandoned but could only rename. */
function whyNotWildfire(feature: FileFeature): string | null {
  if (/^rx$/i.test(fireField(feature, 'IncidentTypeCategory'))) return 'a prescribed fire';
  const names = [fireField(feature, 'IncidentName'), fireField(feature, 'IncidentShortDescription')];
  const isAbandoned =
    names.some((name) => /\bdo\s*not\s*use\b/i.test(name)) || fireField(feature, 'DeleteThis') === 'Yes';
  return isAbandoned ? 'a case marked "do not use"' : null;
}

/** A field of an incident; its name may have the prefix `attr_` or `poly_`, in any case. '' when blank. */
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

/** The time of an earthquake or of a fire's discovery. */
const TIMES = ['time', 'FireDiscoveryDateTime', 'attr_FireDiscoveryDateTime', 'poly_DateCurrent', 'FireDiscov'];

/** @param begin makes the function that turns a feature of one load into its record, or says why there is none */
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

/** The catalog's id of an event: a column of the CSV; in GeoJSON the code of the network and the event's own. */
function earthquakeId({ id, net, code }: FileFeature['properties']): string | null {
  if (typeof id === 'string') return id;
  return typeof net === 'string' && typeof code === 'string' ? net + code : null;
}

/** The depth is a column of the CSV and the third coordinate in GeoJSON. */
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
