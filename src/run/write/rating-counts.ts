import { addedColumns } from '../../columns/row.ts';
import { wantedColumns } from '../../columns/topic-columns.ts';
import type { Field } from '../../contract/answer.ts';
import { topicOf } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { PlaceSink } from '../../rows/port.ts';
import type { CellTable } from '../scan/cell-table.ts';

const HIGHEST_RATINGS = ['Very High', 'Relatively High'] as const;

/** The value is in units (`CellTable`). */
interface RatedRows {
  rows: number;
  value: number;
}

/** The rows of a natural topic, and the rows with its highest ratings. */
export interface TopicRatings {
  readonly title: string;
  /** Rows whose topic was answered. */
  readonly answered: RatedRows;
  /** Very High, then Relatively High. */
  readonly highest: readonly [RatedRows, RatedRows];
}

/** Counts ratings while the fields pass to a writer: reading them again after writing would double the time. */
export function ratingCounter(job: Pick<Job, 'topics' | 'counts'>, cells: CellTable) {
  const names = addedColumns(job.topics, '', job.counts).map(({ name }) => name);
  const ratings: TopicRatings[] = [];
  const none = () => ({ rows: 0, value: 0 });
  /** By field: the topic whose rating it is. */
  const topicAt: (TopicRatings | undefined)[] = names.map(() => undefined);
  for (const slug of job.topics.filter((slug) => topicOf(slug).category === 'natural')) {
    const topic: TopicRatings = {
      title: topicOf(slug).title,
      answered: none(),
      highest: [none(), none()],
    };
    ratings.push(topic);
    // The rating is the first column of a natural topic.
    topicAt[names.indexOf(wantedColumns(slug, job.counts)[0]!.name)] = topic;
  }
  let number = 0;
  let at = 0;
  let [rows, value] = [cells.rows(0), cells.value(0)];
  const see = (field: Field) => {
    const topic = topicAt[at++];
    // Places after the cells are of rows that were not looked up: all their ratings are null.
    if (topic === undefined || field === null) return;
    topic.answered.rows += rows;
    topic.answered.value += value;
    const rank = field === HIGHEST_RATINGS[0] ? 0 : 1;
    if (field !== HIGHEST_RATINGS[rank]) return;
    topic.highest[rank].rows += rows;
    topic.highest[rank].value += value;
  };
  const counting = (sink: PlaceSink): PlaceSink => ({
    put(field) {
      see(field);
      sink.put(field);
    },
    putMillionths(millionths) {
      at++;
      sink.putMillionths(millionths);
    },
    putText(text, number) {
      see(text);
      sink.putText(text, number);
    },
    endPlace() {
      at = 0;
      number++;
      [rows, value] = [cells.rows(number), cells.value(number)];
      sink.endPlace();
    },
  });
  return { counting, ratings: ratings as readonly TopicRatings[] };
}
