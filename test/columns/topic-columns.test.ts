import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lossColumns } from '../../src/columns/loss-columns.ts';
import { addedColumns, perilbookColumns } from '../../src/columns/row.ts';
import {
  answerFields,
  areaAnswer,
  areaSuffices,
  flatten,
} from '../../src/columns/topic-columns.ts';
import type { Field } from '../../src/contract/answer.ts';
import type { TopicResult } from '../../src/contract/topic-values.ts';
import {
  NATURAL_SLUGS,
  POLLUTANTS,
  PROXIMITY_SLUGS,
  TOPIC_SLUGS,
  type TopicSlug,
  topicOf,
} from '../../src/contract/topics.ts';

/** The header for all topics, written out, so that no renaming goes unseen. */
const HEADER = `
hazard_status hazard_note hazard_as_of
avalanche_rating avalanche_score avalanche_frequency
coastal_flood_rating coastal_flood_score coastal_flood_frequency
cold_wave_rating cold_wave_score cold_wave_frequency
drought_rating drought_score drought_frequency
earthquake_rating earthquake_score earthquake_frequency earthquake_records
hail_rating hail_score hail_frequency hail_reports
heat_wave_rating heat_wave_score heat_wave_frequency
hurricane_rating hurricane_score hurricane_frequency hurricane_tracks
ice_storm_rating ice_storm_score ice_storm_frequency
landslide_rating landslide_score landslide_frequency
lightning_rating lightning_score lightning_frequency
riverine_flood_rating riverine_flood_score riverine_flood_frequency
strong_wind_rating strong_wind_score strong_wind_frequency
tornado_rating tornado_score tornado_frequency tornado_reports
tsunami_rating tsunami_score tsunami_frequency
volcano_rating volcano_score volcano_frequency
wildfire_rating wildfire_score wildfire_frequency wildfire_current wildfire_historical wildfire_perimeters
winter_weather_rating winter_weather_score winter_weather_frequency
brownfield_count brownfield_nearest_m
superfund_count superfund_nearest_m
toxic_release_inventory_count toxic_release_inventory_nearest_m
solid_waste_landfill_count solid_waste_landfill_nearest_m
ust_facility_count ust_facility_nearest_m
ust_release_count ust_release_nearest_m
oil_gas_well_count oil_gas_well_nearest_m
natural_gas_pipeline_count natural_gas_pipeline_nearest_m
power_plant_count power_plant_nearest_m
nuclear_reactors_count nuclear_reactors_nearest_m
high_voltage_line_count high_voltage_line_nearest_m
cell_tower_count cell_tower_nearest_m
alternative_fuels_count alternative_fuels_nearest_m
park_count park_nearest_m
air_quality_metric air_quality_progress_value air_quality_days_with_aqi air_quality_good_days
air_quality_moderate_days air_quality_unhealthy_for_sensitive_groups_days air_quality_unhealthy_days
air_quality_very_unhealthy_days air_quality_hazardous_days air_quality_max_aqi air_quality_median_aqi
ozone_value ozone_unit ozone_rating ozone_measured_at
pm25_value pm25_unit pm25_rating pm25_measured_at
pm10_value pm10_unit pm10_rating pm10_measured_at
radon_zone radon_title radon_caption
flood_zone flood_zone_subtype flood_zone_special_area
flood_zone_base_elevation_ft flood_zone_base_elevation_datum flood_zone_depth_ft
flood_zone_panel flood_zone_effective flood_zone_boundary_m
`
  .trim()
  .split(/\s+/);

const namesOf = (columns: readonly { readonly name: string }[]) => columns.map(({ name }) => name);

test('the header for all topics, in contract order', () => {
  assert.deepEqual(namesOf(addedColumns(TOPIC_SLUGS)), HEADER);
  assert.equal(new Set(HEADER).size, HEADER.length);
});

