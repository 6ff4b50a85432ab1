import { basename } from 'node:path';
import type { MultiPolygon, Polygon } from 'geojson';
import { boxOfGeometry } from '../../geo/bounding-boxes.ts';
import { type CodeFinding, readGeoid } from '../tables/area-codes.ts';
import type { AreaRecord } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { featuresIn, inFeatureFiles } from './feature-files.ts';
import type { FileFeature } from './file-feature.ts';
import { type Loader, publicDomain } from './loader.ts';
import { placeProblem } from './place-problem.ts';

type BoundaryLevel = 'tract' | 'county';

const CENSUS_CODE = ['GEOID', 'GEOID20', 'GEOID10', 'AFFGEOID', 'GEO_ID', 'FIPS'];

export const areas: Loader = boundaryLoader('tract');

/** Boundaries of counties; loaded tracts stay. */
export const counties: Loader = boundaryLoader('county');

function boundaryLoader(level: BoundaryLevel): Loader {
  return {
    describe: `Census ${level} boundaries: cartographic or TIGER/Line shapefile (.shp or .zip) or GeoJSON`,
    source: `US Census Bureau ${level} boundaries`,
    licence: publicDomain('US Census Bureau'),
    loads: { name: 'areas', level },
    signature: { columns: [CENSUS_CODE], shapes: ['outlines'] },
    read(files, _, report) {
      const seen = new Set<string>();
      return {
        vintage: () => /(?:^|\D)(20\d\d)(?:\D|$)/.exec(basename(files[0]!))?.[1] ?? '',
        records: inFeatureFiles<AreaRecord>(files, report, {
          featuresOf: (file) => featuresIn(file, {}, report),
          recordsOf({ geometry, properties }) {
            const code = findCode(properties, level);
            if ('problem' in code) return code.problem;
            const { geoid } = code;
            const type = (geometry as { type?: unknown } | null)?.type;
            const box = boxOfGeometry(geometry);
            if ((type !== 'Polygon' && type !== 'MultiPolygon') || box === null)
              return 'it is not a polygon in degrees';
            const elsewhere = placeProblem(box);
            if (elsewhere !== null) return elsewhere;
            if (seen.has(geoid)) return `the ${level} is listed twice`;
            seen.add(geoid);
            if (FORMER_COUNTIES.test(geoid)) report.note(FORMER_CODES_NOTE);
            const name = findText(properties, 'NAMELSAD', 'NAMELSAD20', 'NAME', 'NAME20');
            return [
              {
                geoid,
                level,
                name,
                state: stateOf(geoid),
                geometry: geometry as Polygon | MultiPolygon,
              },
            ];
          },
        }),
      };
    },
  };
}

/** Former codes: Connecticut's eight counties (2022), Shannon SD, Wade Hampton AK (2015), Bedford city VA (2013). */
const FORMER_COUNTIES = /^(090(01|03|05|07|09|11|13|15)|46113|02270|51515)/;
const FORMER_CODES_NOTE =
  'Some codes are from before 2022, and the ratings of December 2025 use newer ones. Load boundaries of 2022 or later.';

function findCode(properties: FileFeature['properties'], level: BoundaryLevel): CodeFinding {
  const state = findText(properties, 'STATEFP', 'STATEFP20', 'STATE_FIPS', 'STATE');
  // "1400000US51079030101" and "0500000US01029".
  const code = findText(properties, ...CENSUS_CODE).replace(/^\d+US/, '');
  if (code === '') return { problem: `it has no code of a ${level}` };
  return readGeoid(code, level, { stateFips: /^\d{1,2}$/.test(state) ? state : '' });
}

function findText(properties: FileFeature['properties'], ...names: string[]): string {
  for (const name of names) {
    const value = properties[name] ?? properties[name.toLowerCase()];
    if (typeof value === 'string' || typeof value === 'number') return String(value).trim();
  }
  return '';
}
