import type { MultiPolygon, Polygon } from 'geojson';
import { memo } from '../../base/memo.ts';
import { boxOfGeometry, isEmptyGeometry, polygonOfBox } from '../../geo/bounding-boxes.ts';
import { dayIn } from '../tables/days.ts';
import type { ZoneRecord } from '../tables/records.ts';
import { spellingsOf, stateOf } from '../tables/states.ts';
import { storedFacts, subtypeOf, type ZoneLayer } from '../zones/zone-layer.ts';
import { FLOOD_ZONES, type ZoneDataset } from '../zones/zone-layers.ts';
import { propertyFinder } from './agency-table.ts';
import { type FileFeature, featuresIn, inFeatureFiles } from './feature-files.ts';
import { type Loader, type LoaderOptions, publicDomain } from './loader.ts';
import { vintageByColumns } from './vintages.ts';

/** FEMA's zones and panels, by hand from pages of the map service, or from the zip of a county, which has both. */
export const floodZones: Loader = zoneLoader('floodZones', FLOOD_ZONES, {
  describe:
    "FEMA's NFHL zones (S_FLD_HAZ_AR) and panels (S_FIRM_PAN): GeoJSON, shapefile, or a county's zip with both",
  source: 'FEMA National Flood Hazard Layer',
  licence: publicDomain('Federal Emergency Management Agency (FEMA), National Flood Hazard Layer'),
});

/** The loader of a layer of zones. A file has zones or panels. */
function zoneLoader(
  name: ZoneDataset,
  layer: ZoneLayer,
  described: Pick<Loader, 'describe' | 'source' | 'licence'>,
): Loader {
  const { zones, panels } = layer;
  return {
    ...described,
    loads: { name, level: '' },
    signature: { columns: [[zones.study], [zones.code, panels.code]], shapes: ['outlines'] },
    read(files, options, report) {
      const vintage = vintageByColumns({ names: [panels.effective], as: 'day' });
      const propertyOf = propertyReader();
      const shapes = { drawn: 0, lost: 0 };
      return {
        // The zones themselves are not dated.
        vintage: vintage.text,
        shapes,
        records: inFeatureFiles<ZoneRecord>(files, report, {
          atEnd: () => tileRecords(options.tiles),
          featuresOf: (file) => featuresIn(file, options, report),
          recordsOf({ geometry, properties }) {
            if (isEmptyGeometry(geometry)) {
              shapes.lost += 1;
              return 'it has no geometry';
            }
            shapes.drawn += 1;
            const type = (geometry as { type?: unknown }).type;
            if (
              (type !== 'Polygon' && type !== 'MultiPolygon') ||
              boxOfGeometry(geometry) === null
            ) {
              return 'it is not a polygon in degrees';
            }
            const text = (field: string) => String(propertyOf(properties, field) ?? '').trim();
            const geoid = text(zones.study);
            if (stateOf(geoid) === '')
              return `its ${zones.study} does not begin with the code of a state`;
            const own = { geoid, geometry: geometry as Polygon | MultiPolygon };
            const code = text(zones.code);
            if (code !== '') {
              const detail = subtypeOf(layer, text(zones.subtype));
              return [{ ...own, kind: 'zone', code, detail, facts: storedFacts(layer, text) }];
            }
            const panel = text(panels.code);
            if (panel === '') return `it has neither ${zones.code} nor ${panels.code}`;
            vintage.see(properties);
            const detail = dayIn(propertyOf(properties, panels.effective));
            return [{ ...own, kind: 'panel', code: panel, detail, facts: null }];
          },
        }),
      };
    },
  };
}

function tileRecords(tiles: LoaderOptions['tiles']): ZoneRecord[] {
  const { state = '', boxes = [] } = tiles ?? {};
  return boxes.map((box) => ({
    ...{ kind: 'tile', geoid: spellingsOf(state).fips, code: '', detail: '', facts: null },
    geometry: polygonOfBox(box),
  }));
}

/** Makes the function that reads a property, in any case of its name. */
function propertyReader(): (properties: FileFeature['properties'], field: string) => unknown {
  const finderOf = memo((field: string) => propertyFinder([field]));
  return (properties, field) => {
    const name = finderOf(field)(properties);
    return name === null ? null : properties[name];
  };
}
