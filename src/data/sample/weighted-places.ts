import type { NaturalSlug } from '../../contract/topics.ts';
import { exposureOf } from './hazards.ts';
import { type Land, placeIn, type SampleCounty } from './land.ts';
import { round, type SamplePlace } from './places.ts';
import type { Random } from './random.ts';

/** Makes random places, more often in counties that are large and exposed to the hazard, so that events are where the
 * ratings say. A `sharpness` above 1 empties the least exposed counties. */
export function weightedPlaces(
  topic: NaturalSlug,
  land: Land,
  sharpness: number,
  accept: (county: SampleCounty) => boolean = () => true,
): (random: Random) => SamplePlace {
  const counties: SampleCounty[] = [];
  const ends: number[] = [];
  let sum = 0;
  for (const county of land.counties) {
    const exposure = accept(county) ? (exposureOf(topic, county) ?? 0) : 0;
    if (exposure === 0) continue;
    const [south, west, north, east] = county.parts[0].box;
    // Otherwise the boxes of Alaska would get all places.
    sum += exposure ** sharpness * Math.min(4, (north - south) * (east - west));
    counties.push(county);
    ends.push(sum);
  }
  return (random) => {
    const county = counties[firstAbove(ends, random() * sum)]!;
    const { lat, lng } = placeIn(county, random);
    return { lat: round(lat, 4), lng: round(lng, 4), county };
  };
}

function firstAbove(ends: readonly number[], value: number): number {
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