test('losses follow the columns of topics: the rates of natural ones, then the amounts where rows have values', () => {
  const topics = ['hail', 'radon', 'winterWeather'] as const;
  const names = (losses: 'rates' | 'amounts') =>
    namesOf(addedColumns(topics, 'x_', true, losses)).slice(namesOf(addedColumns(topics)).length);
  const rates = ['hail_loss_rate', 'winter_weather_loss_rate', 'annual_loss_rate'];
  const amounts = ['hail_annual_loss', 'winter_weather_annual_loss', 'annual_loss'];
  const prefixed = [...rates, 'annual_loss_topics', ...amounts].map((name) => `x_${name}`);
  assert.deepEqual([names('rates'), names('amounts')], [prefixed.slice(0, 4), prefixed]);
});

test('what counts the records of details can be left out, and nothing else is', () => {
  const left = namesOf(addedColumns(TOPIC_SLUGS, '', false));
  const counts = HEADER.filter((name) => !left.includes(name));
  assert.deepEqual(counts, [
    ...['earthquake_records', 'hail_reports', 'hurricane_tracks', 'tornado_reports'],
    ...['wildfire_current', 'wildfire_historical', 'wildfire_perimeters'],
  ]);
});

test('the names that make an earlier output known are exactly the header', () => {
  const ofPoint = ['hazard_geometry', 'hazard_geometry.latitude', 'hazard_geometry.longitude'];
  const ofLosses = namesOf(lossColumns(TOPIC_SLUGS, 'amounts'));
  assert.deepEqual([...perilbookColumns().keys()], [...HEADER, ...ofLosses, ...ofPoint]);
  assert.ok(
    perilbookColumns('x_').has('x_wildfire_rating') &&
      !perilbookColumns('x_').has('wildfire_rating'),
  );
});

const HERE = { lat: 40, lng: -100 };
const ZERO = { title: 'A hazard', rating: 'Very Low', score: 0, frequency: 0 } as const;

const fields = (slug: TopicSlug, value: unknown, details?: unknown): Field[] =>
  flatten(slug, { value, details } as TopicResult, HERE);

test('a natural answer is its rating, score and frequency, but what has no score gets none; null is never 0', () => {
  for (const slug of NATURAL_SLUGS.filter((name) => topicOf(name).details === 'none')) {
    assert.deepEqual(fields(slug, ZERO, null), ['Very Low', 0, 0], slug);
    for (const rating of ['Not Applicable', 'Insufficient Data']) {
      assert.deepEqual(fields(slug, { ...ZERO, rating }, null), [rating, null, null], slug);
    }
    assert.deepEqual(
      fields(slug, { ...ZERO, rating: 'No Rating' }, null),
      ['No Rating', 0, 0],
      slug,
    );
    assert.deepEqual(
      fields(slug, { ...ZERO, score: -1.5, frequency: 1e-9 }),
      ['Very Low', -1.5, 1e-9],
      slug,
    );
  }
});

const counted: readonly (readonly [
  slugs: readonly TopicSlug[],
  says: string,
  details: unknown,
  counts: Field[],
])[] = [
  [['hail', 'hurricane', 'tornado'], 'records', [{}, {}, {}], [3]],
  [['hail', 'hurricane', 'tornado'], 'no records', [], [0]],
  [['hail', 'hurricane', 'tornado', 'earthquake'], 'null', null, [null]],
  [['hail', 'hurricane', 'tornado'], 'no details', undefined, [null]],
  [
    ['earthquake'],
    'a FeatureCollection beside another list',
    { features: [{}], bbox: [1, 2, 3, 4] },
    [1],
  ],
  [['earthquake'], 'an object of lists', { recent: [{}, {}], historical: [{}], radius: 100 }, [3]],
  [
    ['wildfire'],
    'three lists',
    { current: [{}], historical: [{}, {}], perimeters: [{}, {}, {}] },
    [1, 2, 3],
  ],
  [
    ['wildfire'],
    'a missing list and one that is null',
    { historical: [{}], perimeters: null },
    [null, 1, null],
  ],
  [['wildfire'], 'the contract’s empty object', {}, [0, 0, 0]],
  [['wildfire'], 'null', null, [null, null, null]],
];

