import { basename } from 'node:path';
import type { Geometry } from 'geojson';
import type { TextForm } from '../../formats/csv/parsed-records.ts';
import { boxOfGeometry, isEmptyGeometry } from '../../geo/bounding-boxes.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { Layer } from '../tables/layers.ts';
import { isNoValue } from '../tables/no-values.ts';
import type { SiteRecord } from '../tables/records.ts';
import { zipHolds } from './agency-file.ts';
import { type FileFeature, featuresIn, inFeatureFiles } from './feature-files.ts';
import type { Loader, LoadReporter } from './loader.ts';
import { type GroupColumns, SiteGroups } from './site-groups.ts';
import { vintageByColumns } from './vintages.ts';

export interface FeatureFormat extends Omit<Loader, 'loads' | 'read'> {
  readonly csv?: TextForm;
  /** Reads a zip with the files of `signature.zip`; any other zip is a shapefile. */
  readonly zipFeatures?: (file: string, report: LoadReporter) => ReturnType<typeof featuresIn>;
  /** Why a feature does not belong to the dataset; null when it does. */
  readonly refuse?: (properties: FileFeature['properties']) => string | null;
  /** Makes, for one load, the function that turns a feature into its record (default: itself), or says why there is none. */
  readonly begin?: () => (feature: FileFeature & SiteRecord) => SiteRecord | string;
  /** The column of the agency's id, if it is unique in the dataset. */
  readonly key?: string;
  /** For several rows per site: the columns that identify the site and in which its rows differ. */
  readonly group?: GroupColumns;
}

/** The loader of a topic's sites, or of events of a kind, from CSV, GeoJSON or shapefile. */
export function featureLoader(name: Layer, form: FeatureFormat): Loader {
  return {
    ...form,
    loads: { name, level: '' },
    read(files, options, report) {
      const groups = form.group === undefined ? null : new SiteGroups(form.group);
      const vintage = vintageByColumns(form.vintage);
      const recordOf = form.begin?.() ?? ((feature) => feature);
      const shapes = { drawn: 0, lost: 0 };
      return {
        vintage: () => vintage.text() || (form.vintageOfName?.(basename(files[0] ?? '')) ?? ''),
        shapes,
        records: inFeatureFiles<SiteRecord>(files, report, {
          async *featuresOf(file) {
            const { zip } = form.signature;
            const isWhole = zip !== undefined && (await zipHolds(file, zip));
            yield* isWhole
              ? form.zipFeatures!(file, report)
              : featuresIn(file, options, report, form.csv);
          },
          recordsOf(feature) {
            const { id, geometry, properties } = feature;
            const foreign = form.refuse?.(properties) ?? null;
            if (foreign === null && isEmptyGeometry(geometry)) shapes.lost += 1;
            else if (foreign === null && (geometry as Geometry).type !== 'Point') shapes.drawn += 1;
            const problem = foreign ?? geometryProblem(geometry, name.startsWith('sites:'));
            const record = problem ?? recordOf(feature as FileFeature & SiteRecord);
            if (typeof record === 'string') return record;
            vintage.see(properties);
            if (groups?.add(record)) return [];
            const key =
              record.key ?? (form.key === undefined ? undefined : keyIn(properties, form.key));
            const ids = {
              ...(id === undefined ? {} : { id }),
              ...(key === undefined ? {} : { key }),
            };
            return [{ ...ids, geometry: record.geometry, properties: record.properties }];
          },
          ...(groups === null ? {} : { atEnd: () => groups.records(), buffer: groups }),
        }),
      };
    },
  };
}

function keyIn(properties: FileFeature['properties'], column: string): SiteRecord['key'] {
  const value = properties[column];
  if (typeof value === 'number') return value;
  // Texts of digits are ids, also 9999.
  return typeof value === 'string' && (/\d/.test(value) || !isNoValue(value)) ? value : undefined;
}

/** Why a geometry cannot be searched; null when it can. @param isSite the agency lists places of the US alone */
function geometryProblem(geometry: unknown, isSite: boolean): string | null {
  if (isEmptyGeometry(geometry)) return 'it has no geometry';
  const box = boxOfGeometry(geometry);
  if (box === null) return 'its coordinates are not degrees of longitude and latitude';
  const [lat, lng] = [box.minLat, box.minLng];
  const lacksMinus = isSite && lng > 0 && !isCovered({ lat, lng }) && isCovered({ lat, lng: -lng });
  return lacksMinus ? 'its longitude has lost its minus sign' : null;
}
