/* A worker of the benchmark `stores`: claims and settles batches for a while, and sends how many calls that were, and when the first began. */
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import {
  bundleAnswers,
  openEither,
  type StoreWorkerResult,
  type StoreWorkerTask,
} from './either-store.ts';

const PERIOD = { start: 0, end: Date.UTC(2099, 0) };

const task = JSON.parse(process.argv[2]!) as StoreWorkerTask;
const { account } = task;
const openedAt = performance.now();
await using store = await openEither(task.store, `worker ${task.worker}`);
const source = await store.source('bench');
const run = await store.startRun({
  ...{ job: 'bench', input: '', output: '', account, plannedCredits: 0, budget: 1e9 },
});
const limits = {
  run,
  source,
  account,
  period: PERIOD,
  periodLimit: 1e9,
  creditsPerMinute: 1e8,
  budget: 1e9,
  leaseMs: 3e5,
};
const openMs = performance.now() - openedAt;
process.send!('ready');
await new Promise((resolve) => process.once('message', resolve));
const counts = new Array<number>(task.parts).fill(0);
const seconds = counts.slice();
let calls = 0;
let firstClaimMs = 0;
const begun = performance.now();
const part = () => Math.floor(((performance.now() - begun) / task.ms) * task.parts);
for (let now = part(); now < task.parts && calls < task.most; now = part()) {
  const before = process.cpuUsage();
  const claims = await store.claim(
    limits,
    Array.from({ length: task.batch }, (_, at) => ({
      cell: { lat7: 300_000_000 + task.worker, lng7: -1_000_000_000 + calls + at },
      ...{ call: { kind: 'standard' }, credits: 15, key: 'key' },
      wanted: NATURAL_SLUGS.map((topic) => ({ topic, freshSince: 1 })),
    })),
  );
  firstClaimMs ||= openMs + performance.now() - begun;
  await store.settle(
    claims.map((claim, at) => {
      if (claim.outcome !== 'granted') throw new Error(claim.outcome);
      return {
        ...{
          call: claim.call,
          charge: 'charged',
          credits: 15,
          period: PERIOD,
          outcome: '200',
          failures: [],
        },
        answers: bundleAnswers(calls + at),
      };
    }),
  );
  calls += task.batch;
  counts[now]! += task.batch;
  const { user, system } = process.cpuUsage(before);
  seconds[now]! += (user + system) / 1e6;
}
// Awaited: the channel does not keep the process from ending before it is sent.
const result: StoreWorkerResult = { counts, seconds, firstClaimMs };
await new Promise((resolve) => process.send!(result, undefined, {}, resolve));
