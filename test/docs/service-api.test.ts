import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PAID_SLUGS } from '../../src/contract/topics.ts';
import { STATEMENTS } from '../../src/service/check/statement-table.ts';

const SRC = join(import.meta.dirname, '../../src');
const page = readFileSync(join(import.meta.dirname, '../../docs/developer/service-api.md'), 'utf8');
const [statements, uncheckable] = page.split('\n## 10. ') as [string, string];
const numbers = [...statements.matchAll(/\*\*(\d+\.\d+)(?:, open)?\*\*/g)].map(
  ([, number]) => number!,
);
const headings = [...page.matchAll(/^## (\d+)\. /gm)].map(([, number]) => number!);

test('statements are numbered without gaps, and all topics are named', () => {
  const known = new Map<string, number>();
  for (const number of numbers) {
    const [section, index] = number.split('.') as [string, string];
    assert.equal(Number(index), (known.get(section) ?? 0) + 1, number);
    known.set(section, Number(index));
  }
  assert.ok(numbers.length > 50);
  for (const slug of PAID_SLUGS) assert.ok(page.includes(`\`${slug}\``), slug);
});

test('each statement is checked by `service check` or listed with the reason why not', () => {
  const named = new Set(STATEMENTS.flatMap((statement) => statement.numbers));
  const excused = [...uncheckable.matchAll(/^\| ([\d., ]+) \|/gm)].flatMap(([, list]) =>
    list!.split(', '),
  );
  for (const number of excused) assert.ok(!named.has(number), `${number} is checked`);
  assert.deepEqual([...named, ...excused].sort(), numbers.toSorted());
});

test('comments refer to statements and sections of docs/developer/service-api.md that exist, and to nothing outside the project', () => {
  let references = 0;
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )) {
    const text = readFileSync(join(SRC, file), 'utf8').replaceAll(/\n *(\*|\/\/) /g, ' ');
    assert.doesNotMatch(text, /\bDESIGN\b|\(contract[,:)]/, file);
    for (const [found, list] of text.matchAll(
      /service-api\.md, ((?:section \d+|\d+\.\d+)(?:(?:, | and )\d+\.\d+)*)/g,
    )) {
      references += 1;
      for (const number of list!.match(/\d+(\.\d+)?/g)!) {
        assert.ok(
          number.includes('.') ? numbers.includes(number) : headings.includes(number),
          `${file}: ${found}`,
        );
      }
    }
  }
  assert.ok(references > 15, `${references} references`);
});