for (const [slugs, says, details, counts] of counted) {
  test(`${slugs.join(', ')}: the counts of ${says}; no details is not the same as no records`, () => {
    for (const slug of slugs)
      assert.deepEqual(fields(slug, ZERO, details), ['Very Low', 0, 0, ...counts], slug);
  });
}

const point = (lng: number, lat: number) => ({
  geometry: { type: 'Point', coordinates: [lng, lat] },
  properties: {},
});

test('a proximity answer is the count and the whole metres to the nearest feature', () => {
  const collection = (...features: unknown[]) => ({ type: 'FeatureCollection', features });
  for (const slug of PROXIMITY_SLUGS) {
    // A degree of latitude is 111,195 m on the sphere that distances are measured on.
    assert.deepEqual(
      fields(slug, 2, collection(point(-100, 41), point(-100, 40.01))),
      [2, 1112],
      slug,
    );
    assert.deepEqual(fields(slug, 0, collection()), [0, null], slug);
    assert.deepEqual(fields(slug, 1, collection(point(-100, 40))), [1, 0], slug);
    assert.deepEqual(fields(slug, 5, null), [5, null], slug);
    // The count is what the service says, even where its list is shorter.
    assert.deepEqual(fields(slug, 12, collection(point(-100, 40))), [12, 0], slug);
    assert.deepEqual(fields(slug, 5), [5, null], slug);
    assert.deepEqual(fields(slug, 3, collection({ geometry: null }, null, {})), [3, null], slug);
  }
});

test('air quality: eleven fields in the contract’s order', () => {
  const value = {
    metric: 'Good',
    progressValue: 0,
    additionalInfo: {
      ...{ medianAqi: 9, maxAqi: 8, hazardousDays: 7, veryUnhealthyDays: 6, unhealthyDays: 5 },
      ...{ unhealthyForSensitiveGroupsDays: 4, moderateDays: 3, goodDays: 2, daysWithAqi: 1 },
    },
  };
  assert.deepEqual(fields('airQuality', value, null), ['Good', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const unknown = {
    ...value,
    progressValue: null,
    additionalInfo: { ...value.additionalInfo, maxAqi: null },
  };
  assert.deepEqual(fields('airQuality', unknown, null), [
    'Good',
    null,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    null,
    9,
  ]);
});

test('a pollutant: value, unit, rating, time as the service wrote them', () => {
  const timestamp = '2026-03-15T11:00:00.000Z';
  for (const slug of POLLUTANTS) {
    const value = { measurement: { value: 0, unit: 'µg/m³' }, rating: 'Good', timestamp };
    assert.deepEqual(fields(slug, value, null), [0, 'µg/m³', 'Good', timestamp]);
    const silent = { ...value, measurement: { value: null, unit: 'µg/m³' } };
    assert.deepEqual(fields(slug, silent, null), [null, 'µg/m³', 'Good', timestamp]);
  }
});

test('radon: zone, title and caption; the advisory text, which is the same everywhere, is left out', () => {
  const value = {
    title: 'Radon Zone',
    value: 'Zone 2',
    caption: 'Moderate',
    description: 'Test your home.',
  };
  assert.deepEqual(fields('radon', value, null), ['Zone 2', 'Radon Zone', 'Moderate']);
});

test('the answer of an area is all but the counts of the place, and suffices where these are not wanted', () => {
  const ofPlace = fields('hail', ZERO, [1, 2]);
  assert.deepEqual(areaAnswer({ topic: 'hail', asOf: 1, fields: ofPlace }), {
    ...{ topic: 'hail', asOf: 1 },
    fields: ofPlace.slice(0, 3),
  });
  assert.deepEqual(
    answerFields('hail', { value: ZERO, counts: null, nearestMeters: null }),
    ofPlace.slice(0, 3),
  );
  const suffices = (counts: boolean) =>
    (['hail', 'avalanche', 'radon', 'ozone', 'park'] as const).filter((slug) =>
      areaSuffices(slug, counts),
    );
  assert.deepEqual(suffices(true), ['avalanche', 'radon']);
  assert.deepEqual(suffices(false), ['hail', 'avalanche', 'radon']);
});
