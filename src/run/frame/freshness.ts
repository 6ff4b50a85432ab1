import { memo } from '../../base/memo.ts';
import { toldFields } from '../../columns/row.ts';
import { wantedColumns } from '../../columns/topic-columns.ts';
import {
  type CellRecord,
  type FreshTimes,
  isFreshAt,
  isNoData,
  REJECTION_HOLDS_MS,
} from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { WantedAnswer } from '../../store/answers/port.ts';
import { type TopicSet, topicSet } from '../../store/answers/topic-set.ts';
import { PROGRAM_SINCE } from './run-times.ts';

/** Which answers are fresh in a run. Ages are measured at its start, so that the first answers of a long run do not become stale in it. */
export interface Freshness {
  readonly startedAt: number;
  readonly freshSince: (topic: TopicSlug) => number;
  /** Answers of a later date were given under a clock that was ahead. */
  readonly freshUntil: number;
  readonly rejectedSince: number;
}

/** How far beyond the start of a run an answer may be dated. A run may last for weeks, and a clock that was set back makes right dates look
 * late: what was bought then is not bought again. What a clock dated less far ahead is renewed so much later. */
const AHEAD_MS = 366 * 86_400_000;

/** When an answer to a topic is fresh. */
export function timesOf({ freshSince, freshUntil }: Freshness, topic: TopicSlug): FreshTimes {
  return { freshSince: freshSince(topic), freshUntil };
}

/** @param changedSince when a topic's local data last changed: older answers are from other data */
export function makeFreshness(
  job: Job,
  startedAt: number,
  changedSince: Freshness['freshSince'] = () => 0,
): Freshness {
  return {
    startedAt,
    // Called for each topic of each cell, millions of times.
    freshSince: memo((topic) => {
      const timeToLive = job.timeToLive(topic);
      return Math.max(changedSince(topic), timeToLive === null ? 0 : startedAt - timeToLive);
    }),
    // A clock that was never set says nothing of other dates.
    freshUntil: startedAt < PROGRAM_SINCE ? Number.POSITIVE_INFINITY : startedAt + AHEAD_MS,
    rejectedSince: Math.max(
      startedAt - REJECTION_HOLDS_MS,
      Math.min(...job.topics.map(changedSince)),
    ),
  };
}

/** The topics without a fresh answer at a cell; none if the service rejected the location for any of them. */
export function missingTopics(
  record: CellRecord | null,
  topics: readonly TopicSlug[],
  freshness: Freshness,
): TopicSlug[] {
  if (record === null) return [...topics];
  const missing = unanswered(record, topics, freshness);
  return isRejected(record, missing, freshness) ? [] : missing;
}

/** Whether a location is not asked for topics that it lacks, because the service rejected it for one of the job's. */
export function isWithheld(
  record: CellRecord,
  topics: readonly TopicSlug[],
  freshness: Freshness,
): boolean {
  return isRejected(record, unanswered(record, topics, freshness), freshness);
}

function unanswered(
  { answers }: CellRecord,
  topics: readonly TopicSlug[],
  freshness: Freshness,
): TopicSlug[] {
  return topics.filter((topic) => {
    const answer = answers.get(topic);
    return answer === undefined || !isFreshAt(answer.asOf, timesOf(freshness, topic));
  });
}

function isRejected(
  { failures }: CellRecord,
  missing: readonly TopicSlug[],
  { rejectedSince }: Freshness,
): boolean {
  return missing.some((topic) => {
    const failure = failures.get(topic);
    return failure?.reason === 'rejected' && failure.at >= rejectedSince;
  });
}

/** The same topics as `missingTopics`, as a set. */
export function missingSet(
  record: CellRecord | null,
  topics: readonly TopicSlug[],
  freshness: Freshness,
): TopicSet {
  return topicSet(missingTopics(record, topics, freshness));
}

/** The topics that failed at a cell since the beginning of the run. */
export function failedSet(record: CellRecord | null, { startedAt }: Freshness): TopicSet {
  return topicSet(
    [...(record?.failures ?? [])].flatMap(([topic, { at }]) => (at >= startedAt ? [topic] : [])),
  );
}

/** The topics for which the service has ever reported no data at a cell. */
export function noDataSet({ answers }: CellRecord): TopicSet {
  return topicSet(
    [...answers.values()].filter(({ fields }) => isNoData(fields)).map(({ topic }) => topic),
  );
}

/** The answers that a row of the job's output needs. */
export function wantedAnswers({ topics, counts }: Job, freshness: Freshness): WantedAnswer[] {
  return topics.map((topic) => ({
    topic,
    ...timesOf(freshness, topic),
    fields: wantedColumns(topic, counts).length,
    told: toldFields(topic, freshness.startedAt),
  }));
}
