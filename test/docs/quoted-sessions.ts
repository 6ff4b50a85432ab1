import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { perilbook, ROOT } from '../cli/command-line.ts';
import { FastClock } from '../fast-clock.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Whether what the program says is to be written into the documents instead of being compared with them. */
export const UPDATE = process.env.UPDATE_DOCS === '1';

/** What stands in a document for the folder in which its commands run. */
const SHOWN_FOLDER = '/home/you/books';

/** The address in the documents for which a test may put that of a service on loopback. */
const EXAMPLE = 'https://hazards.example.com';

interface SessionOptions {
  readonly timeFactor?: number;
  readonly example?: string;
  readonly service?: string;
  readonly before?: (line: string) => void;
}

/** Compares a part of a document with what it should be, or puts that in its place, for review in the diff. */
export function compare(
  document: string,
  found: string,
  expected: string,
  replace: (text: string) => string,
): void {
  if (found === expected) return;
  if (UPDATE) writeFileSync(document, replace(readFileSync(document, 'utf8')));
  else
    assert.equal(
      found,
      expected,
      `${document} differs from what the program says: run npm run docs and npm run readme, and review the diff`,
    );
}

/** A copy of what a reader has: the sample files and the jobs, and a store of the reader's own, whose sample data is made already. */
export function readersFolder(t: TestContext): string {
  const folder = temporaryFolder(t);
  for (const name of ['sample-data', 'jobs'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  provideSampleData(join(folder, '.perilbook', 'store.db'), TOPIC_SLUGS);
  provideSampleData(join(folder, 'perilbook', 'store.db'));
  return folder;
}

/** Compares what stands between `<!-- name -->` and `<!-- /name -->` in a document with what the program makes. */
export function checkSection(document: string, name: string, made: string): void {
  const section = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
  const [, , found] = section.exec(readFileSync(document, 'utf8')) ?? [];
  assert.ok(found !== undefined, `${document} has no section ${name}`);
  compare(document, found, `${made}\n`, (text) =>
    text.replace(section, (_, before, _found, after) => `${before}${made}\n${after}`),
  );
}

/** Runs every `$ perilbook …` of a document's console blocks in order, in one folder, and compares what it says. Of
 * `2>&1 | tail -N` only the last N lines are compared, after `2>&1 | grep -m1 WORD` the first line with that word. `service` is
 * asked in place of the documents' example, whose address is `example`. `before` is called before each command. */
export async function checkSessions(
  document: string,
  folder: string,
  { timeFactor = 1, example = EXAMPLE, service = example, before = () => {} }: SessionOptions = {},
): Promise<number> {
  const clock = new FastClock('2026-11-20T12:00:00Z', timeFactor);
  const env = { PERILBOOK_STORE: join(folder, '.perilbook', 'store.db'), XDG_DATA_HOME: folder };
  const blocks = [...readFileSync(document, 'utf8').matchAll(/```console\n([\s\S]*?)```/g)].map(
    ([, block]) => block!,
  );
  const parts = blocks
    .flatMap((block) => block.split(/^(?=\$ )/m))
    .filter((part) => part.startsWith('$ perilbook'));
  for (const part of parts) {
    const [line, ...rest] = part.split('\n');
    const [, words, , tail, grep] =
      /^\$ perilbook (.*?)( 2>&1 \| (?:tail -(\d+)|grep -m1 (\w+)))?$/.exec(line!)!;
    const args = words!
      .match(/"[^"]*"|\S+/g)!
      .map((word) => word.replace(/^"|"$/g, '').replace(example, service));
    before(line!);
    const { stdout, stderr } = await perilbook(args, { folder, clock, env });
    const all = `${stderr}${stdout}`
      .trimEnd()
      .replaceAll(folder, SHOWN_FOLDER)
      .replaceAll(service, example)
      .split('\n');
    const found = grep === undefined ? all : all.filter((one) => one.includes(grep)).slice(0, 1);
    const said = found.slice(tail === undefined ? 0 : -Number(tail)).join('\n');
    compare(document, rest.join('\n').trimEnd(), said, (text) =>
      text.replace(part.trimEnd(), () => `${line}\n${said}`),
    );
  }
  return parts.length;
}

/** Runs a document's sh blocks in order, as its reader would, in one shell that stops at the first failure. */
export function runShellBlocks(document: string, folder: string): number {
  const blocks = [...readFileSync(document, 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, block]) => block!,
  );
  if (blocks.length === 0) return 0;
  const bin = join(folder, '.bin');
  mkdirSync(bin, { recursive: true });
  const programs = { perilbook: 'src/main.ts', duckdb: 'test/docs/duckdb-command.ts' };
  for (const [name, source] of Object.entries(programs)) {
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, source)}" "$@"\n`,
    );
    chmodSync(join(bin, name), 0o755);
  }
  const { NODE_COMPILE_CACHE } = process.env;
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    XDG_DATA_HOME: folder,
    NODE_COMPILE_CACHE,
  };
  const ended = spawnSync('sh', ['-eu', '-c', blocks.join('\n')], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 300_000,
  });
  assert.equal(ended.status, 0, `${document}:\n${ended.stdout}\n${ended.stderr}`);
  return blocks.length;
}
