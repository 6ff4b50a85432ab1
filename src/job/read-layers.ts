import { dirname, resolve } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { readFileText } from '../base/pipes.ts';
import { checkWritten, memberWords, type SchemaWords } from '../base/schema-issues.ts';
import { yamlProblem } from '../base/yaml-problems.ts';
import { perilbookColumns } from '../columns/row.ts';
import { columnsOfLayer, snakeCase } from '../columns/topic-columns.ts';
import type { Scope } from '../contract/credits.ts';
import {
  type LayerDescription,
  layerSchema,
  type PolygonLayer,
  pointSchema,
} from '../contract/layers/layer-description.ts';
import { declareLayers, isBuiltIn, MOST_LAYERS, TOPICS, withBrought } from '../contract/topics.ts';
import { SOURCES } from '../data/sources/source-table.ts';
import { holdsKey } from './key-shapes.ts';
import { TOPIC_GROUPS } from './topic-choice.ts';
import { offsetOfMember, yaml } from './yaml-members.ts';

/* Reads and checks the descriptions of layers that a user wrote. */

interface LayerProblem {
  readonly line: number;
  readonly column: number;
  /** With the member: `classes.2.match: is not a regular expression`. */
  readonly message: string;
}

interface CheckedLayer {
  /** Null if there are problems. */
  readonly layer: LayerDescription | null;
  readonly problems: readonly LayerProblem[];
}

/** A description that was found, and its file. */
export interface FoundLayer extends CheckedLayer {
  readonly file: string;
}

/** A description that can be used, and its file. */
export interface UsableLayer {
  readonly file: string;
  readonly layer: LayerDescription;
}

/** Reads the descriptions of some files. Of two with one name the first counts: that beside the job.
 * @returns those that can be used by name, and those that cannot */
export function findLayers(files: readonly string[]): {
  readonly layers: ReadonlyMap<string, UsableLayer>;
  readonly broken: readonly FoundLayer[];
} {
  const layers = new Map<string, UsableLayer>();
  const broken: FoundLayer[] = [];
  const owners = new Map<string, string>();
  const take = (layer: LayerDescription) => {
    for (const { name } of columnsOfLayer(layer)) owners.set(name, layer.layer);
  };
  withBrought([]).forEach(take);
  for (const read of files.map(readLayer)) {
    const { file, layer } = read;
    if (layer !== null && layers.has(layer.layer)) continue;
    const problem = layer === null ? null : sharedColumn(layer, owners);
    if (layer === null) broken.push(read);
    else if (problem !== null) broken.push({ file, layer: null, problems: [problem] });
    else {
      layers.set(layer.layer, { file, layer });
      take(layer);
    }
  }
  return { layers, broken };
}

/** Two layers may make one name of a column: `a_b` with `c`, and `a` with `b_c`. An output has each name once. */
function sharedColumn(
  layer: LayerDescription,
  owners: ReadonlyMap<string, string>,
): LayerProblem | null {
  const isOther = (owner = layer.layer) => owner !== layer.layer;
  const shared = columnsOfLayer(layer).find(({ name }) => isOther(owners.get(name)));
  if (shared === undefined) return null;
  const { name } = shared;
  const message = `the layer ${owners.get(name)} has the column ${name}, too: choose another name`;
  return { line: 1, column: 1, message };
}

/** Declares layers, and those that Perilbook brings: their names are topics from then on. @throws USAGE for too many */
export function declareFound(layers: readonly LayerDescription[]): void {
  if (layers.length > MOST_LAYERS) {
    const message = `${layers.length} layers are described, and at most ${MOST_LAYERS} are possible`;
    const hint = 'Move the descriptions that are not used to another folder.';
    throw new PerilbookError('USAGE', message, hint);
  }
  declareLayers(withBrought(layers));
}

/** Reads and checks a description. */
export function readLayer(file: string): FoundLayer {
  try {
    return { file, ...checkLayerText(readFileText(file), file) };
  } catch (error) {
    const message = `it cannot be read (${error instanceof Error ? error.message : String(error)})`;
    return { file, layer: null, problems: [{ line: 1, column: 1, message }] };
  }
}

/** Checks the text of a description. @param file its paths are relative to it */
function checkLayerText(text: string, file: string): CheckedLayer {
  const { LineCounter, parseDocument } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number, message: string): LayerProblem => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col, message };
  };
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => at(error.pos[0], yamlProblem(error)));
    return { layer: null, problems };
  }
  const said: unknown = document.toJS();
  const atPath = (path: readonly PropertyKey[], message: string) =>
    at(offsetOfMember(document, path, true), [path.join('.'), message].filter(Boolean).join(': '));
  const schema = schemaOf(said);
  // Without the kind, the other members cannot be judged.
  if (schema === null)
    return {
      layer: null,
      problems: [atPath(['kind'], `must be ${KINDS.slice(0, -1).join(', ')} or ${KINDS.at(-1)}`)],
    };
  const checked = checkWritten<LayerDescription>(schema, said, () => wordsOf(schema));
  if (checked.data === null)
    return {
      layer: null,
      problems: checked.issues.map(({ path, message }) => atPath(path, message)),
    };
  const layer = withPaths(checked.data, dirname(resolve(file)));
  const problems = membersAtOdds(layer).map(([path, message]) => atPath(path, message));
  return { layer: problems.length > 0 ? null : layer, problems };
}

type LayerSchema = typeof layerSchema | typeof pointSchema;

