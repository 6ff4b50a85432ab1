import { counted, grouped } from '../../base/format-numbers.ts';
import { DEFAULTS } from '../../job/setting-table.ts';
import type { AreaCounts } from '../../run/areas/area-table.ts';
import { distrustText } from '../../run/areas/area-verification.ts';
import type { Prepared } from '../../run/prepare.ts';
import type { NamedWords } from './format.ts';

/* What a plan says of the topics and the places of its rows. */

/** `hail, park`; of more than six the first five, and how many more. */
export function topicsMessage(topics: readonly string[]): string {
  return topics.length <= 6
    ? topics.join(', ')
    : `${topics.slice(0, 5).join(', ')} and ${topics.length - 5} more`;
}

/** The credits that a plan or a run saves, by reason; '' for none. Some stored answers may have been free: a place without data. */
export function savingsMessage({
  by_cells,
  by_cache,
  by_areas,
}: Prepared['summary']['saved']): string {
  const parts = [
    by_cells > 0 ? `${grouped(by_cells)} (rows at the same place)` : '',
    by_cache > 0 ? `at most ${grouped(by_cache)} (answers in the store)` : '',
    by_areas > 0 ? `${grouped(by_areas)} (one answer per area)` : '',
  ];
  return parts.filter(Boolean).join(', ');
}

/** What is asked, and for how many places. */
export function placeWords({ job, plan, summary }: Prepared): NamedWords[] {
  const { cells, cells_cached, cells_rejected, located, saved } = summary;
  const rejected = cells_rejected > 0 ? `, ${grouped(cells_rejected)} rejected by the service` : '';
  // A run that buys less than everything saves less than the plan of everything.
  const isWhole = summary.this_run.credits >= summary.credits;
  const isDefault = job.isTopicsAssumed ? ` (${DEFAULTS.topics}, the default: --topics)` : '';
  const words: NamedWords[] = [
    ['topics', `${job.topics.length}${isDefault}: ${topicsMessage(job.topics)}`],
    [
      'places',
      `${grouped(cells)} of ${counted(located, 'located row')} (${counted(job.precision, 'decimal')}); ${grouped(cells_cached)} complete and fresh in the store${rejected}`,
    ],
  ];
  const few = fewPlacesText(located, cells);
  if (few !== null) words.push(['few places', few]);
  if (job.limit !== null && job.limit < located)
    words.push([
      'limit',
      `the first ${counted(job.limit, 'located row')}, ${counted(plan.order.length, 'place')} to look up (--limit)`,
    ]);
  const { value } = summary.columns;
  if (value.length > 0 && job.orderBy.kind !== 'file') {
    const isRecognized =
      job.orderBy.kind === 'recognized' ? ' (recognised; in file order: --order-by file)' : '';
    const most =
      job.orderBy.kind === 'column' && job.orderBy.direction === 'asc' ? 'smallest' : 'largest';
    words.push(['order', `${most} ${value.join(' + ')} first${isRecognized}`]);
  }
  if (plan.scan.areaCounts !== null) words.push(['boundaries', boundaryText(plan.scan.areaCounts)]);
  const savings = savingsMessage(isWhole ? saved : { ...saved, by_cells: 0, by_areas: 0 });
  if (summary.areas) {
    const { representatives, verified, spared, each_place } = summary.areas;
    words.push([
      'areas',
      each_place
        ? distrustText(plan.areas!.verification)
        : `${counted(representatives, 'place')} bought for a whole tract or county, ${grouped(spared)} use their answers, ${grouped(verified)} bought to verify`,
    ]);
  }
  if (savings !== '') words.push(['credits saved', savings]);
  return words;
}

/** From so many rows a place on, most rows probably have the place of an area; buildings have fewer. */
const ROWS_A_PLACE = 20;
const FEWEST_ROWS = 200;

/** Many rows at few places: probably centroids, whose answers are not those of the rows' own places. Null for other files. */
export function fewPlacesText(rows: number, places: number): string | null {
  if (rows < FEWEST_ROWS || rows < places * ROWS_A_PLACE) return null;
  return `${grouped(rows)} rows at ${counted(places, 'place')}: if these are centres of ZIP codes, counties or states, the answers are those of the centres`;
}

/** How many places the boundaries on this machine put in an area, and why the others are in none. */
function boundaryText({ in_area, near_border, in_no_area, no_boundaries }: AreaCounts): string {
  const others = [
    near_border > 0 ? `${grouped(near_border)} on a border` : '',
    in_no_area > 0 ? `${grouped(in_no_area)} in no area` : '',
    no_boundaries > 0 ? `${grouped(no_boundaries)} in states without boundaries here` : '',
  ].filter(Boolean);
  const words = `${counted(in_area, 'place')} in an area`;
  return others.length === 0 ? words : `${words}; bought one by one: ${others.join(', ')}`;
}
