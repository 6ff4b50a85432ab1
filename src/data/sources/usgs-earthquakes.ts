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
      // The search radius of 100 km around every US location, which may be 25 km off the drawn coast (search-boxes.test.ts).
      boxes: {
        states: { minLat: 23.3, maxLat: 50.6, minLng: -126.6, maxLng: -65.2 },
        alaska: { minLat: 50, maxLat: 72.6, minLng: -180, maxLng: -127.8 },
        // The Aleutian Islands beyond the 180th meridian.
        aleutians: { minLat: 50, maxLat: 54.2, minLng: 170.4, maxLng: 180 },
        // As far as Kure Atoll.
        hawaii: { minLat: 17.7, maxLat: 29.6, minLng: -179.8, maxLng: -153.5 },
        caribbean: { minLat: 16.5, maxLat: 19.7, minLng: -69.2, maxLng: -63.3 },
        marianas: { minLat: 12, maxLat: 21.8, minLng: 143.4, maxLng: 147.4 },
        samoa: { minLat: -15.7, maxLat: -9.9, minLng: -172.4, maxLng: -166.9 },
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
