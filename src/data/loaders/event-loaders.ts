import type { Geometry, Position } from 'geojson';
import type { Layer } from '../tables/layers.ts';
import type { SiteRecord } from '../tables/records.ts';
import { numberIn } from './agency-table.ts';
import { type FeatureFormat, featureLoader } from './feature-loader.ts';
import type { FileFeature } from './file-feature.ts';
import type { FireOutline } from './fire-outlines.ts';
import { type FileShape, type Loader, publicDomain } from './loader.ts';

/** The time of an earthquake or of a fire's discovery. */
const TIMES = {
  names: [
    'time',
    'FireDiscoveryDateTime',
    'attr_FireDiscoveryDateTime',
    'poly_DateCurrent',
    'FireDiscov',
  ],
  as: 'day',
} as const;

/** Earthquakes as points with their depth in km, without blasts and explosions. */
export const earthquakes = featureLoader('records:earthquake', {
  describe: 'USGS earthquakes: CSV (15 or 22 columns) or GeoJSON',
  source: 'USGS ANSS Comprehensive Earthquake Catalog',
  licence: publicDomain('US Geological Survey'),
  signature: { columns: [['mag']], shapes: ['points'] },
  vintage: TIMES,
  begin() {
    // A query returns at most 20,000 events, so a load has several files, whose times may overlap.
    const ids = new Set<string>();
    return ({ geometry, properties }) => {
      const { type } = properties;
      if (type !== undefined && type !== null && type !== 'earthquake')
        return `not an earthquake: ${type}`;
      const id = earthquakeId(properties);
      if (id !== null && ids.has(id)) return 'an earthquake that an earlier row has';
      if (id !== null) ids.add(id);
      const own = id === null ? {} : { key: id };
      const { depth: _, ...others } = properties;
      return { ...own, geometry: withDepth(geometry, properties), properties: others };
    };
  },
});

const FIRE_COLUMNS = ['IncidentName', 'attr_IncidentName', 'IrwinID', 'attr_IrwinID'];
const OUTLINE_COLUMNS = [
  'poly_IncidentName',
  'INCIDENT',
  'UNQE_FIRE_ID',
  'FIRE_YEAR',
  'poly_GISAcres',
  'poly_DateCurrent',
  'incident_name',
  'FIRE_NAME',
];

export const wildfireIncidents = fireLoader(
  'records:wildfire.current',
  'NIFC WFIGS current incident locations: GeoJSON, CSV, shapefile',
  'points',
  (feature) => (fireField(feature, 'FireOutDateTime') === '' ? null : 'the fire is out'),
);

export const wildfireHistory = fireLoader(
  'records:wildfire.historical',
  'NIFC WFIGS incident locations of past years: GeoJSON, CSV, shapefile',
  'points',
  () => null,
);

export const wildfirePerimeters = fireLoader(
  'records:wildfire.perimeters',
  'NIFC WFIGS interagency fire perimeters: GeoJSON, shapefile',
  'outlines',
  ({ geometry }) => (/Polygon$/.test(geometry.type) ? null : 'not the outline of a fire'),
  outlineOf,
);

/** @param refuse returns why a wildfire is not of this kind; null if it is */
function fireLoader(
  name: Layer,
  describe: string,
  shape: FileShape,
  refuse: (feature: FileFeature & SiteRecord) => string | null,
  fireOf?: FeatureFormat['fireOf'],
): Loader {
  const columns = [[...FIRE_COLUMNS, ...(shape === 'outlines' ? OUTLINE_COLUMNS : [])]];
  return featureLoader(name, {
    describe,
    source: 'National Interagency Fire Center, WFIGS',
    licence: publicDomain('National Interagency Fire Center'),
    signature: { columns, shapes: [shape] },
    vintage: TIMES,
    begin: () => (feature) => whyNotWildfire(feature) ?? refuse(feature) ?? feature,
    ...(fireOf && { fireOf }),
  });
}

/** Why an incident is not a wildfire, or null. Lists have prescribed burns (RX), and cases that dispatchers could only rename. */
function whyNotWildfire(feature: FileFeature): string | null {
  if (/^rx$/i.test(fireField(feature, 'IncidentTypeCategory'))) return 'a prescribed fire';
  const names = [
    fireField(feature, 'IncidentName'),
    fireField(feature, 'IncidentShortDescription'),
  ];
  const isAbandoned =
    names.some((name) => /\bdo\s*not\s*use\b/i.test(name)) ||
    fireField(feature, 'DeleteThis') === 'Yes';
  return isAbandoned ? 'a case marked "do not use"' : null;
}

/** What tells the outlines of one fire. Agencies spell the columns in ways of their own. */
function outlineOf(feature: FileFeature): FireOutline {
  const first = (...names: readonly string[]) =>
    names.map((name) => fireField(feature, name)).find((text) => text !== '') ?? '';
  const drawn = dayAndTime(first('DateCurrent', 'PolygonDateTime', 'EditDate', 'CreateDate'));
  const found = dayAndTime(first('FireDiscoveryDateTime', 'FireDiscoveryDate'));
  const year = first('FIRE_YEAR', 'FIREYEAR', 'YEAR_');
  const time = found || drawn;
  return {
    id: first('IrwinID', 'IRWINID', 'UniqueFireIdentifier', 'UNQE_FIRE_ID').toUpperCase(),
    name: first('IncidentName', 'incident_name', 'INCIDENT', 'FIRE_NAME', 'mission'),
    year: year || (time === 0 ? '' : String(new Date(time).getUTCFullYear())),
    drawnAt: drawn,
  };
}

/** Milliseconds of epoch milliseconds or of a date as text; 0 for none. */
function dayAndTime(text: string): number {
  const time = /^\d{12,13}$/.test(text) ? Number(text) : Date.parse(text.replaceAll('/', '-'));
  return Number.isNaN(time) ? 0 : time;
}

/** A field of an incident; its name may have the prefix `attr_` or `poly_`, in any case. '' when blank. */
function fireField({ properties }: FileFeature, field: string): string {
  for (const name of [`attr_${field}`, `poly_${field}`, field]) {
    const own = Object.hasOwn(properties, name)
      ? name
      : Object.keys(properties).find((other) => other.toLowerCase() === name.toLowerCase());
    const text = own === undefined ? '' : String(properties[own] ?? '').trim();
    if (text !== '') return text;
  }
  return '';
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
