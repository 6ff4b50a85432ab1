import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { counted, grouped } from '../../base/format-numbers.ts';
import { dataFolderOf } from '../../base/platform-folders.ts';
import { columnsOf } from '../../columns/topic-columns.ts';
import {
  type LayerDescription,
  layerSchema,
  pointSchema,
} from '../../contract/layers/layer-description.ts';
import { declareLayers, type LayerSlug, type TopicSlug } from '../../contract/topics.ts';
import { inputFiles } from '../../data/loaders/input-files.ts';
import { LoadReporter } from '../../data/loaders/loader.ts';
import { loaderNamed } from '../../data/loaders/loader-table.ts';
import { outdatedText } from '../../data/sources/layer-sources.ts';
import { openDataReadOnly } from '../../data/tables/data-database.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import type { ZoneRecord } from '../../data/tables/records.ts';
import { isUndescribed, kindOf, shownClass } from '../../data/zones/zone-layer.ts';
import { readLayer } from '../../job/read-layers.ts';
import { type CliContext, print, printJson, sayJson } from '../frame/context.ts';
import type { LayerCheckJson, LayerClassJson, LayerDataJson } from '../json/check-json.ts';
import { listed } from '../messages/format.ts';
import { type RunCommand, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { EXIT } from '../options/exit-codes.ts';

/** `perilbook layer check FILE [DATA…]`: lists all errors of a description, and what it would load. */
const checkCommand: RunCommand<Flags<'layer check'>> = async (context, flags, [file, ...data]) => {
  if (file === undefined)
    throw usageError('Missing description', 'Name it: perilbook layer check FILE.yaml');
  const path = resolve(context.workingFolder, file);
  const { layer, problems } = readLayer(path);
  if (layer !== null) declareLayers([layer]);
  const files = data.map((name) => resolve(context.workingFolder, name));
  const found = layer === null || files.length === 0 ? null : await readData(layer, files);
  const check: LayerCheckJson = {
    file,
    ok: layer !== null,
    problems: problems.map(({ line, column, message }) => ({ line, column, message })),
    columns: layer === null ? [] : columnsOf(layer.layer as LayerSlug).map(({ name }) => name),
    load_again: layer === null ? null : mustLoadAgain(context, layer),
    data: found,
  };
  if (flags.json) sayJson(context, check);
  else print(context, checkLines(check, layer).join('\n'));
  return check.ok ? EXIT.complete : EXIT.usage;
};

function mustLoadAgain(context: CliContext, { layer }: LayerDescription): boolean | null {
  const folder = dataFolderOf(context.env);
  const file = folder === null ? null : join(folder, 'data.db');
  if (file === null || !existsSync(file)) return null;
  using database = openDataReadOnly(file);
  const { outdated, topics } = describeData(database);
  const isOne = (slug: TopicSlug) => slug === layer;
  return outdated.some(isOne) ? true : topics.some(isOne) ? false : null;
}

/** Reads the files as a load does, and stores nothing. */
async function readData(layer: LayerDescription, files: readonly string[]): Promise<LayerDataJson> {
  const report = new LoadReporter();
  const loader = loaderNamed(layer.layer);
  const options = loader.options ?? {};
  const paths = await inputFiles(layer.layer, files, options);
  const read = await loader.read(paths, options, report);
  const classes = new Map<string, LayerClassJson>();
  for await (const records of read.records as AsyncIterable<readonly ZoneRecord[]>) {
    for (const { kind: of, code, detail } of records) {
      if (layer.kind === 'points' || of !== 'zone') continue;
      const ranked = kindOf(layer, { code, subtype: detail });
      const value = [code, detail].filter(Boolean).join(', ');
      const counted = classes.get(value)?.polygons ?? 0;
      classes.set(value, {
        value,
        class:
          ranked.kind === null || isUndescribed(ranked) ? null : shownClass(layer, ranked, code),
        means: ranked.kind?.means ?? 'zone',
        polygons: counted + 1,
      });
    }
  }
  const { rows, loaded, rejected, notes } = report.read();
  return {
    rows,
    loaded,
    notes,
    vintage: read.vintage(),
    rejected: rejected.map(({ reason, count }) => ({ reason, count })),
    classes: [...classes.values()].sort((a, b) => b.polygons - a.polygons),
  };
}

function checkLines(check: LayerCheckJson, layer: LayerDescription | null): string[] {
  const { file, problems, columns, data } = check;
  if (layer === null) {
    return [
      ...problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`),
      `${counted(problems.length, 'error')}: this layer cannot be used.`,
    ];
  }
  const lines = [`${file} is valid: topic ${layer.layer}`, `columns: ${columns.join(', ')}`];
  if (check.load_again) lines.push(`No answers yet: ${outdatedText(layer.layer as LayerSlug)}.`);
  if (data === null) return lines;
  const used =
    data.loaded === data.rows
      ? counted(data.rows, 'row')
      : `${grouped(data.loaded)} of ${counted(data.rows, 'row')}`;
  const meaning = ({ class: name, means }: LayerClassJson) =>
    means === 'unstudied'
      ? `not ${name === null ? 'in the description' : 'studied'}: unknown`
      : (name ?? 'not in the description');
  return [
    ...lines,
    `would load ${used}${data.vintage === '' ? '' : `, ${data.vintage}`}`,
    ...data.rejected.map(({ reason, count }) => `  ${counted(count, 'row')} not used: ${reason}`),
    ...data.notes.map((note) => `  ${note}`),
    ...(data.classes.length > 0 ? ['published value: class, rows'] : []),
    ...listed(
      data.classes.map((found) => [
        found.value || '(empty)',
        `${meaning(found)}, ${grouped(found.polygons)}`,
      ]),
    ),
  ];
}

/** The JSON Schema of descriptions. */
const layerJsonSchema = (): object => ({
  ...z.toJSONSchema(z.union([layerSchema, pointSchema]), { target: 'draft-7', io: 'input' }),
  title: 'Perilbook layer',
  description: 'A layer that becomes a topic.',
});

export const layerCommands = {
  'layer check': checkCommand,
  'layer schema': async (context: CliContext): Promise<undefined> =>
    void printJson(context, layerJsonSchema()),
};
