import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { printable, printableJson } from '../../src/base/printable.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, ROOT } from './command-line.ts';

/** Clears the screen, sets the window's title, is red, ends a string of C1, turns the reading direction, rings. */
const EVIL = '\u001b[2J\u001b]0;title\u0007\u001b[31m\u009d8\u009c\u202ecod\u2066\u0007\u0008\u007f';

/** What no line that is shown may hold: control characters but for line ends and tabs, and direction overrides. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** The program's own colors: bold, dim, and three colors. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OWN_COLOR = /\x1b\[(?:1|2|22|31|32|33|39)m/g;

const SAMPLE = ['--service', 'sample'];

type Scene = (folder: string) => string[][];

const SCENES: readonly (readonly [what: string, scene: Scene])[] = [
  [
    'the name of a file that is not there',
    () => [
      ['plan', `${EVIL}.csv`],
      ['run', `${EVIL}.csv`, '--json'],
    ],
  ],
  ['an unknown command', () => [[EVIL]]],
  [
    'the name of an input',
    (folder) => {
      const name = `book${EVIL}.csv`;
      writeFileSync(join(folder, name), 'id,lat,lng\n1,34.05,-118.24\n');
      return [
        ['plan', name, ...SAMPLE],
        ['plan', name, '--json', ...SAMPLE],
        ['run', name, '--yes', '--topics', 'hail', ...SAMPLE],
        ['run', name, '--yes', '--topics', 'hail', '--log', 'json', ...SAMPLE],
        ['status'],
        ['status', '--json'],
      ];
    },
  ],
  [
    'names of columns',
    (folder) => {
      writeFileSync(join(folder, 'book.csv'), `id,la${EVIL}t,lng${EVIL}\n1,34.05,-118.24\n`);
      writeFileSync(join(folder, 'book.ndjson'), `${JSON.stringify({ [`lat${EVIL}`]: 1, [EVIL]: 2 })}\n`);
      return [
        ['plan', 'book.csv', ...SAMPLE],
        ['plan', 'book.ndjson', ...SAMPLE],
        ['plan', 'book.ndjson', '--json', ...SAMPLE],
        ['plan', 'book.ndjson', '--lat', 'lat', '--lng', 'lng', ...SAMPLE],
      ];
    },
  ],
  [
    'types of GeoJSON',
    (folder) => {
      const feature = (geometry: unknown) => ({ type: 'Feature', geometry, properties: { [`a${EVIL}`]: 1 } });
      const features = [
        feature({ type: 'Point', coordinates: [-118.24, 34.05] }),
        feature({ type: EVIL, coordinates: [] }),
      ];
      writeFileSync(join(folder, 'book.geojson'), JSON.stringify({ type: 'FeatureCollection', features }));
      return [
        ['plan', 'book.geojson', '--topics', 'hail', ...SAMPLE],
        ['run', 'book.geojson', '--yes', '--topics', 'hail', ...SAMPLE],
      ];
    },
  ],
  [
    'names of parts',
    (folder) => {
      mkdirSync(join(folder, 'parts'));
      writeFileSync(join(folder, 'parts', `1${EVIL}.csv`), 'id,lat,lng\n1,34.05,-118.24\n');
      writeFileSync(join(folder, 'parts', `2${EVIL}.csv`), 'id,other\n1,2\n');
      return [
        ['plan', 'parts', ...SAMPLE],
        ['run', 'parts', '-o', 'out', '--yes', ...SAMPLE],
      ];
    },
  ],
  [
    'members of a zip file',
    (folder) => {
      const zip = zipSync({ [`a${EVIL}.csv`]: Buffer.from('a,b\n1,2\n'), [`b${EVIL}.txt`]: Buffer.from('x') });
      writeFileSync(join(folder, 'nri.zip'), zip);
      return [
        ['data', 'load', 'nri', 'nri.zip'],
        ['data', 'load', 'tornado', 'nri.zip'],
      ];
    },
  ],
  [
    'a file of sources',
    (folder) => {
      writeFileSync(join(folder, 'sources.yaml'), `sources: {${JSON.stringify(EVIL)}: {url: "https://h.example"}}\n`);
      writeFileSync(join(folder, 'broken.yaml'), `sources: [${JSON.stringify(EVIL)}, {\n`);
      const licence = JSON.stringify(`free ${EVIL}`);
      writeFileSync(join(folder, 'licence.yaml'), `sources: {nri: {licence: ${licence}, vintage: ${licence}}}\n`);
      return ['sources.yaml', 'broken.yaml', 'licence.yaml'].flatMap((name) => [
        ['data', '--sources', name],
        ['data', 'get', 'nri', '--dry-run', '--sources', name],
        ['data', 'get', 'nri', '--dry-run', '--json', '--sources', name],
      ]);
    },
  ],
  [
    'a job file',
    (folder) => {
      writeFileSync(join(folder, 'job.yaml'), `input: book.csv\n${JSON.stringify(EVIL)}: 1\nname: ${EVIL}\n`);
      return [
        ['job', 'check', 'job.yaml'],
        ['job', 'check', 'job.yaml', '--json'],
        ['plan', 'job.yaml'],
      ];
    },
  ],
];

for (const [what, scene] of SCENES) {
  test(`${what}: no control character reaches the terminal`, async (t) => {
    const folder = temporaryFolder(t);
    const env = { XDG_DATA_HOME: join(folder, 'home') };
    let seen = '';
    for (const args of scene(folder)) {
      const { stdout, stderr } = await perilbook(args, { folder, env });
      const shown = `${stdout}${stderr}`;
      seen += shown;
      assert.doesNotMatch(shown, UNPRINTABLE, `${args.join(' ')}: ${JSON.stringify(shown)}`);
    }
    // What was taken out can be read.
    assert.match(seen, /\\u001b\[2J/);
  });
}

test('whatever a text holds, none of it controls a terminal, and its words and our colors stay', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isColored) => {
      const shown = printable(text, isColored);
      assert.doesNotMatch(isColored ? shown.replace(OWN_COLOR, '') : shown, UNPRINTABLE);
      assert.equal(JSON.parse(printableJson(text)), text);
      assert.doesNotMatch(printableJson(text), UNPRINTABLE);
    }),
  );
  assert.equal(printable('caf\u00e9 \u{1f600}\ttab\r\nline\n'), 'caf\u00e9 \u{1f600}\ttab\nline\n');
  assert.equal(printable('\u001b[1mbold\u001b[22m \u001b[2J', true), '\u001b[1mbold\u001b[22m \\u001b[2J');
  assert.equal(printable('\u001b[1mbold'), '\\u001b[1mbold');
});

test('no other file writes texts to the terminal', () => {
  // The context prints, the progress draws, logs and NDJSON are JSON, completions hold no foreign text.
  const writers = ['context.ts', 'program.ts', 'progress/line-in-place.ts'];
  const cli = join(ROOT, 'src/cli');
  const found = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && /(stdout|stderr)\.write\(/.test(readFileSync(join(cli, name), 'utf8')),
  );
  assert.deepEqual(found.sort(), writers);
});
