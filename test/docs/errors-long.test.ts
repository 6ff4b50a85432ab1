import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { ERROR_CODES, type ErrorCode, PerilbookError } from '../../src/base/errors.ts';
import { exitCodeOfError } from '../../src/cli/options/exit-codes.ts';
import { ROOT } from '../cli/command-line.ts';
import { checkSessions, compare, readersFolder } from './quoted-sessions.ts';

const FILE = join(ROOT, 'docs/reference/errors.md');
const CODES: readonly ErrorCode[] = ERROR_CODES;

/** The part of the document that is about a code. */
const sectionOf = (code: string): string =>
  new RegExp(`^## ${code}\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(
    readFileSync(FILE, 'utf8'),
  )?.[1] ?? '';

for (const code of CODES) {
  test(`docs/reference/errors.md says of ${code} what it means, how it looks, and what to do`, () => {
    const section = sectionOf(code);
    assert.match(section, /\*\*What to do:\*\* \S/);
    assert.match(section, /```(console|text)\n[\s\S]+?```/);
    // The pauses are how a run ends, not an error that is printed.
    if (code !== 'QUOTA_EXCEEDED' && code !== 'BUDGET_REACHED')
      assert.ok(section.includes(`[${code}]`), code);
  });
}

test('docs/reference/errors.md knows no code that is none', () => {
  const told = [...readFileSync(FILE, 'utf8').matchAll(/^## (.+)$/gm)].map(([, code]) => code);
  assert.deepEqual(told, CODES);
});

test("the table of codes is the program's", () => {
  const rows = CODES.map((code) => {
    const exit = exitCodeOfError(new PerilbookError(code, '', ''));
    return `| [${code}](#${code.toLowerCase()}) | ${exit} |`;
  });
  const section = /(\|---\|---\|\n)([\s\S]*?)(<!-- end -->)/;
  const [, , found] = section.exec(readFileSync(FILE, 'utf8'))!;
  const made = `${rows.join('\n')}\n\n`;
  compare(FILE, found!, made, (text) =>
    text.replace(section, (_, before, _found, after) => before + made + after),
  );
});

test('the errors in docs/reference/errors.md are what the program says', async (t) => {
  const folder = readersFolder(t);
  const files: Record<string, string> = {
    'book.csv': 'id,latitude,lng\n1,34.0522,-118.2437\n2,40.7536,-73.9832\n',
    'wrong.yaml':
      'input: book.csv\ntopics: [wildfire, hial]\nbudgte: 500\nsubscription: profesional\n',
    'scopes.yaml':
      'input: book.csv\ntopics: [wildfire, hail]\nbudget: 10\nstore: scopes.db\n' +
      'service:\n  base_url: http://127.0.0.1:9\n  api_keys: [{file: key.txt, scopes: [wildfire]}]\n',
    'key.txt': 'pb_example\n',
    'broken-key.txt': 'pb_“example”\n',
    'insured.csv': 'policy,insured\n1,yes\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const later = new Database(join(folder, 'later.db'));
  later.pragma('user_version = 99');
  later.close();
  assert.ok((await checkSessions(FILE, folder, { timeFactor: 50 })) >= 17);
});
