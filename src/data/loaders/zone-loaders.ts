import { basename } from 'node:path';
import type { MultiPolygon, Polygon } from 'geojson';
import { counted } from '../../base/format-numbers.ts';
import { memo } from '../../base/memo.ts';
import { FLOOD_ZONES } from '../../contract/layers/flood-zones.ts';
import type { LayerSource, PolygonLayer } from '../../contract/layers/layer-description.ts';
import { boxOfGeometry, isEmptyGeometry, polygonOfBox } from '../../geo/bounding-boxes.ts';
import { dayIn, dayOrYearIn } from '../tables/days.ts';
import { isNoValue } from '../tables/no-values.ts';
import type { ZoneRecord } from '../tables/records.ts';
import { spellingsOf, stateOf } from '../tables/states.ts';
import { stateAt } from '../tables/states-near.ts';
import {
  isUndescribed,
  kindOf,
  type NumberRemark,
  type StoredFacts,
  storedFacts,
  subtypeOf,
  valueIn,
  type ZoneName,
} from '../zones/zone-layer.ts';
import { zoneDatasetOf } from '../zones/zone-layers.ts';
import { propertyFinder } from './agency-table.ts';
import { featuresIn, inFeatureFiles } from './feature-files.ts';
import type { FileFeature } from './file-feature.ts';
import { type Loader, type LoaderOptions, LoadReporter } from './loader.ts';
import { placeProblem } from './place-problem.ts';
import { vintageByColumns } from './vintages.ts';

/** FEMA's zones and panels, by hand from pages of the map service, or from the zip of a county, which has both. */
export const floodZones: Loader = polygonLoader(
  FLOOD_ZONES,
  "FEMA's NFHL zones (S_FLD_HAZ_AR) and panels (S_FIRM_PAN): GeoJSON, shapefile, or a county's zip with both",
);

