import { topicsIn } from '../../contract/topic-set.ts';
import { PerilbookError } from '../../errors.ts';
import { counted } from '../../format-numbers.ts';
import { durationMs } from '../../job/settings/duration.ts';
import { ASSUMED_ENTERPRISE, ASSUMED_STANDARD, type PriceList } from '../../plan/cheapest-calls.ts';
import { priceCheapest } from '../../plan/prices.ts';
import type { Store } from '../../store/port.ts';
import { askYes, canAsk } from '../ask-yes.ts';
import type { Flags } from '../command.ts';
import { isSampleSource } from '../connection.ts';
import { type CliContext, say, sayJson } from '../context.ts';
import { EXIT } from '../exit-codes.ts';

/** `perilbook cache prune`: forgets old answers, rejections of locations, or both. */
export async function prune(context: CliContext, flags: Flags, store: Store): Promise<number> {
  const age = flags['older-than'] as string | undefined;
  const ms = age === undefined ? undefined : durationMs(age);
  if (ms === null || (ms === undefined && !flags.rejected)) {
    throw new PerilbookError(
      'USAGE',
      'cache prune needs --older-than with a time, or --rejected',
      'For example: perilbook cache prune --older-than 400d',
    );
  }
  const told: Record<string, number> = {};
  const lines: string[] = [];
  if (ms !== undefined) {
    const before = context.clock.now() - ms;
    await approve(context, flags, store, before);
    told.forgotten = await store.prune(before);
    lines.push(`Forgot ${counted(told.forgotten, 'answer')} older than ${age}. The ledger is kept whole.`);
  }
  // Asking again is free: no question.
  if (flags.rejected) {
    told.rejections_forgotten = await store.forgetRejections();
    const locations = counted(told.rejections_forgotten, 'location');
    lines.push(`Forgot the rejections of ${locations}: the next run asks for them again.`);
  }
  if (flags.json) sayJson(context, told);
  else say(context, lines.join('\n'));
  return EXIT.complete;
}

/** Every endpoint may be called, and bundles bring what the contract says: what the answers cost whoever bought them. */
const MARKET: PriceList = {
  standard: ASSUMED_STANDARD,
  enterprise: ASSUMED_ENTERPRISE,
  bundles: true,
  singles: () => true,
  optimize: 'credits',
};

/** Answers that were paid for are forgotten after a yes only. @throws NEEDS_APPROVAL off a terminal, INTERRUPTED on a no */
async function approve(context: CliContext, flags: Flags, store: Store, before: number): Promise<void> {
  if (flags.yes) return;
  let [answers, credits] = [0, 0];
  for (const [source, sets] of await store.countOlder(before)) {
    if (isSampleSource(source)) continue;
    for (const [set, cells] of sets) answers += topicsIn(set).length * cells;
    credits += priceCheapest(sets, MARKET).credits;
  }
  if (answers === 0) return;
  const what = `${counted(answers, 'answer')} that ${answers === 1 ? 'was' : 'were'} paid for`;
  const again = `o buy ${answers === 1 ? 'it' : 'them'} again costs ${counted(credits, 'credit')}`;
  if (!canAsk(context)) {
    throw new PerilbookError(
      'NEEDS_APPROVAL',
      `This would forget ${what}; t${again}`,
      'Add --yes to forget them, or name an older age.',
    );
  }
  if (await askYes(context, `Forget ${what}? T${again}.`)) return;
  throw new PerilbookError('INTERRUPTED', 'Nothing was forgotten', 'Name an older age to forget less.');
}
