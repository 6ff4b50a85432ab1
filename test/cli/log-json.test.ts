import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { stopMessage } from '../../src/cli/startup-messages.ts';
import { folderWith } from '../sample-database.ts';
import { perilbook } from './command-line.ts';

function folderWithBook(t: TestContext): string {
  const folder = folderWith(t, { 'b.csv': 'lat,lng\n34.0522,-118.2437\n29.7604,-95.3698\n' }, 'store.db');
  return folder;
}

const RUN = ['run', 'b.csv', '-t', 'wildfire', '--store', 'store.db', '--log', 'json', '--service', 'sample'];

/** The events of stderr: each line is one, with a time, a level and a name. */
function eventsOf(stderr: string): Record<string, unknown>[] {
  assert.ok(stderr.endsWith('\n'));
  return stderr
    .slice(0, -1)
    .split('\n')
    .map((line) => {
      const event = JSON.parse(line);
      assert.match(event.time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      assert.ok(['info', 'warning', 'error'].includes(event.level) && typeof event.event === 'string', line);
      return event;
    });
}

test('--log json: every line on stderr is an event; stdout stays as it is', async (t) => {
  const folder = folderWithBook(t);
  const { code, stderr, stdout } = await perilbook([...RUN, '--json', '--yes'], { folder });
  const events = eventsOf(stderr);
  assert.equal(code, 0);
  const named = (name: string) => events.filter(({ event }) => event === name);
  assert.deepEqual(
    named('progress').map(({ phase }) => phase),
    ['pricing', 'buying', 'writing'],
  );
  assert.deepEqual([named('progress')[2]!.places_done, named('progress')[2]!.credits_spent], [2, 2]);
  assert.equal((named('planned')[0]!.plan as { credits: number }).credits, 2);
  const [finished] = named('finished');
  assert.equal(events.at(-1), finished);
  assert.deepEqual([finished!.level, finished!.exit_code, finished!.summary], ['info', 0, JSON.parse(stdout)]);
});

test('a pause is a warning, an error is an event with code and exit code', async (t) => {
  const folder = folderWithBook(t);
  const paused = eventsOf((await perilbook([...RUN, '--budget', '1'], { folder })).stderr).at(-1)!;
  assert.deepEqual([paused.event, paused.level, paused.exit_code, paused.state], ['finished', 'warning', 4, 'paused']);
  assert.match(String(paused.message), /To buy more: perilbook run b\.csv/);
  const failed = eventsOf(
    (await perilbook(['run', 'none.csv', '--log=json', '--yes', '--store', 'store.db'], { folder })).stderr,
  ).at(-1)!;
  assert.deepEqual(
    [failed.event, failed.level, failed.code, failed.exit_code],
    ['error', 'error', 'INPUT_UNREADABLE', 2],
  );
  const wrong = eventsOf((await perilbook(['run', 'b.csv', '--log', 'json', '--bugdet', '1'], { folder })).stderr);
  assert.equal(wrong.at(-1)!.code, 'USAGE');
  const quiet = await perilbook([...RUN, '--yes', '--quiet'], { folder });
  assert.deepEqual([quiet.code, quiet.stderr], [0, '']);
});

test('an interrupt is an event; another format is refused', async () => {
  const [event] = eventsOf(stopMessage(['run', 'b.csv', '--log', 'json'], Date.UTC(2026, 0, 1)));
  assert.deepEqual([event!.level, event!.event, event!.time], ['warning', 'stopping', '2026-01-01T00:00:00.000Z']);
  assert.match(stopMessage(['run', 'b.csv']), /^\nperilbook: stopping: finishing work/);
  const data = eventsOf((await perilbook(['data', 'get', 'nothing', '--log', 'json'])).stderr).at(-1)!;
  assert.deepEqual([data.event, data.code, data.exit_code], ['error', 'USAGE', 2]);
  const { code, stderr } = await perilbook(['run', 'b.csv', '--log', 'xml']);
  assert.deepEqual([code, /Unknown value of --log: "xml"/.test(stderr)], [2, true]);
});
