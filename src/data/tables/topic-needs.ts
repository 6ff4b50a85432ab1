import { type NaturalSlug, type ProximitySlug, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { DatasetName, EventKind } from './records.ts';

/** The events in the details of five topics. */
const EVENTS: Readonly<Partial<Record<NaturalSlug, readonly EventKind[]>>> = {
  earthquake: ['earthquake'],
  hail: ['hail'],
  hurricane: ['hurricane'],
  tornado: ['tornado'],
  wildfire: ['wildfire.current', 'wildfire.historical', 'wildfire.perimeters'],
};

/** The datasets that a topic cannot be answered without. `areas` is always one, because it defines what is in the US. A
 * natural topic's events are not: a rating without records is still an answer. */
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

/** The datasets of the events in a topic's details. */
export function eventDatasetsOf(topic: TopicSlug): readonly DatasetName[] {
  return (EVENTS[topic as NaturalSlug] ?? []).map((event): DatasetName => `records:${event}`);
}
