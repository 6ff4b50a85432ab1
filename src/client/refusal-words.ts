import type { Content } from './content.ts';

/** What the words of a refusal are about.
 * - `rate`: too many requests at once, over in a minute. `limit`: a quota is used up, of a day or another time that is not the billing
 *   period's, or of an unnamed one. `quota`: the contract's code for the quota of the billing period. */
export type RefusalSubject = 'rate' | 'limit' | 'quota';

/** Most characters of a body that are searched. */
const MOST_WORDS = 4_000;
const MOST_DEPTH = 6;

/** All texts of an error body, in its order; without addresses, whose paths name pages on limits. */
export function bodyWords(content: Content): string {
  const texts: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (typeof value === 'string') texts.push(value.slice(0, MOST_WORDS));
    else if (typeof value === 'object' && value !== null && depth < MOST_DEPTH)
      for (const inner of Object.values(value)) collect(inner, depth + 1);
  };
  if (content.kind === 'json') collect(content.value, 0);
  else if (content.kind === 'text') texts.push(content.text.slice(0, MOST_WORDS));
  return texts
    .join(' . ')
    .slice(0, MOST_WORDS)
    .replace(/\w+:\/\/\S+/g, ' ');
}

/** `userRateLimitExceeded`, `RATE_LIMIT`, `per-minute` and `requests/sec` in small letters, with a space between two words, and a bar between two
 * sentences. */
function plainWords(words: string): string {
  return words
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\/\s*(?=(?:s|sec|second|m|min|minute|h|hour|day|week|month)\b)/g, ' per ')
    .replace(/[.;!?]\s|[()]/g, ' | ')
    .replace(/[^\p{L}\p{N}|]+/gu, ' ');
}

const anyOf = (...parts: readonly string[]): string => `(?:${parts.join('|')})`;
const pattern = (...parts: readonly string[]): RegExp =>
  new RegExp(`\\b${anyOf(...parts)}\\b`, 'u');
const upTo = (most: number): string => `(?:[\\p{L}\\p{N}]+ ){0,${most}}?`;

/** A time after which the next request is allowed, while the run waits. `rpm`, `tpm`: requests and tokens per minute. */
const SHORT_PERIOD = pattern(
  `${anyOf('per', 'a', 'each', 'every', 'this')} ${anyOf('s', 'sec', 'second', 'm', 'min', 'minute')}`,
  `${anyOf('second', 'minute', 'minutely')} ${anyOf('rate', 'limit', 'quota')}`,
  `\\d+ ?${anyOf('s', 'secs?', 'seconds?', 'mins?', 'minutes?')}`,
  anyOf('qps', 'qpm', 'rps', 'rpm', 'tps', 'tpm'),
);

/** A time that no run waits for. */
const LONG_PERIOD = pattern(
  `${anyOf('per', 'a', 'each', 'every', 'this', 'current')} ${anyOf('hour', 'day', 'week', 'month', 'year', 'billing')}`,
  anyOf('hourly', 'daily', 'weekly', 'monthly', 'yearly', 'annual', 'today'),
  anyOf('rpd', 'tpd', 'qpd'),
);

/** The quota of a month is that of the contract's code. */
const OTHER_PERIOD = pattern(
  `${anyOf('per', 'a', 'each', 'every', 'this')} ${anyOf('hour', 'day', 'week', 'year')}`,
  anyOf('hourly', 'daily', 'weekly', 'yearly', 'annual', 'today'),
);

const RATE = pattern(
  `rate ${anyOf('limit', 'limits', 'limited', 'limiting', 'exceeded', 'quota')}`,
  `too many ${anyOf('requests', 'calls', 'concurrent')}`,
  `too ${anyOf('fast', 'frequent', 'frequently', 'quickly')}`,
  'throttl(?:ed|ing)',
  'slow down',
  'spike arrest',
  `bursts? ${anyOf('limit', 'limits', 'rate', 'capacity')}`,
  // `10 requests per 1 minute`, `5 rps`
  `\\d+ ${upTo(2)}per (?:\\d+ )?${anyOf('s', 'sec', 'second', 'min', 'minute')}`,
  `\\d+ ${anyOf('qps', 'qpm', 'rps', 'rpm')}`,
  'concurren(?:t|cy)',
  'request limit exceeded',
  'provisioned throughput',
  `${anyOf('try again', 'retry')} ${anyOf('in', 'after', 'later', 'soon')}`,
);

const ALLOWANCE = anyOf('quotas?', 'limits?', 'allowance', 'credits?', 'maximum');
const USED_UP = anyOf('exceeded', 'exhausted', 'reached', 'hit', 'used up', 'depleted', 'spent');

/** `OVER_QUERY_LIMIT`, `Quota exceeded for quota metric`, `dailyLimitExceeded`, `You exceeded your current quota`, `out of call volume
 * quota`, `insufficient_quota`. Not a permission: "no quota for this scope" names none that is used up. */
const LIMIT = pattern(
  `${anyOf('over', 'above', 'beyond')} ${upTo(3)}${ALLOWANCE}`,
  `${ALLOWANCE} ${upTo(7)}${USED_UP}`,
  `${USED_UP} ${upTo(5)}${ALLOWANCE}`,
  `${anyOf('out of', 'insufficient', 'not enough')} ${upTo(2)}${anyOf('credits?', 'quota')}`,
  `no ${upTo(2)}credits`,
);

/** The contract's code as a word of its own: `token_quota_exceeded` is another. */
const CONTRACT_QUOTA = /(?<![\p{L}\p{N}_])QUOTA_EXCEEDED(?![\p{L}\p{N}_])/iu;

/** What the words of a refusal are about; null where they speak of none of these. A period that they name decides, a short one first:
 * a minute that is taken for a month buys nothing until its end, a month that is taken for a minute costs ten minutes. */
export function refusalSubject(words: string): RefusalSubject | null {
  const plain = plainWords(words);
  const [isRate, isLimit] = [RATE.test(plain), LIMIT.test(plain)];
  if (isRate || isLimit) {
    if (SHORT_PERIOD.test(plain)) return 'rate';
    if (CONTRACT_QUOTA.test(words) && !OTHER_PERIOD.test(plain)) return 'quota';
    if (LONG_PERIOD.test(plain)) return 'limit';
  }
  return isRate ? 'rate' : isLimit ? 'limit' : null;
}

/** Whether words name a scope, or one of these topics and bundles: then the key lacks it. */
export function namesScope(words: string, scopes: readonly string[]): boolean {
  const plain = ` ${plainWords(words)} `;
  return ['scope', ...scopes]
    .map((scope) => ` ${plainWords(scope)}`)
    .some((scope) => plain.includes(`${scope} `) || plain.includes(`${scope}s `));
}
