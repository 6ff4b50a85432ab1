import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { printable, printableJson } from '../../src/base/printable.ts';
import { anyCharacter, fc } from '../properties.ts';
import { folderWith } from '../sample-database.ts';
import { perilbook, ROOT, wordsIn } from './command-line.ts';

/** Clears the screen, sets the window's title, is red, ends a string of C1, turns the reading direction, rings. */
const EVIL =
  '\u001b[2J\u001b]0;title\u0007\u001b[31m\u009d8\u009c\u202ecod\u2066\u0007\u0008\u007f';

/** What no line that is shown may hold: control characters but for line ends and tabs, and direction overrides. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** The program's own colors: bold, dim, and three colors. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OWN_COLOR = /\x1b\[(?:1|2|22|31|32|33|39)m/g;

const BOOK = 'id,lat,lng\n1,34.05,-118.24\n';
const feature = (type: string, coordinates: readonly number[]) => ({
  ...{ type: 'Feature', geometry: { type, coordinates } },
  properties: { [`a${EVIL}`]: 1 },
});
const features = [feature('Point', [-118.24, 34.05]), feature(EVIL, [])];
const LICENCE = JSON.stringify(`free ${EVIL}`);

/** Files whose names or texts would control the terminal, and commands that speak of them. */
interface Scene {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly lines: readonly string[];
}
const SCENES: Readonly<Record<string, Scene>> = {
  'the name of a file that is not there': { lines: [`plan ${EVIL}.csv`, `run ${EVIL}.csv --json`] },
  'an unknown command': { lines: [EVIL] },
  'the name of an input': {
    files: { [`book${EVIL}.csv`]: BOOK },
    lines: [
      ...['', ' --json'].map((more) => `plan book${EVIL}.csv${more} --service sample`),
      ...['', ' --log json'].map(
        (more) => `run book${EVIL}.csv --yes --topics hail${more} --service sample`,
      ),
      ...['status', 'status --json'],
    ],
  },
  'names of columns': {
    files: {
      'book.csv': `id,la${EVIL}t,lng${EVIL}\n1,34.05,-118.24\n`,
      'book.ndjson': `${JSON.stringify({ [`lat${EVIL}`]: 1, [EVIL]: 2 })}\n`,
    },
    lines: ['book.csv', 'book.ndjson', 'book.ndjson --json', 'book.ndjson --lat lat --lng lng'].map(
      (words) => `plan ${words} --service sample`,
    ),
  },
  'types of GeoJSON': {
    files: { 'book.geojson': JSON.stringify({ type: 'FeatureCollection', features }) },
    lines: ['plan', 'run --yes'].map(
      (words) => `${words} book.geojson --topics hail --service sample`,
    ),
  },
  'names of parts': {
    files: { [`parts/1${EVIL}.csv`]: BOOK, [`parts/2${EVIL}.csv`]: 'id,other\n1,2\n' },
    lines: ['plan parts --service sample', 'run parts -o out --yes --service sample'],
  },
  'members of a zip file': {
    files: {
      'nri.zip': zipSync({
        [`a${EVIL}.csv`]: Buffer.from('a,b\n1,2\n'),
        [`b${EVIL}.txt`]: Buffer.from('x'),
      }),
    },
    lines: ['data load nri nri.zip', 'data load tornado nri.zip'],
  },
  'a file of sources': {
    files: {
      'sources.yaml': `sources: {${JSON.stringify(EVIL)}: {url: "https://h.example"}}\n`,
      'broken.yaml': `sources: [${JSON.stringify(EVIL)}, {\n`,
      'licence.yaml': `sources: {nri: {licence: ${LICENCE}, vintage: ${LICENCE}}}\n`,
    },
    lines: ['sources', 'broken', 'licence'].flatMap((name) =>
      ['data', 'data get nri --dry-run', 'data get nri --dry-run --json'].map(
        (words) => `${words} --sources ${name}.yaml`,
      ),
    ),
  },
  'a job file': {
    files: { 'job.yaml': `input: book.csv\n${JSON.stringify(EVIL)}: 1\nname: ${EVIL}\n` },
    lines: ['job check job.yaml', 'job check job.yaml --json', 'plan job.yaml'],
  },
};

for (const [what, { files = {}, lines }] of Object.entries(SCENES)) {
  test(`${what}: no control character reaches the terminal`, async (t) => {
    const folder = folderWith(t, files);
    const env = { XDG_DATA_HOME: join(folder, 'home') };
    let seen = '';
    for (const line of lines) {
      const { stdout, stderr } = await perilbook(wordsIn(line), { folder, env });
      const shown = `${stdout}${stderr}`;
      seen += shown;
      assert.doesNotMatch(shown, UNPRINTABLE, `${line}: ${JSON.stringify(shown)}`);
    }
    // What was taken out can be read, or the name is refused without it.
    assert.match(seen, /\\u001b\[2J|no file has a control character/);
  });
}

test('whatever a text holds, none of it controls a terminal, and its words and our colors stay', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.boolean(), (text, isColored) => {
      const shown = printable(text, isColored);
      assert.doesNotMatch(isColored ? shown.replace(OWN_COLOR, '') : shown, UNPRINTABLE);
      assert.equal(JSON.parse(printableJson(text)), text);
      assert.doesNotMatch(printableJson(text), UNPRINTABLE);
    }),
  );
  assert.equal(printable('caf\u00e9 \u{1f600}\ttab\r\nline\n'), 'caf\u00e9 \u{1f600}\ttab\nline\n');
  assert.equal(
    printable('\u001b[1mbold\u001b[22m \u001b[2J', true),
    '\u001b[1mbold\u001b[22m \\u001b[2J',
  );
  assert.equal(printable('\u001b[1mbold'), '\\u001b[1mbold');
});

test('no other file writes texts to the terminal', () => {
  // The context prints, the progress draws, logs and NDJSON are JSON, completions hold no foreign text.
  const writers = ['frame/context.ts', 'program.ts', 'progress/line-in-place.ts'];
  const cli = join(ROOT, 'src/cli');
  const found = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.ts') &&
      /(stdout|stderr)\.write\(/.test(readFileSync(join(cli, name), 'utf8')),
  );
  assert.deepEqual(found.sort(), writers);
});