/** The loader of a layer of polygons. A file has zones, or the sheets of the map. */
export function polygonLoader(layer: PolygonLayer, describe: string): Loader {
  const { sheets, study } = layer;
  const classColumns = [layer.class?.from ?? [], sheets?.code ?? []].flat();
  return {
    describe,
    source: layer.publisher ?? layer.title,
    licence: layer.licence ?? '',
    loads: { name: zoneDatasetOf(layer), level: '' },
    signature: {
      // Public extracts hold the class and little else: without a study, the file is one.
      columns: classColumns.length > 0 ? [classColumns] : [],
      shapes: ['outlines'],
    },
    read(files, options, report) {
      const vintage = vintageByColumns(
        typeof layer.vintage === 'object'
          ? { names: layer.vintage.from, as: layer.vintage.as }
          : undefined,
      );
      const textOf = textReader();
      const shapes = { drawn: 0, lost: 0 };
      const remarks = new ZoneRemarks(layer);
      let pending: ReadonlySet<string> = new Set();
      let file = '';
      return {
        vintage: () => vintage.text() || (typeof layer.vintage === 'string' ? layer.vintage : ''),
        shapes,
        records: inFeatureFiles<ZoneRecord>(files, report, {
          begin: async () => {
            pending = await pendingStudies(layer, files, options);
          },
          atEnd() {
            for (const note of remarks.notes()) report.note(note);
            return tileRecords(options.tiles);
          },
          featuresOf(path) {
            file = path;
            return featuresIn(path, options, report);
          },
          recordsOf({ geometry, properties }) {
            const type = (geometry as { type?: unknown } | null)?.type;
            const box = boxOfGeometry(geometry);
            if ((type !== 'Polygon' && type !== 'MultiPolygon') || box === null) {
              shapes.lost += 1;
              return isEmptyGeometry(geometry)
                ? 'it has no geometry'
                : 'it is not a polygon in degrees';
            }
            shapes.drawn += 1;
            const elsewhere = placeProblem(box);
            if (elsewhere !== null) return elsewhere;
            const constants = sourceOf(layer, file)?.set ?? {};
            const text = (columns: readonly string[] = []) =>
              constants[columns.find((column) => Object.hasOwn(constants, column)) ?? ''] ??
              textOf(properties, columns);
            const named = text(study);
            const isNamed = study === undefined || !isNoValue(named);
            const state = isNamed ? '' : stateOfOutline(geometry, options);
            if (!isNamed)
              report.note(`Without ${study[0]}, each file counts as a study of its state.`);
            // Without studies each file is published by itself.
            const ofFile = study === undefined ? '' : `${spellingsOf(state).fips}:`;
            const geoid = isNamed && study !== undefined ? named : `${ofFile}${basename(file)}`;
            if (study !== undefined && stateOf(geoid) === '') {
              return isNamed
                ? `its ${study[0]} does not begin with the code of a state`
                : `it has no ${study[0]}, and lies in no state`;
            }
            const own = { geoid, geometry: geometry as Polygon | MultiPolygon };
            const code = layer.class?.constant ?? text(layer.class?.from);
            // Without a class it is unknown; left out, its places would be outside of the layer.
            if (code !== '' || sheets === undefined) {
              if (pending.has(geoid)) return `the map of its study is ${NOT_IN_FORCE}`;
              const detail = valueIn(layer, subtypeOf(layer, text(layer.class?.detail)));
              remarks.seeClass({ code, subtype: detail });
              if (sheets === undefined) vintage.see(properties);
              const facts = storedFacts(layer, text, remarks.seeNumber);
              return [{ ...own, kind: 'zone', code, detail, facts: withNewest(facts) }];
            }
            const sheet = valueIn(layer, text(sheets.code));
            if (sheet === '') return `it has neither ${classColumns.join(' nor ')}`;
            if (isPending(sheets, text)) return `it is a sheet of the map that is ${NOT_IN_FORCE}`;
            vintage.see(properties);
            return [
              {
                ...own,
                kind: 'panel',
                code: sheet,
                detail: dayIn(text(sheets.effective)),
                facts: null,
              },
            ];

            function withNewest(facts: StoredFacts): StoredFacts {
              if (typeof layer.overlaps !== 'object') return facts;
              const newest = dayOrYearIn(text(layer.overlaps.newest));
              if (newest === '') remarks.addUndated();
              return { ...facts, newest };
            }
          },
        }),
      };
    },
  };
}

/** The source of the description that a file is from: its own file, or the download of that number. */
function sourceOf({ layer, sources = [] }: PolygonLayer, file: string): LayerSource | undefined {
  const own = sources.find((source) => source.file !== undefined && source.file === file);
  const [, number] = /^(?:.*)-US(?:-(\d+))?\.geojson$/.exec(basename(file)) ?? [];
  const isDownload = basename(file).startsWith(`${layer}-US`);
  return own ?? (isDownload ? sources[number === undefined ? 0 : Number(number) - 1] : undefined);
}

const NOT_IN_FORCE = 'not in force yet (preliminary)';

type TextOf = (columns?: readonly string[]) => string;

/** A sheet with the day of its preliminary issue, and without one since which it is in force: agencies write 9999 there. */
function isPending({ effective, preliminary }: Sheets, text: TextOf): boolean {
  return (
    preliminary !== undefined && dayIn(text(preliminary)) !== '' && dayIn(text(effective)) === ''
  );
}

type Sheets = NonNullable<PolygonLayer['sheets']>;

/** The studies all of whose sheets are not in force: their zones are not, either. The zones come first, so the sheets are read before. */
async function pendingStudies(
  { sheets, study }: PolygonLayer,
  files: readonly string[],
  options: LoaderOptions,
): Promise<ReadonlySet<string>> {
  const pending = new Set<string>();
  if (sheets?.preliminary === undefined || study === undefined) return pending;
  const textOf = textReader();
  const effective = new Set<string>();
  for (const file of files) {
    for await (const features of featuresIn(file, options, new LoadReporter())) {
      const ofSheets = features.filter(({ properties }) => textOf(properties, sheets.code) !== '');
      for (const { properties } of ofSheets) {
        const text: TextOf = (columns = []) => textOf(properties, columns);
        (isPending(sheets, text) ? pending : effective).add(text(study));
      }
      // A file has zones or sheets.
      if (ofSheets.length === 0) break;
    }
  }
  return new Set([...pending].filter((id) => !effective.has(id)));
}

