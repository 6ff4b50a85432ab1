import { z } from 'zod';
import { type Fits, patternProblem } from './bounded-pattern.ts';

/* The description of a layer: what a YAML file says of polygons, and what built-in layers say of theirs.
 * All that reads layers reads this; nothing of one publisher is in that code. `describe` texts go into the JSON schema for editors. */

const text = z.string().trim().min(1);
/** Values are compared as texts: a code is often a number. */
const value = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const values = z.union([value.transform((one) => [one]), z.array(value).min(1)]);
/** A text that people write as a number: a territory, a year, a column called 2020. */
const word = z.union([text, z.number().transform(String)]);
const columns = z.union([word.transform((one) => [one]), z.array(word).min(1)]);

/** A topic of this name, and columns that begin with it. */
const layerName = z
  .string()
  .regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, {
    error: 'must be lower-case letters, digits and single _, such as ca_fire_zone',
  })
  .max(40);

const columnName = z.string().regex(/^[a-z][A-Za-z0-9]*(_[a-z0-9]+)*$/, {
  error: 'must be lower-case letters, digits and single _, such as base_height_ft',
});

const pattern = (fits: Fits) =>
  text.superRefine((source, context) => {
    const problem = patternProblem(source, fits);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

/** The address of data that a user names. A token may stand in its query, of which only names are shown; a password goes into no address. */
export const dataAddress = z
  .url({ protocol: /^https?$/ })
  .refine((text) => URL.parse(text)?.username === '' && URL.parse(text)?.password === '', {
    error: 'must be an address without user and password',
  })
  // Where an address ends in a message must be clear.
  .refine((text) => !/[\s"]/.test(text), { error: 'must be an address without spaces and quotes' });

const layerSource = z.strictObject({
  file: text
    .optional()
    .describe('a file beside the description: GeoPackage, GeoJSON, shapefile, zip, CSV'),
  url: dataAddress
    .optional()
    .describe('the address of an ArcGIS layer (…/FeatureServer/0) or of a file'),
  where: text.optional().describe("the rows to take, as ArcGIS filters: STATE = 'CA'"),
  set: z.record(text, value).optional().describe('columns to set to a constant in each row'),
});

const classOf = z.union([
  word.transform((name) => ({ name })),
  z.strictObject({
    name: word.describe('the class in the output'),
    values: values.optional().describe('the published values; default: the name'),
    match: pattern('whole')
      .optional()
      .describe('in place of values: a regular expression for the whole value'),
    detail: pattern('part').optional().describe('a regular expression that the detail has, too'),
    special: z
      .boolean()
      .nullish()
      .describe('whether it is a special area; null where that is open'),
  }),
]);

const unitOf = z.strictObject({
  from: columns.describe('the column of the file with the unit'),
  factors: z
    .record(text, z.number().positive())
    .describe('what a number in each unit is multiplied by'),
  assumed: text
    .optional()
    .describe('the unit where none is stated; the note says so. Default: no value'),
});

const furtherColumn = z.strictObject({
  from: columns.describe('the column of the file, or several spellings of it'),
  type: z.enum(['text', 'number', 'count']).default('text'),
  unit: unitOf.optional(),
  beside: columnName.optional().describe('another column; without its value this one is empty'),
  least: z.number().optional().describe('a smaller number is no value'),
  most: z.number().optional().describe('a larger number is no value'),
});

const COMMON = {
  layer: layerName.describe('the name: of the topic, and of its columns'),
  title: text,
  publisher: text.optional(),
  licence: text.optional().describe('the attribution that the publisher requires'),
  vintage: z
    .union([
      word,
      z.strictObject({
        from: columns.describe('the column with the date of a row'),
        as: z.enum(['year', 'month', 'day']).default('day'),
      }),
    ])
    .optional()
    .describe('of what time the data is: a text, or the column that says it'),
  published: z
    .strictObject({
      cadence: text.describe('how often the publisher publishes, in words'),
      stale_after_days: z.int().positive().describe('when an update asks for it again'),
    })
    .optional(),
  sources: z.array(layerSource).min(1).optional(),
  states: z
    .array(z.string().regex(/^[A-Z]{2}$/))
    .min(1)
    .optional()
    .describe('the states that the layer covers; default: the whole US'),
};

/** What is read of a row beside its place. */
const OF_ROWS = {
  nothing: values.optional().describe('further texts and numbers that stand for no value'),
  columns: z.record(columnName, furtherColumn).optional(),
};

/** Places, lines and outlines that count within a radius. */
export const pointSchema = z.strictObject({
  ...COMMON,
  kind: z.literal('points').describe('what is near counts: points, lines and outlines'),
  within_m: z
    .number()
    .positive()
    .max(100_000)
    .describe('so many metres around a place are searched'),
  lat: word.optional().describe('the column of the latitude, where its name does not say it'),
  lng: word.optional().describe('the column of the longitude'),
});

export const layerSchema = z.strictObject({
  ...COMMON,
  ...OF_ROWS,
  kind: z.enum(['polygons', 'areas']).optional(),
  area: z
    .strictObject({
      level: z.enum(['county', 'tract', 'zip']),
      from: columns.describe('the column of the table with the code of the county, tract or ZIP'),
      row: columns
        .optional()
        .describe(
          'the column of your own files with the same code, or several spellings of it: where a row has a code, it counts and not the location',
        ),
    })
    .optional()
    .describe('of the kind areas: of which areas the table says something'),
  class: z
    .strictObject({
      from: columns.optional().describe('the column with the class, or several spellings of it'),
      constant: word.optional().describe('the one class of all polygons'),
      detail: columns.optional().describe('a column with the class in more words'),
      detail_words: z.record(text, word).optional().describe('the words of details that are codes'),
      special: z
        .strictObject({ from: columns, yes: values, no: values, open: values.optional() })
        .optional()
        .describe('a column that says whether the polygon is a special area'),
      show: z.enum(['class', 'published']).default('class').describe('what the output shows'),
    })
    .describe('where the class of a polygon comes from'),
  classes: z
    .array(classOf)
    .min(1)
    .optional()
    .describe('from the most hazardous to the least; the first that fits a polygon is its class'),
  none: values.optional().describe('published values that mean: looked at, no zone'),
  not_studied: values.optional().describe('published values that mean: not studied, unknown'),
  unknown_class: z
    .union([z.enum(['first', 'last', 'refuse']), z.strictObject({ after: word })])
    .optional()
    .describe(
      'where an unknown class stands in the order, or refuse: its places are unknown; default: first, it is not taken for safe',
    ),
  outside: z
    .enum(['none', 'unknown'])
    .optional()
    .describe(
      'what a place without a polygon gets, within what the layer covers; default: unknown',
    ),
  outside_note: text.optional().describe('what the note says where the answer is unknown'),
  overlaps: z
    .union([z.literal('worst'), z.strictObject({ newest: columns })])
    .optional()
    .describe('which of several polygons counts; default: worst'),
  count: z.boolean().optional().describe('a column with the number of polygons at the place'),
  gap_m: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .describe('within so many metres of its edge a polygon holds a place; default: 0'),
  distance_m: z
    .number()
    .positive()
    .max(10_000)
    .optional()
    .describe(
      'the distance to the nearest other class is told up to so many metres; default: not told',
    ),
  noted_m: z
    .number()
    .min(0)
    .optional()
    .describe('the note tells distances up to so many metres; default: 0'),
  sheets: z
    .strictObject({
      code: columns.describe('the number of the sheet'),
      effective: columns.describe('the day since which it is in force'),
      preliminary: columns.optional().describe('the day of a sheet that is not in force yet'),
    })
    .optional()
    .describe('the sheets of the map, which the same files have as polygons of their own'),
  study: columns
    .optional()
    .describe('the study of a polygon, which begins with the two digits of its state'),
});

type Deep<T> = T extends object ? { readonly [K in keyof T]: Deep<T[K]> } : T;

export type PolygonLayer = Deep<z.output<typeof layerSchema>>;
export type PointLayer = Deep<z.output<typeof pointSchema>>;
export type LayerDescription = PolygonLayer | PointLayer;
export type LayerSource = Deep<z.output<typeof layerSource>>;
export type FurtherColumn = Deep<z.output<typeof furtherColumn>>;
