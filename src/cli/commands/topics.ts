import { columnsOf } from '../../columns/topic-columns.ts';
import { CREDITS } from '../../contract/credits.ts';
import { TIME_TO_LIVE, TOPICS } from '../../contract/topics.ts';
import { lineWidth, printResult } from '../frame/context.ts';
import type { TopicJson } from '../json/ledger-json.ts';
import { fittingTable } from '../messages/format.ts';
import type { RunCommand } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';

const DAY_S = 86_400;

/** Columns to drop, in this order, on a narrow terminal. */
const DISPENSABLE = ['cadence', 'category', 'fresh for', 'title'];

/** `perilbook topics`: all topics with their columns and how long answers stay fresh. */
export const topicsCommand: RunCommand<Flags<'topics'>> = async (context, flags) => {
  const topics = TOPICS.map(
    ({ slug, title, category, cadence }): TopicJson => ({
      slug,
      title,
      category,
      credits: CREDITS.single,
      cadence,
      fresh_seconds: TIME_TO_LIVE[cadence],
      columns: columnsOf(slug).map(({ name }) => name),
    }),
  );
  const rows = topics.map(({ slug, title, category, cadence, fresh_seconds, columns }) => [
    slug,
    title,
    category,
    cadence,
    freshnessText(fresh_seconds),
    columns.join(' '),
  ]);
  const head = ['slug', 'title', 'category', 'cadence', 'fresh for', 'columns'];
  const lines = fittingTable(head, rows, DISPENSABLE, '', lineWidth(context.stdout));
  const price = `One topic costs ${CREDITS.single} credit, the standard bundle (natural) ${CREDITS.standard}, the enterprise bundle (all) ${CREDITS.enterprise}.`;
  printResult(context, flags, topics, () => [price, '', ...lines]);
};

function freshnessText(seconds: number | null): string {
  if (seconds === null) return 'forever';
  return seconds < DAY_S ? `${seconds / 3600} h` : `${seconds / DAY_S} d`;
}
