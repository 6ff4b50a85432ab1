import { inBatches } from '../../batches.ts';
import type { Clock } from '../../clock.ts';
import type { CellRecord } from '../../contract/answer.ts';
import { AnswerOrigin } from '../../fetch/answer-origin.ts';
import type { Client } from '../../fetch/client.ts';
import type { Throttle } from '../../fetch/throttle.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { ClaimLimits, Store } from '../../store/port.ts';
import type { ApiKeys } from '../plan/api-keys.ts';
import type { Freshness } from '../plan/freshness.ts';
import type { Plan } from '../plan/planning.ts';
import type { RunContext } from '../run-context.ts';
import type { Job } from '../settings/settings.ts';
import { Payers } from './payers.ts';
import type { Progress } from './progress.ts';
import { RunHealth } from './run-health.ts';
import type { RunTimes } from './run-times.ts';

/** What stays the same while a run buys. */
export interface BuyingContext {
  readonly job: Job;
  readonly plan: Plan;
  readonly store: Store;
  readonly freshness: Freshness;
  /** The run in the ledger, and what it may spend; the approved plan's credits may be spent by other runs at the same time. */
  readonly limits: Pick<ClaimLimits, 'run' | 'source' | 'budget' | 'plan'>;
  readonly service: ServiceAccess;
  readonly effects: BuyingEffects;
  readonly progress: Progress;
  readonly deadline: RunContext['deadline'];
}

/** What a call to the service goes through. */
interface ServiceAccess {
  readonly client: Client;
  /** One for each account, by its name. */
  readonly throttles: ReadonlyMap<string, Throttle>;
  readonly apiKeys: ApiKeys;
}

interface BuyingEffects {
  readonly clock: Clock;
  readonly times: RunTimes;
  readonly random: () => number;
  /** Called with what the user should know at once: a key refused, a scope missing, a topic down. */
  readonly notice: (message: string) => void;
}

/** The buying within one billing period: the context, and what changes while calls are made. */
export interface Buying extends BuyingContext {
  readonly payers: Payers;
  readonly health: RunHealth;
  readonly origin: AnswerOrigin;
  /** Reads what the store has of a cell, together with the cells that others ask for at this moment. */
  readonly readCell: (cell: Cell) => Promise<CellRecord | null>;
}

/** Begins the buying of a period. */
export async function beginBuying(context: BuyingContext, interrupt: AbortSignal): Promise<Buying> {
  const { job, store, limits, service, effects } = context;
  const contents = await store.bundleContents(limits.source);
  return {
    ...context,
    payers: new Payers(job, service.apiKeys, effects.times, contents),
    health: new RunHealth(job.topics, interrupt),
    origin: new AnswerOrigin(job.precision),
    readCell: inBatches((cells) => store.read(limits.source, cells)),
  };
}
