import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { parse as parseCsv } from 'csv-parse/sync';
import { parse } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { sqliteAccounts } from '../../src/service/accounts/open-accounts.ts';
import { assertFits, filledIn } from '../assert-fits.ts';
import { FastClock } from '../fast-clock.ts';
import { MovedClock } from '../moved-clock.ts';
import { openHarness, places } from '../run/harness.ts';
import { provideLocalData, provideSampleData } from '../sample-database.ts';
import { coverOnly, pathTo, releaseLater, request } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG, SHORT } from '../tier.ts';
import { perilbook, ROOT } from './command-line.ts';

/*
 * Each file of `cases` has commands as a user types them in a folder of files, and what they print, write and spend. cases/README.md
 * describes them.
 */

const CASES = join(import.meta.dirname, 'cases');

/** A text or pattern, several that all hold, or none of those behind `not`. */
type Texts = string | readonly string[];

interface Step {
  readonly run?: string;
  readonly write?: Readonly<Record<string, string>>;
  readonly copy?: readonly [
    from: string,
    to: string,
    ...changes: (readonly [pattern: string, text: string])[],
  ];
  readonly sql?: string;
  /** SQL for the store. */
  readonly store?: string;
  readonly covers?: readonly [states: string, ...datasets: string[]];
  readonly at?: string;
  readonly hours?: number;
  readonly places?: number;
  readonly othersSpend?: number;
  readonly upgrade?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly typed?: string;
  readonly width?: number;
  readonly interruptAt?: string;
  readonly code?: number;
  readonly stdout?: Texts;
  readonly stderr?: Texts;
  readonly not?: {
    readonly stdout?: Texts;
    readonly stderr?: Texts;
    readonly files?: Readonly<Record<string, Texts>>;
  };
  readonly json?: unknown;
  readonly events?: readonly unknown[];
  readonly files?: Readonly<Record<string, Texts>>;
  readonly columns?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly same?: readonly [string, string];
  readonly absent?: Texts;
  readonly left?: readonly string[];
  readonly charged?: number;
}

interface Case {
  readonly title: string;
  readonly isLong?: boolean;
  readonly table?: readonly Readonly<Record<string, unknown>>[];
  readonly files?: Readonly<Record<string, string>>;
  readonly data?: 'sample' | 'local' | readonly ('sample' | 'local')[] | null;
  readonly stores?: readonly string[];
  readonly service?: { readonly credits_per_month: number } | null;
  readonly at?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

async function openScene(t: TestContext, described: Case) {
  const {
    files = {},
    data,
    stores = ['home/perilbook/store.db'],
    service,
    at,
    env = {},
  } = described;
  const harness = service
    ? await openHarness(t, { subscription: customSubscription(service.credits_per_month, 100_000) })
    : null;
  const folder =
    harness?.folder ??
    temporaryFolder({ after: (release: () => void) => releaseLater(t, release) });
  const kinds = [data ?? []].flat();
  const own = at ? (kinds.includes('local') ? new MovedClock(at) : new FastClock(at, 1)) : null;
  const moved = harness?.clock ?? own;
  const clock = moved ?? systemClock;
  const home = join(folder, 'home');
  for (const store of kinds.includes('sample') ? stores : [])
    provideSampleData(join(folder, store));
  const dataFile = kinds.includes('local')
    ? provideLocalData(home, clock.now() - 3_600_000)
    : join(home, 'perilbook/data.db');
  const key = harness?.key();
  const filled = (text: string) =>
    text
      .replaceAll('SERVICE', harness?.url ?? 'SERVICE')
      .replaceAll('PORT', harness ? new URL(harness.url).port : 'PORT')
      .replaceAll('FOLDER', withSlashes(folder))
      .replaceAll('ROOT', withSlashes(ROOT))
      .replaceAll('FINGERPRINT', key?.fingerprint ?? 'FINGERPRINT');
  const write = (all: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), filled(text));
    }
  };
  write(files);
  const named = { ...(key && { PERILBOOK_API_KEY: key.secret }), ...env };
  const filledEnv = Object.fromEntries(
    Object.entries(named).map(([name, text]) => [name, filled(text)]),
  );
  return {
    harness,
    folder,
    clock,
    moved,
    home,
    dataFile,
    filled,
    write,
    env: {
      HOME: home,
      XDG_DATA_HOME: home,
      LOCALAPPDATA: join(home, '.local/share'),
      ...filledEnv,
    },
  };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

