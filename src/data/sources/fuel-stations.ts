import { MB, type Source } from './source.ts';

const AFDC =
  'US Department of Energy, Alternative Fuels Data Center: a work of the US government, in the public domain.';

export const FUEL_STATIONS: readonly Source[] = [
  {
    name: 'alternative-fuels',
    loader: 'alternative-fuels',
    title: 'Alternative Fuels Data Center, stations (copy of the Bureau of Transportation Statistics)',
    topics: ['alternativeFuels'],
    download: {
      kind: 'layer',
      layer:
        'https://services.arcgis.com/xOi1kZaI0eWDREZv/arcgis/rest/services/Alternative_Fueling_Stations/FeatureServer/0',
      stateWhere: "state='{state}'",
      as: 'geojson',
    },
    bytes: 120 * MB,
    isMeasured: false,
    licence: AFDC,
    staleAfterDays: 30,
    cadence: 'irregular',
  },
  {
    name: 'alternative-fuels-afdc',
    loader: 'alternative-fuels',
    title: 'Alternative Fuels Data Center, stations of today (in place of alternative-fuels)',
    topics: ['alternativeFuels'],
    when: 'named',
    replaces: 'alternative-fuels',
    keyVariable: 'PERILBOOK_AFDC_KEY',
    download: {
      kind: 'file',
      // In a header, so that no address contains the key.
      keyHeader: 'X-Api-Key',
      files: [
        {
          url: 'https://developer.nlr.gov/api/alt-fuel-stations/v1.csv?country=US&status=E&limit=all',
          stateUrl:
            'https://developer.nlr.gov/api/alt-fuel-stations/v1.csv?country=US&status=E&limit=all&state={state}',
          name: 'alt_fuel_stations_{slice}.csv',
        },
      ],
    },
    bytes: 50 * MB,
    isMeasured: false,
    licence: AFDC,
    firstLine: 'Fuel Type Code',
    staleAfterDays: 1,
    oldAfterDays: 14,
    cadence: 'daily',
    note: 'Needs a free key from https://developer.nlr.gov/signup/.',
  },
];
