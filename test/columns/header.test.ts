import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedColumns, perilbookColumns } from '../../src/columns/row.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';

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
`
  .trim()
  .split(/\s+/);

const namesOf = (columns: readonly { readonly name: string }[]) => columns.map(({ name }) => name);

test('the header for all 37 topics, in contract order', () => {
  assert.deepEqual(namesOf(addedColumns(TOPIC_SLUGS)), HEADER);
  assert.equal(new Set(HEADER).size, HEADER.length);
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
  assert.deepEqual([...perilbookColumns().keys()], [...HEADER, ...ofPoint]);
  assert.ok(perilbookColumns('x_').has('x_wildfire_rating') && !perilbookColumns('x_').has('wildfire_rating'));
});

test('the type of a column follows from what stands in it', () => {
  const typeBySuffix: readonly (readonly [RegExp, string])[] = [
    [/^hazard_(status|note)$|_(rating|metric|unit|zone|title|caption)$/, 'text'],
    [/_(as_of|measured_at)$/, 'time'],
    [/_(count|nearest_m|records|reports|tracks|current|historical|perimeters)$/, 'count'],
    [/_(score|frequency|value|days_with_aqi|days|max_aqi|median_aqi)$/, 'number'],
  ];
  for (const { name, type } of addedColumns(TOPIC_SLUGS)) {
    const [, expected] = typeBySuffix.find(([suffix]) => suffix.test(name)) ?? [];
    assert.equal(type, expected, name);
    assert.match(name, /^[a-z0-9_]+$/);
  }
});
