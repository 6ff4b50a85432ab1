import type { Geometry } from 'geojson';
import type { ProximitySlug } from '../../contract/topics.ts';
import { boxOfGeometry } from '../tables/geometry-box.ts';
import type { SiteRecord } from '../tables/records.ts';
import type { CsvLayout } from './csv-features.ts';
import { featuresIn } from './feature-files.ts';
import type { FileFeature } from './geojson-features.ts';
import type { LoadReporter } from './load-report.ts';
import { describeLoad, inFeatureFiles, type Loader, type Publication } from './loader.ts';
import { type GroupColumns, SiteGroups } from './site-groups.ts';
import { type VintageColumns, vintageByColumns } from './vintages.ts';

/** What is special about an agency's download. */
export interface SiteFileFormat extends Publication {
  readonly topic: ProximitySlug;
  readonly describe: string;
  readonly csv?: CsvLayout;
  /** Why a feature does not belong to the topic; null when it does. */
  readonly refuse?: (properties: FileFeature['properties']) => string | null;
  /** For several rows per site: the columns that identify the site and in which its rows differ. */
  readonly group?: GroupColumns;
  /** The columns with the age of the rows; without them the file's day counts. */
  readonly vintage?: VintageColumns;
}

/** The loader of a topic's sites from CSV, GeoJSON or shapefile. */
export function siteLoader(form: SiteFileFormat): Loader {
  return {
    describe: form.describe,
    start(files, options, report) {
      const groups = form.group === undefined ? null : new SiteGroups(form.group);
      const vintage = vintageByColumns(form.vintage);
      return {
        kind: 'sites',
        topic: form.topic,
        info: describeLoad(`sites:${form.topic}`, files, options, form, vintage.text),
        records: inFeatureFiles<SiteRecord>(files, report, {
          featuresOf: (file) => featuresIn(file, options, report, form.csv),
          recordOf(feature) {
            const record = siteOf(feature, form, report);
            if (record !== null) vintage.see(record.properties);
            if (record === null || groups === null) return record;
            return groups.add(record) ? 'later' : record;
          },
          ...(groups === null ? {} : { atEnd: () => groups.records(), buffer: groups }),
        }),
      };
    },
  };
}

function siteOf(feature: FileFeature, form: SiteFileFormat, report: LoadReporter): SiteRecord | null {
  const { line, id, geometry, properties } = feature;
  const problem = form.refuse?.(properties) ?? geometryProblem(geometry);
  if (problem === null) return { ...(id === undefined ? {} : { id }), geometry: geometry as Geometry, properties };
  report.reject(problem, line, properties);
  return null;
}

/** Why a geometry cannot be searched; null when it can. */
export function geometryProblem(geometry: unknown): string | null {
  if (geometry === null || geometry === undefined) return 'it has no geometry';
  return boxOfGeometry(geometry) === null ? 'its coordinates are not degrees of longitude and latitude' : null;
}
