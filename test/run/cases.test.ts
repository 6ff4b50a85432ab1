import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { PerilbookError } from '../../src/base/errors.ts';
import { noColor } from '../../src/cli/messages/format.ts';
import { runMessages } from '../../src/cli/messages/run-messages.ts';
import { exitCodeOfError, exitCodeOfRun } from '../../src/cli/options/exit-codes.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import type { Key } from '../../src/run/frame/api-keys.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import { sqliteAccounts } from '../../src/service/accounts/open-accounts.ts';
import { assertFits, filledIn } from '../assert-fits.ts';
import { type Fault, fakeService } from '../fake-service.ts';
import { FastClock } from '../fast-clock.ts';
import { pathTo, request } from '../service/small-data.ts';
import { LONG, SHORT } from '../tier.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

/* Each folder of `cases` is a job with an input, a service with scripted faults, and what is expected of its plans and runs, as
 * cases/README.md describes. */

const CASES = join(import.meta.dirname, 'cases');

interface Account {
  readonly credits_per_month?: number;
  readonly credits_per_minute?: number;
  readonly overage_rate?: number;
}

interface Step {
  readonly at?: string;
  readonly after?: number;
  readonly places?: number | readonly [number, number];
  readonly files?: Readonly<Record<string, string>>;
  readonly data?: string;
  readonly forgetRejections?: number;
  readonly othersBuy?: number;
  readonly faults?: readonly Fault[];
  readonly unavailable?: { readonly topic: TopicSlug; readonly every?: number } | null;
  readonly keys?: readonly string[];
  readonly plan?: JobFile;
  readonly run?: JobFile;
  readonly together?: readonly JobFile[];
  readonly isUnreachable?: true;
  readonly expect?: Readonly<Record<string, unknown>>;
}

interface Case {
  readonly title: string;
  readonly table?: readonly { readonly name: string; readonly isLong?: true }[];
  readonly isLong?: true;
  readonly service?: Account & {
    readonly overages?: true;
    readonly lastCall?: 'served';
    readonly withoutAvalanche?: true;
    readonly start?: string;
    readonly factor?: number;
    readonly behindMs?: number;
    readonly more?: object;
  };
  readonly keys?: Readonly<
    Record<string, { scopes?: string[]; isStated?: true; secret?: string; isRevoked?: true }>
  >;
  readonly places?: Step['places'];
  readonly job?: JobFile;
  readonly othersSpend?: true;
  readonly steps: readonly Step[];
}

const NATURAL = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

const subscriptionOf = ({
  credits_per_month = 100_000,
  credits_per_minute = 100_000,
  overage_rate,
}: Account = {}) => customSubscription(credits_per_month, credits_per_minute, overage_rate ?? null);

async function openCase(t: TestContext, { service: given = {}, keys = {} }: Case) {
  const service: NonNullable<Case['service']> = { ...given, ...given.more };
  const {
    overages,
    lastCall,
    withoutAvalanche,
    start = '2026-03-15T12:00:00Z',
    factor = 20,
    behindMs,
  } = service;
  const unavailable: { now: Step['unavailable']; asked: number } = { now: null, asked: 0 };
  const clock = new FastClock(start, factor);
  const harness = await openHarness(t, {
    subscription: subscriptionOf(service),
    clock,
    overages: overages === true,
    service: {
      ...(lastCall && { lastCall }),
      ...(withoutAvalanche && { standardTopics: NATURAL }),
      ...(behindMs && { clock: new FastClock(Date.parse(start) - behindMs, factor, clock) }),
      failures: (topic) =>
        topic === unavailable.now?.topic &&
        unavailable.asked++ % (unavailable.now.every ?? 1) === 0,
    },
  });
  const known = new Map<string, Key>([['default', harness.key()]]);
  for (const [name, { scopes: named = [], isStated, secret, isRevoked }] of Object.entries(keys)) {
    const scopes: string[] = named.flatMap((scope) =>
      scope === 'natural' ? [...NATURAL_SLUGS] : [scope],
    );
    const key = harness.key(...scopes);
    if (isRevoked) await sqliteAccounts(harness.accounts, harness.clock).revokeKey(key.id);
    const stated = isStated ? { scopes: new Set(scopes) } : {};
    known.set(name, { ...key, ...stated, ...(secret && { secret, fingerprint: 'none' }) });
  }
  const fake = await fakeService(t, harness.url);
  return { harness, known, fake, unavailable, output: '' };
}

