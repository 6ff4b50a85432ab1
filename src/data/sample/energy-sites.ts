import { between, chance, digits, pick, whole } from './random.ts';
import type { SiteDraft, SiteProperties } from './site-draft.ts';

const FUELS = ['NG', 'SUN', 'WND', 'BIT', 'WAT', 'DFO', 'LFG', 'BAT'];
const VOLTAGES = [69, 115, 138, 161, 230, 345, 500] as const;

const operator = ({ random }: SiteDraft) => `Sample Energy ${digits(random, 3)} LLC`;

/** Wells in the fields of CalGEM, pipelines and plants of EIA, lines of HIFLD, reactors of the NRC's list. */
export const ENERGY_SITES = {
  oilGasWell: [
    'well',
    (draft) => ({
      API: `${digits(draft.random, 3)}${draft.number}${digits(draft.random, 2)}`,
      LeaseName: `Sample lease ${digits(draft.random, 4)}`,
      WellDesignation: draft.name,
      WellStatus: pick(draft.random, ['Active', 'Idle', 'Plugged', 'Plugged', 'New']),
      WellType: pick(draft.random, ['OG', 'DG', 'WF', 'WD', 'GS']),
      WellTypeLabel: pick(draft.random, ['Oil & Gas', 'Dry Gas', 'Water Flood', 'Water Disposal', 'Gas Storage']),
      OperatorName: operator(draft),
      FieldName: `Sample field ${digits(draft.random, 2)}`,
      CountyName: draft.county,
      State: draft.state,
      SpudDate: draft.day(60),
      TotalDepthFt: whole(draft.random, 800, 14_000),
      isDirectionallyDrilled: chance(draft.random, 0.3) ? 'Y' : 'N',
      isHydraulicallyFractured: chance(draft.random, 0.25) ? 'Y' : 'N',
      GISSource: 'sample',
    }),
  ],
  naturalGasPipeline: [
    'pipeline segment',
    (draft) => ({
      FID: Number(draft.number),
      Segment: draft.name,
      TYPEPIPE: pick(draft.random, ['Interstate', 'Intrastate', 'Gathering']),
      Operator: operator(draft),
      Status: pick(draft.random, ['Operating', 'Operating', 'Operating', 'Abandoned']),
      DiameterIn: pick(draft.random, [6, 8, 12, 16, 20, 24, 30, 36]),
      Commodity: 'Natural gas',
      County: draft.county,
      State: draft.state,
      Shape_Leng: Math.round(between(draft.random, 0.005, 0.06) * 1e6) / 1e6,
    }),
  ],
  powerPlant: [
    'power plant',
    (draft) => ({
      Plant_Code: Number(draft.number),
      Plant_Name: draft.name,
      Utility_Name: operator(draft),
      Street_Address: draft.street,
      City: draft.city,
      County: draft.county,
      StateName: draft.state,
      Zip: draft.zip,
      PrimSource: pick(draft.random, FUELS),
      Install_MW: whole(draft.random, 1, 1800),
      Total_MW: whole(draft.random, 1, 1700),
      sector_name: pick(draft.random, ['Electric Utility', 'IPP Non-CHP', 'Industrial CHP', 'Commercial Non-CHP']),
      Operating_Since: draft.day(50),
      Source: 'sample',
    }),
  ],
  nuclearReactors: [
    'reactor site',
    (draft) => ({
      Docket: `0500${draft.number}`,
      Name: draft.name,
      Licensee: operator(draft),
      County: draft.county,
      State: draft.state,
      NRC_Region: whole(draft.random, 1, 4),
      Reactor_Type: pick(draft.random, ['PWR', 'PWR', 'BWR']),
      Units: whole(draft.random, 1, 3),
      Capacity_MWt: whole(draft.random, 1500, 3990),
      Operating_License: draft.day(45),
      Status: 'Operating',
    }),
  ],
  highVoltageLine: [
    'transmission line',
    (draft) => {
      const voltage = pick(draft.random, VOLTAGES);
      return {
        ID: `1${draft.number}`,
        NAME: draft.name,
        TYPE: pick(draft.random, ['AC; OVERHEAD', 'AC; OVERHEAD', 'AC; UNDERGROUND', 'DC; OVERHEAD']),
        STATUS: 'IN SERVICE',
        OWNER: operator(draft).toUpperCase(),
        VOLTAGE: voltage,
        VOLT_CLASS: voltage < 100 ? 'UNDER 100' : voltage < 220 ? '100-161' : voltage < 345 ? '220-287' : '345 AND UP',
        SUB_1: `SAMPLE SUBSTATION ${digits(draft.random, 4)}`,
        SUB_2: `SAMPLE SUBSTATION ${digits(draft.random, 4)}`,
        NAICS_CODE: '221121',
        INFERRED: chance(draft.random, 0.3) ? 'Y' : 'N',
        SOURCEDATE: draft.day(8),
        VAL_METHOD: 'SAMPLE',
      };
    },
  ],
} as const satisfies Record<string, readonly [string, SiteProperties]>;
