import { basename } from 'node:path';
import type { PolygonLayer } from '../../contract/layers/layer-description.ts';
import { countiesServedBy, readAreaCode } from '../tables/area-codes.ts';
import type { ZoneRecord } from '../tables/records.ts';
import { storedFacts } from '../zones/zone-layer.ts';
import { zoneDatasetOf } from '../zones/zone-layers.ts';
import { pickProperties, tableRows } from './agency-table.ts';
import { inTurn, type Loader, type LoadReporter } from './loader.ts';
import { vintageByColumns } from './vintages.ts';
import { textReader, ZoneRemarks } from './zone-loaders.ts';

type AreaLayer = PolygonLayer & { readonly area: NonNullable<PolygonLayer['area']> };

/** The loader of a layer that says something of counties, tracts or ZIP codes: tables with a column of their codes. */
export function areaLayerLoader(layer: AreaLayer): Loader {
  const { area, vintage: said } = layer;
  return {
    describe: `${layer.title}, by its description: a table by ${area.level === 'zip' ? 'ZIP code' : area.level}`,
    source: layer.publisher ?? layer.title,
    licence: layer.licence ?? '',
    loads: { name: zoneDatasetOf(layer), level: '' },
    signature: { columns: [area.from, ...(layer.class?.from ? [layer.class.from] : [])] },
    read(files, _, report) {
      const vintage = vintageByColumns(
        typeof said === 'object' ? { names: said.from, as: said.as } : undefined,
      );
      const remarks = new ZoneRemarks(layer);
      async function* records() {
        yield* inTurn(files, report, (file) =>
          tableRows<ZoneRecord>(file, (columns) => {
            const codes = columns.need(...area.from);
            if (layer.class?.from) columns.need(...layer.class.from);
            return recordReader(layer, file, codes, columns.names, vintage.see, remarks, report);
          }),
        );
        for (const note of remarks.notes()) report.note(note);
      }
      return {
        vintage: () => vintage.text() || (typeof said === 'string' ? said : ''),
        records: records(),
      };
    },
  };
}

function recordReader(
  layer: AreaLayer,
  file: string,
  codes: number,
  names: readonly string[],
  seeVintage: (properties: Record<string, unknown>) => void,
  remarks: ZoneRemarks,
  report: LoadReporter,
) {
  const textOf = textReader();
  const { level } = layer.area;
  const recordsOf = (cells: readonly string[]): readonly ZoneRecord[] | string => {
    const found = readAreaCode(cells[codes] ?? '', level);
    if ('problem' in found) return found.problem;
    const properties = pickProperties(names, cells, new Set());
    const text = (columns: readonly string[] = []) => textOf(properties, columns);
    const code = layer.class?.constant ?? text(layer.class?.from);
    remarks.seeClass({ code, subtype: '' });
    seeVintage(properties);
    const facts = storedFacts(layer, text, remarks.seeNumber);
    const areas = level === 'county' ? countiesServedBy(found.geoid) : [found.geoid];
    return areas.map((geoid) => ({
      ...{ kind: 'zone', geoid: basename(file), code, detail: '', geometry: null },
      facts: { ...facts, area: geoid },
    }));
  };
  return ({ cells, line }: { readonly cells: readonly string[]; readonly line: number }) =>
    report.take(recordsOf(cells), line, cells);
}