/** Settings with topics in place of `17 natural`, and the address of the service in place of SERVICE. */
function settingsOf(url: string, ...all: readonly (JobFile | undefined)[]): JobFile {
  const settings = JSON.parse(
    JSON.stringify(Object.assign({}, ...all)).replaceAll('SERVICE', url),
  ) as JobFile;
  if (settings.topics === undefined) return settings;
  const topics = [settings.topics].flat().flatMap((name) => {
    const [, count] = /^(\d+) natural$/.exec(name) ?? [];
    return count === undefined ? [name] : NATURAL.slice(0, Number(count));
  });
  return { ...settings, topics };
}

async function tried(
  { harness, known, fake }: Awaited<ReturnType<typeof openCase>>,
  { job }: Case,
  step: Step,
): Promise<Record<string, unknown>> {
  const keys = (step.keys ?? ['default']).map((name) => known.get(name)!);
  const settings = [...(step.together ?? [step.plan ?? step.run])].map((own) =>
    settingsOf(harness.url, job, own),
  );
  try {
    if (step.plan) return { ...(await harness.plan(settings[0], { keys })) };
    const progress = newProgress();
    const options = {
      baseUrl: step.isUnreachable ? 'http://127.0.0.1:9' : fake.url,
      progress,
      keys,
    };
    const [ended] = await Promise.all(settings.map((own) => harness.run(own, options)));
    assertHoldsNoKey(harness, ended!, keys);
    const { state, stop, summary } = ended!;
    if (!step.together) assert.equal(summary.credits_by_others, 0, 'what no other run bought');
    const words = runMessages(
      ended!,
      'perilbook run x --yes',
      '/',
      { width: 400, color: noColor },
      { isFree: false, isPlanShown: true },
    );
    const { input = 'input.csv', output = 'output.csv' } = settings[0]!;
    if (output.endsWith('.csv')) {
      const lines = [String(input), output].map((name) => read(harness, name).split('\n').length);
      assert.equal(lines[1], lines[0], 'a row for each of the input');
    }
    return {
      ...summary,
      ...{
        state,
        stop: stop?.reason ?? null,
        message: stop?.message ?? null,
        exit: exitCodeOfRun(ended!),
      },
      ...{ next: [words.headline, ...words.next].join(' '), facts: words.facts.join(' ') },
      ...{ waited: progress.minuteUsedUntil > 0, slowed: progress.slowedDown },
    };
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    const { code, message, hint } = error;
    assertHoldsNoKey(harness, { code, message, hint }, keys);
    return { error: { code, message, hint }, exit: exitCodeOfError(error) };
  }
}

const read = (harness: Harness, name: string) => readFileSync(join(harness.folder, name), 'utf8');

