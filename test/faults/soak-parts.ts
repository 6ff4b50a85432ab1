import { randomOf } from '../../src/data/sample/random.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { clockTrial } from './clock-trial.ts';
import { fuzzBooks, fuzzJobFiles, fuzzPlans } from './fuzz.ts';
import { hostileService } from './hostile-service.ts';
import { hourTrial } from './hour-trial.ts';
import { killTrial } from './kill-trial.ts';
import { longTrial } from './long-trial.ts';
import { type ManyOptions, manyTrial } from './many-trial.ts';
import { cutPower, writeLedger } from './power-loss.ts';
import { inScope } from './scope.ts';
import { signalTrial } from './signal-trial.ts';
import type { Soaked } from './soak.ts';

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Kills jobs until so many kills have hit. */
export async function soakKills(seed: number, wanted: number): Promise<Soaked> {
  const found: string[] = [];
  let [jobs, kills, calls, credits] = [0, 0, 0, 0];
  for (; kills < wanted; jobs++) {
    const trial = await inScope((t) => killTrial(t, seed + jobs));
    kills += trial.kills.length;
    calls += trial.unknown.calls;
    credits += trial.unknown.credits;
    found.push(...trial.wrong.map((what) => `seed ${seed + jobs}: ${what}`));
    say(
      `${trial.drawn}: ${trial.kills.length} kills (${trial.kills.join(', ')}), ${trial.unknown.calls} calls unknown`,
    );
  }
  return {
    promise: 'a kill at any instant loses the calls in flight at most',
    trials: `${kills} kills of ${jobs} jobs`,
    figures: `${calls} calls of ${credits} credits unknown`,
    found,
  };
}

export async function soakSignals(seed: number, jobs: number): Promise<Soaked> {
  const found: string[] = [];
  let signals = 0;
  for (let nth = 0; nth < jobs; nth++) {
    const trial = await inScope((t) => signalTrial(t, seed + nth));
    signals += trial.signals.length;
    found.push(...trial.wrong.map((what) => `seed ${seed + nth}: ${what}`));
    say(`${trial.drawn}: ${trial.signals.join('; ')}`);
  }
  return {
    promise: 'an interrupt ends cleanly, a second one at once',
    trials: `${signals} runs of ${jobs} jobs`,
    figures: 'SIGINT, SIGTERM and SIGHUP, once and twice',
    found,
  };
}

export async function soakPower(seed: number, ledgers: number): Promise<Soaked> {
  const found: string[] = [];
  let cuts = 0;
  for (let nth = 0; nth < ledgers; nth++) {
    await inScope(async (t) => {
      const folder = temporaryFolder(t);
      const random = randomOf(seed + nth, 'power');
      const written = await writeLedger(folder, random);
      for (let promise = 0; promise < written.promised.length; promise++) {
        for (let look = 0; look < 3; look++, cuts++) {
          found.push(
            ...(await cutPower(folder, written, promise, random)).map((what) => `seed ${seed + nth}: ${what}`),
          );
        }
      }
    });
  }
  return {
    promise: 'a power cut takes nothing that was synced',
    trials: `${cuts} cuts of ${ledgers} ledgers`,
    figures: 'every promise of a claim or an answer',
    found,
  };
}

export async function soakMany(seed: number, trials: number): Promise<Soaked> {
  const found: string[] = [];
  let [charged, longest] = [0, 0];
  for (let nth = 0; nth < trials; nth++) {
    const options: ManyOptions =
      nth % 2 === 0 ? { quota: 2, creditsPerMinute: 300 } : { quota: 0.7, creditsPerMinute: 300, apart: true };
    const trial = await inScope((t) => manyTrial(t, seed + nth, options));
    charged += trial.charged;
    if (options.apart) longest = Math.max(longest, trial.longestWait);
    found.push(...trial.wrong.map((what) => `seed ${seed + nth}: ${what}`));
    say(
      `${trial.needed} needed, ${trial.charged} charged, shares ${trial.shares.join(', ')}, ${trial.longestWait} in between`,
    );
  }
  return {
    promise: 'four processes, one store, one key: nothing twice, no limit crossed',
    trials: `${trials} times 4 processes`,
    figures: `${charged} credits; others' calls between two of one process: ${longest} at most`,
    found,
  };
}

export async function soakClocks(seed: number, trials: number): Promise<Soaked> {
  const found: string[] = [];
  let [jumps, longest] = [0, 0];
  for (let nth = 0; nth < trials; nth++) {
    const trial = await inScope((t) => clockTrial(t, seed + nth));
    jumps += trial.jumps.length;
    longest = Math.max(longest, trial.minutes);
    found.push(...trial.wrong.map((what) => `seed ${seed + nth}: ${what}`));
  }
  return {
    promise: 'a clock that is set crosses no limit and holds nobody up',
    trials: `${jumps} jumps in ${trials} runs`,
    figures: `3 minutes of credits took ${longest.toFixed(1)} at most`,
    found,
  };
}

export async function soakLongJob(cells: number): Promise<Soaked> {
  const { periods, wrong } = await inScope((t) => longTrial(t, cells));
  return {
    promise: 'a job of three periods keeps to each quota',
    trials: `${cells} cells`,
    figures: periods.map(({ charged, quota }) => `${charged} of ${quota}`).join(', '),
    found: wrong,
  };
}

export async function soakHour(minutes: number): Promise<Soaked> {
  const { calls, used, early, late, wrong } = await inScope((t) => hourTrial(t, minutes));
  return {
    promise: 'memory is flat at full rate',
    trials: `${minutes} minutes, ${calls} calls`,
    figures: `${early} MiB early, ${late} late; ${Math.round(used * 100)} % of the limit`,
    found: wrong,
  };
}

/** Faults of every kind between client and service, a run a seed; the first seed that breaks a promise ends it. */
export async function soakHostile(seed: number, runs: number): Promise<Soaked> {
  const promise = 'a hostile service breaks no row, no book and no limit';
  const seeds = Array.from({ length: runs }, (_, nth) => seed + nth);
  try {
    const { trials, requests, disturbed, charged, unknown } = await hostileService(seeds);
    return {
      promise,
      trials: `${trials} runs, ${requests} requests`,
      figures: `${disturbed} disturbed, ${charged} credits charged, ${unknown} unknown`,
      found: [],
    };
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    return { promise, trials: `up to ${runs} runs`, figures: 'ended early', found: [what] };
  }
}

/** Books, job files and plans of any bytes: taken, or refused with an error of our own. */
export async function soakFuzz(runs: number): Promise<Soaked> {
  const promise = 'no input ends in a crash, a hang or a lost row';
  try {
    const [books, jobs, plans] = [await fuzzBooks(runs), await fuzzJobFiles(runs), await fuzzPlans(runs)];
    return {
      promise,
      trials: `${books.trials} books, ${jobs.trials} job files, ${plans.trials} plans`,
      figures: `${books.taken + jobs.taken + plans.taken} taken, the others refused`,
      found: [],
    };
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    return { promise, trials: `up to ${runs} of each`, figures: 'ended early', found: [what] };
  }
}
