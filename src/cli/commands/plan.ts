import { resolve } from 'node:path';
import { approvablePlan, writePlan } from '../../job/approved-plan.ts';
import { prepare } from '../../job/prepare.ts';
import type { Flags } from '../command.ts';
import { unopenedConnection } from '../connection.ts';
import { effectsOf } from '../effects.ts';
import { EXIT } from '../exit-codes.ts';
import { jobOf } from '../job-options.ts';
import { openStore } from '../open-store.ts';
import { paintFor } from '../printed/paint.ts';
import { planWords } from '../printed/plan-words.ts';
import { showProgress } from '../progress/show.ts';
import { say, sayJson, screenOf, type World } from '../world.ts';

/** `perilbook plan`: scans, prices, spends nothing. The plan is the data asked for, so it goes to stdout. */
export async function planCommand(world: World, flags: Flags): Promise<number> {
  const job = jobOf(world, flags.job as string | undefined, flags);
  const store = openStore(world, job);
  try {
    const show = await showProgress(world, world.stderr.isTTY !== true);
    const connection = unopenedConnection(world, job);
    const prepared = await prepare(job, connection, store, effectsOf(world, show.say), show.progress).finally(show.end);
    const out = flags.out as string | undefined;
    if (out !== undefined) {
      await writePlan(resolve(world.workingFolder, out), approvablePlan(prepared, world.clock.now()), job);
    }
    if (flags.json) sayJson(world, prepared.summary);
    else {
      const style = { width: screenOf(world.stdout), paint: paintFor(world, world.stdout) };
      world.stdout.write(`${planWords(prepared, world.workingFolder, style).join('\n')}\n`);
    }
    if (out !== undefined)
      say(world, `The plan is in ${out}. To run it once it is approved: perilbook run … --plan ${out}`);
    return EXIT.complete;
  } finally {
    await store.close();
  }
}