function assertHoldsNoKey(harness: Harness, ended: object, keys: readonly Key[]): void {
  const names = readdirSync(harness.folder, { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => join(harness.folder, name));
  const texts = [harness.notices.join('\n'), JSON.stringify(ended)];
  for (const bytes of [
    ...files.map((file) => readFileSync(file)),
    ...texts.map((text) => Buffer.from(text)),
  ]) {
    for (const { secret } of keys) {
      for (const encoding of ['utf8', 'utf16le'] as const)
        assert.equal(bytes.indexOf(secret, 0, encoding), -1, 'a key');
    }
  }
}

/** Takes a step and checks what it says; the first has only the input. */
async function take(
  opened: Awaited<ReturnType<typeof openCase>>,
  whole: Case,
  step: Step,
  name: string,
): Promise<void> {
  const { harness, known, fake, unavailable } = opened;
  const [from, to] = typeof step.places === 'number' ? [0, step.places] : (step.places ?? []);
  if (to !== undefined) harness.writeInput(places(to).slice(from));
  for (const [lat, lng] of places(20 + (step.othersBuy ?? 0)).slice(20)) {
    await request(
      harness.url + pathTo('/v1/bundle/enterprise', { lat, lng }),
      harness.key('bundle').secret,
    );
  }
  for (const [name, text] of Object.entries(step.files ?? {}))
    writeFileSync(join(harness.folder, name), text);
  // The service reads its data anew after a load, which creates and drops tables.
  if (step.data) harness.database.exec(`${step.data}; CREATE TABLE loaded (a); DROP TABLE loaded`);
  if (step.forgetRejections)
    assert.equal(await harness.store.forgetRejections(), step.forgetRejections);
  if (step.at) harness.clock.moveTo(step.at);
  if (step.after) await harness.clock.sleep(step.after);
  const secretOf = (name: string) => known.get(name)!.secret;
  if (step.faults)
    fake.script(
      step.faults.map(({ key, ...fault }) => (key ? { ...fault, key: secretOf(key) } : fault)),
    );
  if (step.unavailable !== undefined) unavailable.now = step.unavailable;
  if (!step.plan && !step.run && !step.together) return;
  const tell = await tried(opened, whole, step);
  const before = opened.output;
  const written = (step.run ?? step.together?.at(-1))?.output ?? whole.job?.output ?? 'output.csv';
  if (!step.plan && !('error' in tell)) opened.output = read(harness, written);
  const ledger = await harness.ledger();
  const charged = harness.charged();
  if (!whole.othersSpend)
    assert.ok(ledger.charged + ledger.unknown >= charged, `${name}: all is in the ledger`);
  const { answers } = fake;
  const byStatus = Map.groupBy(answers, (answer) => answer.slice(0, 3));
  const { columns = {}, ...expected } = (step.expect ?? {}) as {
    columns?: Record<string, unknown>;
  };
  if (!('error' in expected))
    assert.equal(tell.error, undefined, `${name}: ${JSON.stringify(tell.error)}`);
  const byKey = await harness.store.statement({ by: 'key' });
  const paidBy = (key: Key) =>
    byKey.find(({ name }) => name === key.fingerprint)?.credits.charged ?? 0;
  const found = {
    ...{ ...tell, ledger, charged, requests: answers.length, faulted: fake.faulted() },
    answers: Object.fromEntries([...byStatus].map(([status, { length }]) => [status, length])),
    paid_by: Object.fromEntries([...known].map(([name, key]) => [name, paidBy(key)])),
    runs: (await harness.store.runs()).length,
    notices: harness.notices.join('\n'),
    output: opened.output,
    isSame: opened.output === before,
  };
  const ended = 'message' in tell && tell.message !== null ? `${name} (${tell.message})` : name;
  assertFits(found, expected, ended);
  for (const [title, values] of Object.entries(columns)) {
    assertFits(column(opened.output, title), values, `${name}: ${title}`);
  }
}

for (const folder of readdirSync(CASES).filter((name) => !name.endsWith('.md'))) {
  const written = parse(readFileSync(join(CASES, folder, 'case.yaml'), 'utf8')) as Case;
  for (const row of written.table ?? [{ name: '' }]) {
    const whole = filledIn(written, row);
    test(`${folder}: ${whole.title}`, (whole.isLong ?? row.isLong) ? LONG : SHORT, async (t) => {
      const opened = await openCase(t, whole);
      await take(opened, whole, { places: whole.places ?? 1 }, 'input');
      for (const [index, step] of whole.steps.entries())
        await take(opened, whole, step, `step ${index + 1}`);
    });
  }
}