/** Counts what is to be told of the values of a layer. */
export class ZoneRemarks {
  readonly #layer: PolygonLayer;
  readonly #counts = new Map<string, number>();
  #undescribed = 0;
  #undated = 0;

  constructor(layer: PolygonLayer) {
    this.#layer = layer;
  }

  seeClass(name: ZoneName): void {
    if (isUndescribed(kindOf(this.#layer, name))) this.#undescribed += 1;
  }

  addUndated(): void {
    this.#undated += 1;
  }

  seeNumber = ({ column, about }: NumberRemark): void => {
    const key = `${column} ${about}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  };

  notes(): string[] {
    const notes: string[] = [];
    if (this.#undescribed > 0)
      notes.push(
        `${counted(this.#undescribed, 'row')} with an empty or refused class: places there are unknown.`,
      );
    if (this.#undated > 0 && typeof this.#layer.overlaps === 'object') {
      const [column] = this.#layer.overlaps.newest;
      notes.push(
        `${counted(this.#undated, 'row')} without a date in ${column}: they count as the oldest.`,
      );
    }
    for (const [name, { from, type, unit, least, most }] of Object.entries(
      this.#layer.columns ?? {},
    )) {
      const of = (about: NumberRemark['about']) => this.#counts.get(`${name} ${about}`) ?? 0;
      const [beyond, unknown, assumed] = [of('range'), of('unknown unit'), of('assumed unit')];
      const texts = of('no number');
      const range = [least ?? 'any', most ?? 'any'].join(' to ');
      if (beyond > 0)
        notes.push(`${counted(beyond, 'value')} of ${from[0]} left out: beyond ${range}.`);
      if (texts > 0)
        notes.push(
          `${counted(texts, 'value')} of ${from[0]} left out: no ${type === 'count' ? 'whole number' : 'number'}.`,
        );
      if (unknown > 0)
        notes.push(`${counted(unknown, 'value')} of ${from[0]} left out: in an unknown unit.`);
      if (assumed > 0)
        notes.push(
          `${counted(assumed, 'value')} of ${from[0]} without a unit: taken as ${unit?.assumed}.`,
        );
    }
    return notes;
  }
}

/** The state of an outline without a study: the one that is given, or that of its first corner. */
function stateOfOutline(geometry: unknown, { states }: LoaderOptions): string {
  if (typeof states === 'object' && states.length === 1) return states[0]!;
  let member = (geometry as { readonly coordinates: unknown }).coordinates;
  while (Array.isArray(member) && Array.isArray(member[0])) [member] = member;
  const [lng, lat] = member as [number, number];
  return stateAt({ lat, lng })[0] ?? '';
}

function tileRecords(tiles: LoaderOptions['tiles']): ZoneRecord[] {
  const { state = '', boxes = [] } = tiles ?? {};
  return boxes.map((box) => ({
    kind: 'tile',
    geoid: spellingsOf(state).fips,
    code: '',
    detail: '',
    facts: null,
    geometry: polygonOfBox(box),
  }));
}

/** Makes the function that reads a property as text, '' for none: under the first of its names that the file has, in any case. */
export function textReader(): (
  properties: FileFeature['properties'],
  columns: readonly string[],
) => string {
  const finderOf = memo((columns: readonly string[]) => propertyFinder(columns));
  return (properties, columns) => {
    const name = finderOf(columns)(properties);
    const value = name === null ? null : properties[name];
    return value instanceof Date ? value.toISOString() : String(value ?? '').trim();
  };
}
