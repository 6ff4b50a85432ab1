import { AIR_QUALITY_DAYS } from '../../contract/topic-values.ts';
import { namesOfCounty } from '../loaders/county-names.ts';
import { NRI_PREFIXES } from '../loaders/nri.ts';
import type { AirQualityRecord, NaturalRatingRecord, RadonRecord, ReadingRecord } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { ozonePpb } from '../topics/air-quality-index.ts';
import { csvLine } from './csv-line.ts';

/** Ratings as a table of the National Risk Index: a row a county, three columns a hazard. */
export function* ratingTable(ratings: Iterable<NaturalRatingRecord>): Generator<string> {
  const columns = NRI_PREFIXES.flatMap(([, prefix]) => ['AFREQ', 'RISKS', 'RISKR'].map((end) => `${prefix}_${end}`));
  yield csvLine(['STATEABBRV', 'STCOFIPS', ...columns, 'NRI_VER']);
  let geoid = '';
  let county = new Map<string, NaturalRatingRecord>();
  const row = () => {
    const cells = NRI_PREFIXES.flatMap(([topic]) => {
      const rating = county.get(topic);
      return [rating?.frequency, rating?.score, rating?.rating];
    });
    return csvLine([stateOf(geoid), geoid, ...cells, 'Sample']);
  };
  for (const rating of ratings) {
    if (rating.geoid !== geoid && geoid !== '') {
      yield row();
      county = new Map();
    }
    geoid = rating.geoid;
    county.set(rating.topic, rating);
  }
  if (geoid !== '') yield row();
}

/** A year of air quality as EPA's annual file: by names, without codes. */
export function* airQualityTable(years: Iterable<AirQualityRecord>): Generator<string> {
  yield csvLine([
    'State',
    'County',
    'Year',
    'Days with AQI',
    'Good Days',
    'Moderate Days',
    'Unhealthy for Sensitive Groups Days',
    'Unhealthy Days',
    'Very Unhealthy Days',
    'Hazardous Days',
    'Max AQI',
    'Median AQI',
  ]);
  for (const summary of years) {
    const names = namesOfCounty(summary.countyGeoid)!;
    yield csvLine([...names, summary.year, ...AIR_QUALITY_DAYS.map((field) => summary[field])]);
  }
}

/** Radon zones as the table of EPA's map service. */
export function* radonTable(zones: Iterable<RadonRecord>): Generator<string> {
  yield csvLine(['CountyFIPS', 'CountyName', 'StateName', 'RadonZone']);
  for (const { countyGeoid, zone } of zones) {
    const [state, county] = namesOfCounty(countyGeoid)!;
    yield csvLine([countyGeoid, county, state, zone]);
  }
}

const AGENCY = 'Sample agency';

/** Readings as AirNow's hourly file and the file of its monitors. */
export function readingTables(readings: Iterable<ReadingRecord>): { hourly: string[]; sites: string[] } {
  const hourly: string[] = [];
  const sites = ['StationID|AQSID|Parameter|SiteName|Latitude|Longitude|AgencyName\n'];
  for (const { pollutant, monitor, lat, lng, concentration, measuredAt } of readings) {
    const iso = new Date(measuredAt).toISOString();
    const date = `${iso.slice(5, 7)}/${iso.slice(8, 10)}/${iso.slice(2, 4)}`;
    const [name, unit, value] = {
      ozone: ['OZONE', 'PPB', ozonePpb(concentration)],
      pm25: ['PM2.5', 'UG/M3', concentration],
      pm10: ['PM10', 'UG/M3', concentration],
    }[pollutant];
    hourly.push(`${[date, iso.slice(11, 16), monitor, monitor, 0, name, unit, value, AGENCY].join('|')}\n`);
    sites.push(`${[monitor, monitor, name, monitor, lat, lng, AGENCY].join('|')}\n`);
  }
  return { hourly, sites };
}