/** What is done before the command of a step. */
async function prepareStep(
  { harness, folder, clock, moved, dataFile, write }: Scene,
  step: Step,
): Promise<void> {
  write(step.write ?? {});
  if (step.places) {
    const rows = places(step.places).map(([lat, lng], index) => `${index + 1},${lat},${lng}\n`);
    write({ 'book.csv': `id,lat,lng\n${rows.join('')}` });
  }
  if (step.copy) {
    const [from, to, ...changes] = step.copy;
    copyFileSync(join(folder, from), join(folder, to));
    for (const [pattern, text] of changes) {
      const before = readFileSync(join(folder, to), 'utf8');
      assert.match(before, new RegExp(pattern, 'm'));
      writeFileSync(join(folder, to), before.replace(new RegExp(pattern, 'm'), text));
    }
  }
  if (step.at) moved!.moveTo(step.at);
  if (step.hours) moved!.moveTo(new Date(clock.now() + step.hours * 3_600_000).toISOString());
  for (const sql of [step.sql ?? '', step.covers ? coverOnly(...step.covers) : '']) {
    if (sql === '') continue;
    const database = new Database(dataFile);
    database.exec(sql.replaceAll('NOW', String(clock.now())));
    database.close();
  }
  if (step.store) {
    const database = new Database(join(folder, 'home/perilbook/store.db'));
    database.exec(step.store);
    database.close();
  }
  for (let spent = 0; spent < (step.othersSpend ?? 0); spent++) {
    await request(harness!.url + pathTo('/v1/hail/risk'), harness!.key().secret);
  }
  if (step.upgrade) {
    const subscription = customSubscription(step.upgrade, 100_000);
    await sqliteAccounts(harness!.accounts, harness!.clock).changeAccount('harness', {
      subscription,
    });
  }
}

/** What is printed with paths as the cases have them, on Windows too. */
const withSlashes = (text: string) => (sep === '/' ? text : text.replaceAll(sep, '/'));

async function take(scene: Scene, step: Step, path: string): Promise<void> {
  const { harness, folder, filled } = scene;
  await prepareStep(scene, step);
  /** Of a page the scripts and styles are left out. */
  const read = (name: string) =>
    readFileSync(join(folder, name), 'utf8').replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '');
  const fits = (found: string, expected: Texts | undefined, what: string) => {
    for (const text of [expected ?? []].flat()) assertFits(found, filled(text), `${path}: ${what}`);
  };
  const lacks = (found: string, unwanted: Texts | undefined, what: string) => {
    for (const text of [unwanted ?? []].flat()) {
      assert.throws(
        () => assertFits(found, filled(text), what),
        `${path}: ${what} holds ${text}\n${found}`,
      );
    }
  };
  if (step.run !== undefined) {
    const interruption = new AbortController();
    const { code, stdout, stderr } = await perilbook(wordsOf(filled(step.run)), {
      ...{
        folder,
        clock: scene.clock,
        env: { ...scene.env, ...step.env },
        interrupt: interruption.signal,
      },
      ...(step.stdin !== undefined && { stdin: step.stdin }),
      ...(step.typed !== undefined && { typed: step.typed }),
      ...(step.width !== undefined && { columns: step.width }),
      onStderr: (text) =>
        step.interruptAt && text.includes(step.interruptAt) && interruption.abort(),
    });
    assert.equal(code, step.code ?? 0, `${path}: ${step.run}\n${stdout}${stderr}`);
    fits(withSlashes(stdout), step.stdout, 'stdout');
    fits(withSlashes(stderr), step.stderr, 'stderr');
    lacks(stdout, step.not?.stdout, 'stdout');
    lacks(stderr, step.not?.stderr, 'stderr');
    if (step.json !== undefined)
      assertFits(
        JSON.parse(sep === '/' ? stdout : stdout.replaceAll('\\\\', '/')),
        JSON.parse(filled(JSON.stringify(step.json))),
        path,
      );
    if (step.events) {
      const events = stderr.trimEnd().split('\n');
      assertFits(
        events.map((line) => JSON.parse(line)).slice(-step.events.length),
        step.events,
        path,
      );
    }
    assert.doesNotMatch(stderr, /this is a bug/);
  }
  for (const [name, text] of Object.entries(step.files ?? {})) fits(read(name), text, name);
  for (const [name, text] of Object.entries(step.not?.files ?? {})) lacks(read(name), text, name);
  for (const [name, columns] of Object.entries(step.columns ?? {})) {
    const rows = parseCsv(read(name), { columns: true }) as Record<string, string>[];
    for (const [column, values] of Object.entries(columns)) {
      assertFits(
        rows.map((row) => row[column]),
        values,
        `${path}: ${column}`,
      );
    }
  }
  if (step.same) assert.equal(read(step.same[1]), read(step.same[0]), path);
  for (const name of [step.absent ?? []].flat())
    assert.ok(!existsSync(join(folder, name)), `${path}: ${name} is there`);
  if (step.left)
    assert.deepEqual(
      readdirSync(folder)
        .filter((name) => name !== 'home')
        .sort(),
      step.left,
      path,
    );
  if (step.charged !== undefined) assert.equal(harness!.charged(), step.charged, path);
}

/** The words of a command line; one that holds a space stands between single quotes. */
function wordsOf(command: string): string[] {
  return (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/s, '$1'));
}

for (const file of readdirSync(CASES).filter((name) => name.endsWith('.yaml'))) {
  const { cases, ...shared } = parse(readFileSync(join(CASES, file), 'utf8')) as Partial<Case> & {
    cases: Case[];
  };
  for (const written of cases) {
    for (const row of written.table ?? [{}]) {
      const whole = filledIn(
        { ...shared, ...written, files: { ...shared.files, ...written.files } },
        row,
      );
      test(
        `${file.replace('.yaml', '')}: ${whole.title}`,
        (whole.isLong ?? row.isLong) ? LONG : SHORT,
        async (t) => {
          const scene = await openScene(t, whole);
          for (const [index, step] of whole.steps.entries())
            await take(scene, step, `step ${index + 1}`);
        },
      );
    }
  }
}