/** Each kind of layer has members of its own. */
const SCHEMAS: ReadonlyMap<unknown, LayerSchema> = new Map<string, LayerSchema>([
  ['polygons', layerSchema],
  ['areas', layerSchema],
  ['points', pointSchema],
]);
const KINDS = [...SCHEMAS.keys()];

/** Null for a kind that does not exist. */
function schemaOf(said: unknown): LayerSchema | null {
  const { kind = 'polygons' } = Object(said) as { readonly kind?: unknown };
  return SCHEMAS.get(kind) ?? null;
}

/** An address may have a token. */
const wordsOf = ({ shape }: LayerSchema): SchemaWords =>
  memberWords(
    'members such as layer: my_layer',
    (path) => (path.length === 0 ? Object.keys(shape) : []),
    (_, text) => holdsKey(text),
  );

/** Files are beside the description. */
function withPaths(layer: LayerDescription, folder: string): LayerDescription {
  const sources = layer.sources?.map((source) =>
    source.file === undefined ? source : { ...source, file: resolve(folder, source.file) },
  );
  return sources === undefined ? layer : { ...layer, sources };
}

/** Members that need outlines. */
const OF_POLYGONS = [
  'gap_m',
  'distance_m',
  'noted_m',
  'overlaps',
  'count',
  'sheets',
  'study',
] as const;

/** What the members of a description say against each other. */
function membersAtOdds(layer: LayerDescription): [path: PropertyKey[], message: string][] {
  const problems = [...nameAtOdds(layer), ...columnsAtOdds(layer), ...sourcesAtOdds(layer)];
  if (layer.kind === 'points') return problems;
  const { class: own, classes = [], unknown_class: unknown } = layer;
  const isOfAreas = layer.kind === 'areas';
  if (isOfAreas !== (layer.area !== undefined))
    problems.push(
      isOfAreas
        ? [['area'], 'is missing: { level: county, from: COLUMN }']
        : [['area'], 'needs kind: areas'],
    );
  if (layer.area?.level === 'zip') problems.push(...zipAtOdds(layer));
  for (const name of OF_POLYGONS)
    if (isOfAreas && layer[name] !== undefined)
      problems.push([[name], 'is of polygons: a table of areas has none']);
  if (own?.from === undefined && own?.constant === undefined)
    problems.push([['class'], 'needs from (a column) or constant (one class for all)']);
  if (own?.from !== undefined && classes.length === 0)
    problems.push([['classes'], 'is missing: the classes, from the most hazardous to the least']);
  if (typeof unknown === 'object' && !classes.some(({ name }) => name === unknown.after))
    problems.push([['unknown_class', 'after'], `there is no class ${unknown.after}`]);
  for (const [name, { beside }] of Object.entries(layer.columns ?? {})) {
    if (beside !== undefined && !Object.hasOwn(layer.columns!, beside))
      problems.push([['columns', name, 'beside'], `there is no column ${beside}`]);
  }
  return problems;
}

/** What a table by ZIP code needs and cannot have: a location does not tell its ZIP code, nor a ZIP code its state. */
function* zipAtOdds({
  area,
  states,
}: PolygonLayer): Generator<[path: PropertyKey[], message: string]> {
  if (area?.row === undefined)
    yield [['area', 'row'], 'is missing: the column of your own files with the ZIP code'];
  if (states !== undefined)
    yield [['states'], 'a ZIP code does not tell its state: leave states out'];
}

const BUNDLE_SCOPE: Scope = 'bundle';

/** A name that commands, data, keys or tables use for something else. */
function* nameAtOdds({
  layer,
}: LayerDescription): Generator<[path: PropertyKey[], message: string]> {
  const builtIn = TOPICS.filter(isBuiltIn).map(({ slug }): string => slug);
  if (builtIn.includes(layer)) yield [['layer'], `${layer} is a topic already`];
  else if ((TOPIC_GROUPS as readonly string[]).includes(layer))
    yield [['layer'], `${layer} is a group of topics: choose another name`];
  // A key of our own service with this scope would open bundles, too.
  else if (layer === BUNDLE_SCOPE)
    yield [['layer'], `${layer} is a scope of keys: choose another name`];
  else if (SOURCES.some(({ name, loader }) => [name, loader, 'sample'].includes(layer)))
    yield [['layer'], `perilbook data has other data called ${layer}: choose another name`];
  // The outlines of the layer my_zone are in a table of this name.
  else if (layer.endsWith('_outlines'))
    yield [['layer'], 'must not end in _outlines: choose another name'];
}

/** An output has each name of a column once. */
function* columnsAtOdds(
  layer: LayerDescription,
): Generator<[path: PropertyKey[], message: string]> {
  const further = layer.kind === 'points' ? [] : Object.keys(layer.columns ?? {});
  const names = new Set(perilbookColumns('', TOPICS.filter(isBuiltIn)).keys());
  for (const { name } of columnsOfLayer(layer)) {
    const own = further.findLast((member) => `${layer.layer}_${snakeCase(member)}` === name);
    const path = own === undefined ? ['layer'] : ['columns', own];
    if (names.has(name))
      yield [path, `the output has a column ${name} already: choose another name`];
    names.add(name);
  }
}

/** The same of members that each kind of layer has. */
function* sourcesAtOdds({
  sources = [],
}: LayerDescription): Generator<[path: PropertyKey[], message: string]> {
  for (const [index, { file, url }] of sources.entries())
    if ((file === undefined) === (url === undefined))
      yield [['sources', index], 'needs either file or url'];
}
