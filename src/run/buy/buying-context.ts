import type { Clock } from '../../clock.ts';
import type { Client } from '../../fetch/client.ts';
import type { Throttle } from '../../fetch/throttle.ts';
import type { ClaimLimits, Store } from '../../store/port.ts';
import type { ApiKeys } from '../plan/api-keys.ts';
import type { Freshness } from '../plan/freshness.ts';
import type { Plan } from '../plan/planning.ts';
import type { Job } from '../settings/settings.ts';
import type { Progress } from './progress.ts';
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
