import { basename } from 'node:path';
import type { Geometry } from 'geojson';
import { counted } from '../../base/format-numbers.ts';
import type { TextForm } from '../../formats/csv/parsed-records.ts';
import { type Box, boxOfGeometry, isEmptyGeometry } from '../../geo/bounding-boxes.ts';
import type { Layer } from '../tables/layers.ts';
import { isNoValue } from '../tables/no-values.ts';
import { hashIdentity } from '../tables/record-rows.ts';
import type { DatasetName, SiteRecord } from '../tables/records.ts';
import { zipHolds } from './agency-file.ts';
import { propertyFinder } from './agency-table.ts';
import { featuresIn, inFeatureFiles } from './feature-files.ts';
import type { FileFeature } from './file-feature.ts';
import { type FireOutline, FireOutlines } from './fire-outlines.ts';
import type { Loader, LoadReporter } from './loader.ts';
import { placeProblem } from './place-problem.ts';
import { type GroupColumns, SiteGroups } from './site-groups.ts';
import { vintageByColumns } from './vintages.ts';

export interface FeatureFormat extends Omit<Loader, 'loads' | 'read'> {
  readonly csv?: TextForm;
  /** Reads a zip with the files of `signature.zip`; any other zip is a shapefile. */
  readonly zipFeatures?: (
    file: string,
    report: LoadReporter,
  ) => AsyncIterable<readonly FileFeature[]>;
  /** Why a feature does not belong to the dataset; null when it does. */
  readonly refuse?: (properties: FileFeature['properties']) => string | null;
  /** Makes, for one load, the function that turns a feature into its record (default: itself), or says why there is none. */
  readonly begin?: () => (feature: FileFeature & SiteRecord) => SiteRecord | string;
  /** The column of the agency's id, if it is unique in the dataset. */
  readonly key?: string;
  /** The columns with a site's id: of identical rows under one id, the first counts. */
  readonly id?: readonly string[];
  /** What tells the outlines of one fire: of several, the newest counts. */
  readonly fireOf?: (feature: FileFeature & SiteRecord) => FireOutline;
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
      const fires = form.fireOf === undefined ? null : new FireOutlines();
      const isRepeated = form.id === undefined ? () => false : repeatedRows(form.id);
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
            const box = boxOfGeometry(geometry);
            if (foreign === null && box === null) shapes.lost += 1;
            else if (foreign === null && (geometry as Geometry).type !== 'Point') shapes.drawn += 1;
            const problem = foreign ?? geometryProblem(geometry, box, isOfUsAlone(name));
            const record = problem ?? recordOf(feature as FileFeature & SiteRecord);
            if (typeof record === 'string') return record;
            if (isRepeated(record, report.files)) return 'a row that an earlier one repeats';
            vintage.see(properties);
            if (groups?.add(record)) return [];
            if (fires !== null) {
              fires.add(record, form.fireOf!(feature as FileFeature & SiteRecord));
              return [];
            }
            const key =
              record.key ?? (form.key === undefined ? undefined : keyIn(properties, form.key));
            const ids = {
              ...(id === undefined ? {} : { id }),
              ...(key === undefined ? {} : { key }),
            };
            return [{ ...ids, geometry: record.geometry, properties: record.properties }];
          },
          ...(groups === null ? {} : { atEnd: () => groups.records(), buffer: groups }),
          ...(fires === null ? {} : { atEnd: () => newestOutlines(fires, report), buffer: fires }),
        }),
      };
    },
  };
}

/** Makes the function that tells whether a file has a row before, with the same id and everything else. Rows without an id may be alike. */
function repeatedRows(columns: readonly string[]): (record: SiteRecord, file: number) => boolean {
  const find = propertyFinder(columns);
  let current = 0;
  let seen = new Set<bigint>();
  return (record, file) => {
    if (file !== current) [current, seen] = [file, new Set()];
    const column = find(record.properties);
    const id = column === null ? '' : String(record.properties[column] ?? '').trim();
    if (id === '') return false;
    // 64 bits: of a million rows two agree by chance once in 30 million loads.
    const digest = hashIdentity(record).readBigUInt64LE();
    if (seen.has(digest)) return true;
    seen.add(digest);
    return false;
  };
}

function* newestOutlines(fires: FireOutlines, report: LoadReporter): Generator<SiteRecord> {
  yield* fires.records();
  if (fires.earlier > 0)
    report.note(
      `Left out: ${counted(fires.earlier, 'outline')} of fires of which a newer one is in the load.`,
    );
}

function keyIn(properties: FileFeature['properties'], column: string): SiteRecord['key'] {
  const value = properties[column];
  if (typeof value === 'number') return value;
  // Texts of digits are ids, also 9999.
  return typeof value === 'string' && (/\d/.test(value) || !isNoValue(value)) ? value : undefined;
}

/** Why a geometry cannot be searched; null when it can. @param isOfUs the agency lists places of the US alone */
function geometryProblem(geometry: unknown, box: Box | null, isOfUs: boolean): string | null {
  if (isEmptyGeometry(geometry)) return 'it has no geometry';
  if (box === null) return 'its coordinates are not degrees of longitude and latitude';
  return isOfUs ? placeProblem(box) : null;
}

/** Storms and earthquakes are listed at sea and abroad, too. */
const isOfUsAlone = (dataset: DatasetName): boolean =>
  dataset.startsWith('sites:') || dataset.startsWith('records:wildfire');
