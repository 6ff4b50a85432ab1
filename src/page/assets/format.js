/** Numbers and times for people. */

const GROUPED = new Intl.NumberFormat('en-US');

/** 12,345 */
export const grouped = (value) => GROUPED.format(value);

/** `1 credit`, `2 credits` */
export const counted = (value, one, many = `${one}s`) => `${grouped(value)} ${value === 1 ? one : many}`;

/** 12.3 MB */
export function byteSize(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}

/** `under a minute`, `12 minutes`, `3 h 20 min`, `2 days 4 h` */
export function timeSpan(minutes) {
  if (minutes < 1) return 'under a minute';
  if (minutes < 90) return counted(Math.round(minutes), 'minute');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${Math.round(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} days ${hours % 24} h`;
}

/** `1 December 2026`; billing periods end at midnight UTC. */
export const day = (time) =>
  new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `38 %`; never `100 %` for less than all. */
export function percent(share) {
  const rounded = Math.round(share * 100);
  if (rounded === 100 && share < 1) return `${Math.floor(share * 1000) / 10} %`;
  return `${rounded === 0 && share > 0 ? '<1' : rounded} %`;
}

/** The headline above a run that bought all it could and left rows without answers. Up to one row in 20 is an exception; more are the
 * result. `status` has the rows of each status; null for a run whose summary is gone. */
export function incompleteWords(status) {
  if (status === null) return 'Ended: some rows are incomplete';
  const { partial = 0, failed = 0, deferred = 0, rejected = 0 } = status;
  const rows = Object.values(status).reduce((sum, of) => sum + of, 0);
  const lacking = partial + failed + deferred;
  if (lacking > 0 && lacking <= rows / 20) return `Complete, except ${counted(lacking, 'row')}`;
  // Without a row that lacks answers, the service has rejected all locations.
  const word = lacking === 0 ? 'rejected' : lacking === failed ? 'failed' : 'incomplete';
  return `Ended: ${grouped(lacking || rejected)} of ${counted(rows, 'row')} ${word}`;
}

/** The sentence that the user confirms. The server compares it with its own (choice.ts). */
export const confirmation = (budget) => (budget === 0 ? 'Spend nothing' : `Spend at most ${counted(budget, 'credit')}`);

const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = '  twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const THOUSANDS = [
  [1e12, 'trillion'],
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
  [100, 'hundred'],
];

/** 1040: one thousand and forty. In digits, one zero too many is easily overlooked. */
export function inWords(value) {
  if (value < 20) return ONES[value];
  if (value < 100) {
    const rest = value % 10;
    return TENS[Math.floor(value / 10)] + (rest === 0 ? '' : `-${ONES[rest]}`);
  }
  const [unit, name] = THOUSANDS.find(([size]) => value >= size);
  const rest = value % unit;
  const head = `${inWords(Math.floor(value / unit))} ${name}`;
  if (rest === 0) return head;
  return `${head}${rest < 100 ? ' and' : ''} ${inWords(rest)}`;
}
