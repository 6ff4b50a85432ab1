import { type NaturalSlug, type ProximitySlug, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { DatasetName, EventKind } from './records.ts';

/** The feeds whose records come beside the rating of five topics. */
const EVENTS: Readonly<Partial<Record<NaturalSlug, readonly EventKind[]>>> = {
  earthquake: ['earthquake'],
  hail: ['hail'],
  hurricane: ['hurricane'],
  tornado: ['tornado'],
  wildfire: ['wildfire.current', 'wildfire.historical', 'wildfire.perimeters'],
};

/**
 * The data sets without which a topic has no answer. `areas` is needed by each, because it tells what lies in the US. A
 * natural topic's feeds are not among them: without its records a rating is still an answer.
 */
export function needsOf(topic: TopicSlug): readonly DatasetName[] {
  return ['areas', ...ownNeedsOf(topic)];
}

function ownNeedsOf(topic: TopicSlug): DatasetName[] {
  switch (topicOf(topic).category) {
    case 'natural':
      return ['nri'];
    case 'proximity':
      return [`sites:${topic as ProximitySlug}`];
    case 'measurement':
      return [topic === 'airQuality' || topic === 'radon' ? topic : 'readings'];
  }
}

/** The data sets without which a topic's answer has no records, or not all. */
export function eventDatasetsOf(topic: TopicSlug): readonly DatasetName[] {
  return (EVENTS[topic as NaturalSlug] ?? []).map((event): DatasetName => `records:${event}`);
}
