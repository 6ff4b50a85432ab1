import { type NaturalSlug, type ProximitySlug, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { DatasetName, RecordFeed } from './records.ts';

/** The feeds behind the five topics that combine the rating with records. */
export const FEEDS: Readonly<Partial<Record<NaturalSlug, readonly RecordFeed[]>>> = {
  earthquake: ['earthquake'],
  hail: ['hail'],
  hurricane: ['hurricane'],
  tornado: ['tornado'],
  wildfire: ['wildfire.current', 'wildfire.historical', 'wildfire.perimeters'],
};

/**
 * The data sets without which a topic has no answer. All of them: an empty list of records would say that there are
 * none, when nobody has looked. `areas` is needed by each, because it tells what lies in the US.
 */
export function needsOf(topic: TopicSlug): readonly DatasetName[] {
  return ['areas', ...ownNeedsOf(topic)];
}

function ownNeedsOf(topic: TopicSlug): DatasetName[] {
  switch (topicOf(topic).category) {
    case 'natural':
      return ['nri', ...(FEEDS[topic as NaturalSlug] ?? []).map((feed): DatasetName => `records:${feed}`)];
    case 'proximity':
      return [`sites:${topic as ProximitySlug}`];
    case 'measurement':
      return [topic === 'airQuality' || topic === 'radon' ? topic : 'readings'];
  }
}
