import { MB, type Source } from './source.ts';

const QUERY =
  'eventtype=earthquake&minmagnitude=2.5&starttime={from}&endtime={to}' +
  '&minlatitude={minlat}&maxlatitude={maxlat}&minlongitude={minlng}&maxlongitude={maxlng}';
const SERVICE = 'https://earthquake.usgs.gov/fdsnws/event/1';

export const USGS_EARTHQUAKES: readonly Source[] = [
  {
    name: 'earthquakes',
    loader: 'earthquakes',
    title: 'USGS ANSS Comprehensive Earthquake Catalog, magnitude 2.5 and more since 1900',
    topics: ['earthquake'],
    download: {
      kind: 'spans',
      url: `${SERVICE}/query?format=csv&${QUERY}&orderby=time-asc`,
      countUrl: `${SERVICE}/count?format=text&${QUERY}`,
      // The catalog rejects larger queries.
      mostRows: 20_000,
      boxes: {
        states: { minLat: 24, maxLat: 50, minLng: -126, maxLng: -66 },
        alaska: { minLat: 50, maxLat: 72, minLng: -180, maxLng: -129 },
        // The Aleutian Islands beyond the 180th meridian.
        aleutians: { minLat: 50, maxLat: 54, minLng: 171, maxLng: 180 },
        hawaii: { minLat: 18, maxLat: 23, minLng: -161, maxLng: -154 },
        caribbean: { minLat: 17, maxLat: 20, minLng: -68, maxLng: -64 },
        marianas: { minLat: 12, maxLat: 21, minLng: 143, maxLng: 147 },
        samoa: { minLat: -15, maxLat: -10, minLng: -172, maxLng: -168 },
      },
    },
    bytes: 50 * MB,
    isMeasured: false,
    firstLine: '^time,latitude,longitude,depth,mag',
    staleAfterDays: 1,
    cadence: 'by the minute',
    isNearRealTime: true,
  },
];
