import { chance, digits, pick, whole } from './random.ts';
import type { SiteProperties } from './site-draft.ts';

/** Degrees, minutes and seconds in the tower registry's format: 41-52-41.2 N. */
function dms(degrees: number, positive: string, negative: string): string {
  const seconds = Math.round(Math.abs(degrees) * 36_000) / 10;
  const minutes = Math.floor(seconds / 60);
  const parts = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${parts.join('-')}-${(seconds - minutes * 60).toFixed(1).padStart(4, '0')} ${degrees < 0 ? negative : positive}`;
}

/** Towers in the fields of the FCC's registry, charging stations of AFDC, parks of PAD-US. */
export const PUBLIC_SITES = {
  cellTower: [
    'cell tower',
    (draft) => ({
      UniqSysID: Number(draft.number),
      Licensee: `Sample Wireless ${digits(draft.random, 3)} Inc.`,
      Callsign: `KSM${digits(draft.random, 3)}${pick(draft.random, ['A', 'B', 'C'])}`,
      LocNum: whole(draft.random, 1, 40),
      Site_Name: draft.name,
      lat_dms: dms(draft.place.lat, 'N', 'S'),
      lon_dms: dms(draft.place.lng, 'E', 'W'),
      LocAdd: draft.street,
      LocCity: draft.city,
      LocCounty: draft.county,
      LocState: draft.state,
      StrucType: pick(draft.random, ['LTOWER', 'MTOWER', 'GTOWER', 'POLE', 'B', 'BTWR', 'TANK']),
      AllStruc: whole(draft.random, 120, 1200) / 10,
      SupStruc: whole(draft.random, 100, 1100) / 10,
      LicStatus: 'A',
      Registered: draft.day(25),
    }),
  ],
  alternativeFuels: [
    'charging station',
    (draft) => ({
      ID: Number(draft.number),
      'Fuel Type Code': pick(draft.random, ['ELEC', 'ELEC', 'ELEC', 'ELEC', 'ELEC', 'E85', 'LPG', 'CNG', 'BD', 'HY']),
      'Station Name': draft.name,
      'Street Address': draft.street,
      City: draft.city,
      State: draft.state,
      ZIP: draft.zip,
      'Status Code': pick(draft.random, ['E', 'E', 'E', 'E', 'T', 'P']),
      'Access Code': pick(draft.random, ['public', 'public', 'private']),
      'Access Days Time': pick(draft.random, ['24 hours daily', 'Dealership business hours', '6am-10pm; D']),
      'EV Level2 EVSE Num': whole(draft.random, 0, 12),
      'EV DC Fast Count': chance(draft.random, 0.25) ? whole(draft.random, 1, 16) : null,
      'EV Network': pick(draft.random, ['Sample Network', 'Non-Networked']),
      'EV Connector Types': pick(draft.random, ['J1772', 'J1772COMBO', 'TESLA', 'CHADEMO J1772COMBO']),
      'Open Date': draft.day(10),
      'Updated At': `${draft.day(1)} 08:00:00 UTC`,
    }),
  ],
  park: [
    'park',
    (draft) => ({
      Unit_Nm: draft.name,
      Category: pick(draft.random, ['Fee', 'Easement', 'Designation']),
      Own_Type: pick(draft.random, ['LOC', 'STAT', 'FED', 'NGO', 'DIST']),
      Own_Name: `${draft.county} parks (sample)`,
      Mang_Name: pick(draft.random, ['CITY', 'CNTY', 'SPR', 'NPS', 'REG']),
      Des_Tp: pick(draft.random, ['LP', 'LREC', 'SP', 'SREC', 'LCA']),
      State_Nm: draft.state,
      Pub_Access: pick(draft.random, ['OA', 'OA', 'OA', 'RA', 'UK']),
      GAP_Sts: String(whole(draft.random, 1, 4)),
      GIS_Acres: whole(draft.random, 1, 4000) / 10,
      Date_Est: draft.day(90).slice(0, 4),
    }),
  ],
} as const satisfies Record<string, readonly [string, SiteProperties]>;
