/** The contract's header names, in the lower case that both sides' HTTP libraries use. */
export const HEADERS = {
  key: 'x-api-key',
  creditCost: 'x-credit-cost',
  rateLimit: 'x-ratelimit-limit',
  rateRemaining: 'x-ratelimit-remaining',
  rateReset: 'x-ratelimit-reset',
  retryAfter: 'retry-after',
  /** Our extension: `true` when our own service answers from made-up data. */
  sampleData: 'x-sample-data',
} as const;

/** `Retry-After: 0` and past dates do not mean "at once": a thousand clients would all retry at that instant. */
export const SHORTEST_RETRY_AFTER_MS = 1_000;

/** A longer wait than a year is a mistake: a run would be resumed in the year 33715. */
const LONGEST_WAIT_MS = 366 * 86_400_000;
const believed = (waitMs: number): number | null => (waitMs <= LONGEST_WAIT_MS ? waitMs : null);

type Headers = Readonly<Record<string, string | undefined>>;

/** `Retry-After` in milliseconds, as OpenAI and Azure send it. */
const RETRY_AFTER_MS = ['retry-after-ms', 'x-ms-retry-after-ms'];

/** The time that an answer asks to wait, in milliseconds from `now`, at least a second; null for none, or more than a year. Of several the
 * longest. */
export function askedWaitMs(headers: Headers, now: number): number | null {
  const exact = RETRY_AFTER_MS.map((name) => count(headers[name])).filter((ms) => ms !== null);
  const asked = retryAfterMs(headers[HEADERS.retryAfter], now);
  if (exact.length === 0) return asked;
  return believed(Math.max(SHORTEST_RETRY_AFTER_MS, asked ?? 0, ...exact));
}

/** `Retry-After` (seconds or an HTTP date) in milliseconds from `now`, at least a second; null for more than a year. Of a header that came
 * several times, joined by commas, the longest wait. */
export function retryAfterMs(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  // A date has a comma after its day of the week.
  const waits = text.split(/(?<=\d|GMT|UTC)\s*,/).map((part) => {
    if (/^\d{1,12}(\.\d{1,6})?$/.test(part.trim())) return Math.ceil(Number(part) * 1_000);
    const date = httpDateMs(part);
    return date === null ? null : date - now;
  });
  if (waits.includes(null)) return null;
  return believed(Math.max(SHORTEST_RETRY_AFTER_MS, ...(waits as number[])));
}

/** `Friday, 06-Nov-26 08:49:37 GMT` (RFC 850) and `Fri Nov  6 08:49:37 2026` (asctime). Years of two digits are of this century. */
const OLD_DATES = [
  /^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>[\d:]{8}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>[\d:]{8}) (?<year>\d{4})$/,
];

/** A date of HTTP in milliseconds since the epoch; null for any other text. The three forms of RFC 9110 (5.6.7), each also with `UTC` or an
 * offset (`+0000`) in place of `GMT`, as mail writes it; and only dates that exist: Date.parse alone reads "7" as a month and 31 February as
 * 3 March. */
export function httpDateMs(text: string | undefined): number | null {
  if (text === undefined) return null;
  const zone = /\s(?:UTC|UT|Z|(?<sign>[+-])(?<hours>\d\d):?(?<minutes>[0-5]\d))$/.exec(text.trim());
  const date = zone === null ? text.trim() : `${text.trim().slice(0, zone.index)} GMT`;
  const { sign, hours = 0, minutes = 0 } = zone?.groups ?? {};
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  const old = OLD_DATES.map((form) => form.exec(date)?.groups).find(
    (groups) => groups !== undefined,
  );
  const { day = '', month, year = '', time } = old ?? {};
  const modern = old
    ? `${day.replace(' ', '0')} ${month} ${year.padStart(4, '20')} ${time} GMT`
    : date;
  const ms = Date.parse(modern);
  if (Number.isNaN(ms)) return null;
  const exact = new Date(ms).toUTCString();
  // The old forms spell the day of the week in their own ways.
  return modern === (old ? exact.slice('Fri, '.length) : exact) ? ms - offsetMs : null;
}

const EPOCH_MS_ABOVE = 1e12;
const EPOCH_S_ABOVE = 1e9;
const DELTA_S_UP_TO = 60;

/** A header that must be a non-negative integer; anything else is `null`. */
export function count(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text.trim())) return null;
  return Number(text);
}

/** `X-RateLimit-Reset` in milliseconds from `now`. The contract shows no unit: it is inferred from the size of the number
 * (docs/developer/service-api.md, 2.10). */
export function resetMs(text: string | undefined, now: number): number | null {
  const value = count(text);
  if (value === null) return null;
  if (value > EPOCH_MS_ABOVE) return believed(Math.max(0, value - now));
  if (value > EPOCH_S_ABOVE) return believed(Math.max(0, value * 1_000 - now));
  return value <= DELTA_S_UP_TO ? value * 1_000 : value;
}

/** What is left of a limit, and milliseconds until it is whole again; null for what is not stated. */
export interface RateLimit {
  readonly remaining: number | null;
  readonly resetMs: number | null;
}

/** The rate headers at `now`: the contract's, else those of the drafts for HTTP: `RateLimit: "minute";r=0;t=30` (several limits: the one with
 * the least left), `RateLimit: limit=60, remaining=0, reset=30`, or `RateLimit-Remaining` and `RateLimit-Reset`. */
export function rateLimit(headers: Headers, now: number): RateLimit {
  const contract = {
    remaining: count(headers[HEADERS.rateRemaining]),
    resetMs: resetMs(headers[HEADERS.rateReset], now),
  };
  if (contract.remaining !== null || contract.resetMs !== null) return contract;
  const drafted = headers.ratelimit;
  const limits =
    drafted === undefined
      ? [[headers['ratelimit-remaining'], headers['ratelimit-reset']]]
      : /\br=/.test(drafted)
        ? drafted.split(',').map((limit) => [member(limit, 'r'), member(limit, 't')])
        : [[member(drafted, 'remaining'), member(drafted, 'reset')]];
  const read = limits.map(([remaining, reset]) => ({
    remaining: count(remaining),
    resetMs: draftResetMs(reset, now),
  }));
  const left = ({ remaining }: RateLimit) => remaining ?? Number.POSITIVE_INFINITY;
  return read.sort(
    (one, other) => left(one) - left(other) || (other.resetMs ?? 0) - (one.resetMs ?? 0),
  )[0]!;
}

function member(text: string, name: string): string | undefined {
  return new RegExp(`(?:^|[\\s;,])${name}=(\\d+)`).exec(text)?.[1];
}

/** The drafts name seconds from now; some servers send the time of day all the same. */
function draftResetMs(text: string | undefined, now: number): number | null {
  const value = count(text);
  if (value === null) return null;
  return value > EPOCH_S_ABOVE ? resetMs(text, now) : believed(value * 1_000);
}
