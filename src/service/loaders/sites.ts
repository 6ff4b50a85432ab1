import type { Geometry } from 'geojson';
import type { ProximitySlug } from '../../contract/topics.ts';
import { boxOfGeometry } from '../data/geometry-box.ts';
import type { SiteRecord } from '../data/records.ts';
import type { CsvForm } from './csv-features.ts';
import { featuresIn } from './feature-files.ts';
import type { FileFeature } from './geojson-features.ts';
import type { OpenReport } from './load-report.ts';
import { describeLoad, inFeatureFiles, type Loader, type Publication } from './loader.ts';

/** What is particular to the download of an agency. */
export interface SiteForm extends Publication {
  readonly topic: ProximitySlug;
  readonly describe: string;
  readonly csv?: CsvForm;
  /** Why a feature does not belong to the topic; null when it does. */
  readonly refuse?: (properties: FileFeature['properties']) => string | null;
  /** Where a site has several rows: what names the site, and the column in which the rows differ, kept as a list. */
  readonly group?: { readonly id: readonly string[]; readonly list: readonly string[] };
}

/** The loader of a topic's sites from CSV, GeoJSON or shapefile. */
export function siteLoader(form: SiteForm): Loader {
  return {
    describe: form.describe,
    start(files, options, report) {
      const groups = form.group === undefined ? null : createGroups(form.group);
      return {
        kind: 'sites',
        topic: form.topic,
        info: describeLoad(`sites:${form.topic}`, files, options, form, () => ''),
        records: inFeatureFiles<SiteRecord>(files, report, {
          featuresOf: (file) => featuresIn(file, options, report, form.csv),
          recordOf(feature) {
            const record = siteOf(feature, form, report);
            if (record === null || groups === null) return record;
            return groups.add(record) ? 'later' : record;
          },
          ...(groups === null ? {} : { atEnd: groups.records }),
        }),
      };
    },
  };
}

function siteOf(feature: FileFeature, form: SiteForm, report: OpenReport): SiteRecord | null {
  const { line, id, geometry, properties } = feature;
  const problem = form.refuse?.(properties) ?? geometryProblem(geometry);
  if (problem === null) return { ...(id === undefined ? {} : { id }), geometry: geometry as Geometry, properties };
  report.reject(problem, line, properties);
  return null;
}

/** Why a geometry cannot be searched; null when it can. */
export function geometryProblem(geometry: unknown): string | null {
  if (geometry === null || geometry === undefined) return 'it has no geometry';
  return boxOfGeometry(geometry) === null ? 'its coordinates are no degrees of longitude and latitude' : null;
}

interface Group {
  readonly geometry: Geometry;
  readonly properties: Map<string, unknown>;
  readonly list: unknown[];
}

/** Rows gathered by site: the properties in which they all agree are the site's. */
function createGroups({ id, list }: NonNullable<SiteForm['group']>) {
  const groups = new Map<string, Group>();
  let listName = '';
  return {
    /** False when the row does not say which site it is of. */
    add({ geometry, properties }: SiteRecord): boolean {
      const key = keyIn(properties, id);
      if (key === null) return false;
      const site = String(properties[key]);
      const column = keyIn(properties, list);
      const group = groups.get(site);
      if (group === undefined) {
        groups.set(site, { geometry, properties: new Map(Object.entries(properties)), list: [] });
      } else {
        for (const [name, value] of group.properties) {
          if (properties[name] !== value) group.properties.delete(name);
        }
      }
      if (column !== null) {
        listName = column;
        const known = groups.get(site)!.list;
        if (!known.includes(properties[column])) known.push(properties[column]);
      }
      return true;
    },
    *records(): Generator<SiteRecord> {
      for (const { geometry, properties, list: values } of groups.values()) {
        const listed = values.length === 0 ? {} : { [listName]: values };
        yield { geometry, properties: { ...Object.fromEntries(properties), ...listed } };
      }
    },
  };
}

/** The name under which a property stands, whose name may have numbers before it and any case. */
function keyIn(properties: FileFeature['properties'], names: readonly string[]): string | null {
  const plain = (name: string) =>
    name
      .replace(/^\d+\.\s*/, '')
      .replace(/[\s_]/g, '')
      .toLowerCase();
  const wanted = names.map(plain);
  return Object.keys(properties).find((name) => wanted.includes(plain(name))) ?? null;
}
