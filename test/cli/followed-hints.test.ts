import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const DENVER = '39.7392,-104.9903';
const GEOCODED =
  '"1","1 Elm St, Denver, CO, 80202","Match","Exact","1 ELM ST","-104.9903,39.7392","76049","L"\n"2","5 Main St","Tie"\n';
/** Most rows are longitude first, in a form that says the opposite. */
const EXCHANGED = 'id,geom\n1,POINT(39.7392 -104.9903)\n2,POINT(25.7743 -80.1937)\n';

/** Files whose columns the values show. */
const BY_VALUE: ReadonlySet<string> = new Set([
  'unusual.csv',
  'spaced.csv',
  'quote.csv',
  'twins.csv',
  'unnamed.csv',
  'where.ndjson',
  'list.ndjson',
  'hex.csv',
]);

/** Files that need an option, most of them, and how many of their rows it locates. */
const FILES: readonly (readonly [name: string, content: string, located: number])[] = [
  ['unusual.csv', `id,where\n1,"${DENVER}"\n2,"(${DENVER})"\n`, 2],
  ['spaced.csv', `id,where is it\n1,"${DENVER}"\n`, 1],
  ['quote.csv', `id,owner's place\n1,"${DENVER}"\n`, 1],
  ['twins.csv', `where,where\nx,"${DENVER}"\n`, 1],
  ['unnamed.csv', `id,,b\n1,"${DENVER}",c\n`, 1],
  ['geocoded.csv', GEOCODED, 1],
  ['geocoded2.csv', GEOCODED.split('\n').toReversed().filter(Boolean).join('\n'), 1],
  ['bare.csv', `1,"${DENVER}",a\n2,"25.7743,-80.1937",b\n`, 2],
  ['headless.csv', `${DENVER}\n25.7743,-80.1937\n`, 2],
  ['titled.csv', `Report of today\n\nid,lat,lng\n1,${DENVER}\n`, 1],
  ['exchanged.csv', EXCHANGED, 2],
  ['dms.csv', 'id,lat,lng\n1,39°44\'21"N,104°59\'25"W\n', 1],
  ['apostrophe.csv', "id,lat,lng\n1,'39.7392,'-104.9903\n", 1],
  ['formula.csv', 'id,lat,lng\n1,="39.7392",="-104.9903"\n', 1],
  ['commas.csv', 'id;location\n1;39,7392 / -104,9903\n', 1],
  ['where.ndjson', '{"id":1,"where":"POINT(-104.9903 39.7392)"}\n', 1],
  ['list.ndjson', '{"id":1,"at":[-104.9903,39.7392]}\n{"id":2,"at":[-80.1937,25.7743]}\n', 2],
  ['hex.csv', 'id,data\n1,0101000020E6100000A835CD3B4E3F5AC0A245B6F3FDDE4340\n', 1],
];

/** The options that a message names with all they need. */
function optionsIn(text: string): string[] {
  const options = [
    ...text.matchAll(
      /--(?:no-header|(?:header-line|location-order|coordinates|location|lat|lng) ('(?:[^']|'\\'')*'|[^\s,.]+(?:,lat|,lng)?))/g,
    ),
  ];
  return options
    .filter(([, value]) => !['COLUMN', 'NUMBER'].includes(value ?? ''))
    .flatMap(([option, value]) => {
      const name = option!.split(' ')[0]!;
      return value === undefined
        ? [name]
        : [name, value.replaceAll("'\\''", '\u0000').replaceAll("'", '').replaceAll('\u0000', "'")];
    });
}

test('what a hint says is tried, and reads the file', async (t) => {
  const folder = temporaryFolder(t);
  for (const [name, content, located] of FILES) {
    writeFileSync(join(folder, name), content);
    const plan = async (more: readonly string[]) => {
      const { stdout, stderr } = await perilbook(
        ['plan', name, '--topics', 'hail', '--service', 'sample', '--store', 'store.db', ...more],
        {
          folder,
          env: { HOME: folder },
        },
      );
      return stdout + stderr;
    };
    let ended = await plan([]);
    const options: string[] = [];
    while (!/\d+ located/.test(ended) || /would read it|\(100 %\)/.test(ended)) {
      const more = optionsIn(ended).filter((word) => !options.includes(word));
      assert.ok(more.length > 0, `${name}: ${ended}`);
      options.push(...more);
      ended = await plan(options);
    }
    assert.equal(options.length === 0, BY_VALUE.has(name), `${name}: ${options.join(' ')}`);
    assert.match(
      ended,
      new RegExp(`\\b${located} located`),
      `${name} ${options.join(' ')}: ${ended}`,
    );
  }
});
