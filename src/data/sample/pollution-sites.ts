import { chance, digits, pick, whole } from './random.ts';
import type { SiteDraft, SiteProperties } from './site-draft.ts';

const USES = ['Gas station', 'Dry cleaner', 'Rail yard', 'Foundry', 'Warehouse', 'Plating shop', 'Mill', 'Vacant lot'];
const CONTAMINANTS = ['Petroleum', 'Lead', 'Asbestos', 'PAHs', 'PCBs', 'VOCs', 'Arsenic', 'Chromium'];
const SECTORS = 'Chemicals, Fabricated Metals, Food, Petroleum, Plastics and Rubber, Primary Metals, Paper'.split(', ');
const CHEMICALS = 'Ammonia, Benzene, Lead compounds, Methanol, Nitrate compounds, Toluene, Xylene, Zinc'.split(', ');
const FUELS = ['Gasoline', 'Diesel', 'Used oil', 'Kerosene', 'Heating oil', 'Ethanol blend'];

function address({ street, city, county, state, zip }: SiteDraft) {
  return { Address: street, City: city, County: county, State: state, Zip_Code: zip };
}

/** Brownfields in the fields of ACRES, Superfund of SEMS, releases of TRI, landfills of LMOP, tanks of UST Finder. */
export const POLLUTION_SITES = {
  brownfield: [
    'brownfield',
    (draft) => ({
      ACRES_Property_ID: `B${draft.number}`,
      Property_Name: draft.name,
      ...address(draft),
      Cooperative_Agreement: `BF-${digits(draft.random, 8)}`,
      Type_of_Funding: pick(draft.random, ['Assessment', 'Cleanup', 'Revolving Loan Fund', 'Section 128(a)']),
      Past_Use: pick(draft.random, USES),
      Contaminants_Found: pick(draft.random, CONTAMINANTS),
      Property_Size_Acres: whole(draft.random, 2, 900) / 10,
      Cleanup_Required: pick(draft.random, ['Y', 'N', 'U']),
      Assessment_Completed: draft.day(15),
      Ready_for_Reuse: chance(draft.random, 0.4),
    }),
  ],
  superfund: [
    'superfund site',
    (draft) => ({
      EPA_ID: `${draft.state}X${draft.number}${digits(draft.random, 4)}`,
      Site_Name: draft.name,
      ...address(draft),
      NPL_Status_Code: pick(draft.random, ['F', 'F', 'P', 'D']),
      NPL_Status: pick(draft.random, ['Currently on the Final NPL', 'Proposed for NPL', 'Deleted from the Final NPL']),
      Site_Score: whole(draft.random, 285, 700) / 10,
      Federal_Facility: chance(draft.random, 0.08) ? 'Y' : 'N',
      Contaminants: pick(draft.random, CONTAMINANTS),
      Listing_Date: draft.day(40),
      Construction_Completion: chance(draft.random, 0.6) ? draft.day(20) : null,
    }),
  ],
  toxicReleaseInventory: [
    'TRI facility',
    (draft) => ({
      TRI_Facility_ID: `${draft.zip.padEnd(5, '0')}SMPL${draft.number}`,
      Facility_Name: draft.name,
      ...address(draft),
      Industry_Sector: pick(draft.random, SECTORS),
      Primary_NAICS: `3${digits(draft.random, 5)}`,
      Chemical: [pick(draft.random, CHEMICALS)],
      Reporting_Year: 2023,
      Unit_of_Measure: 'Pounds',
      Fugitive_Air: whole(draft.random, 0, 4000),
      Stack_Air: whole(draft.random, 0, 60_000),
      Water: whole(draft.random, 0, 900),
      Total_Releases: whole(draft.random, 0, 90_000),
      Parent_Company: `Sample Holdings ${digits(draft.random, 3)}`,
    }),
  ],
  solidWasteLandfill: [
    'landfill',
    (draft) => ({
      Landfill_ID: draft.number,
      Landfill_Name: draft.name,
      ...address(draft),
      Ownership_Type: pick(draft.random, ['Public', 'Private', 'Federal']),
      Current_Landfill_Status: pick(draft.random, ['Open', 'Closed', 'Unknown']),
      Year_Landfill_Opened: whole(draft.random, 1945, 2005),
      Landfill_Closure_Year: whole(draft.random, 2010, 2080),
      Waste_in_Place_Tons: whole(draft.random, 20, 40_000) * 1000,
      LFG_Collection_System: pick(draft.random, ['Yes', 'No']),
    }),
  ],
  ustFacility: [
    'UST facility',
    (draft) => ({
      Facility_ID: `${draft.state}${draft.number}`,
      Name: draft.name,
      ...address(draft),
      Open_USTs: whole(draft.random, 0, 6),
      Closed_USTs: whole(draft.random, 0, 8),
      TOS_USTs: whole(draft.random, 0, 2),
      Facility_Status: pick(draft.random, ['Open UST(s)', 'Closed UST(s)', 'TOS UST(s)']),
      Substances: pick(draft.random, FUELS),
      Capacity_Gallons: whole(draft.random, 1, 60) * 1000,
      Installed: draft.day(40),
      Last_Inspection: draft.day(5),
      Within_100yr_Floodplain: pick(draft.random, ['Yes', 'No', 'No', 'No']),
      Land_Use: pick(draft.random, ['Developed, High Intensity', 'Developed, Low Intensity', 'Cultivated Crops']),
    }),
  ],
  ustRelease: [
    'UST release',
    (draft) => ({
      LUST_ID: `L${draft.number}`,
      Facility_ID: `${draft.state}${digits(draft.random, 5)}`,
      Name: draft.name,
      ...address(draft),
      Reported_Date: draft.day(35),
      Status: pick(draft.random, ['No Further Action', 'No Further Action', 'Open', 'Active: Corrective Action']),
      Substance: pick(draft.random, FUELS),
      Media: pick(draft.random, ['Soil', 'Groundwater', 'Soil and groundwater']),
      Population_1500ft: whole(draft.random, 0, 9000),
      Domestic_Wells_1500ft: whole(draft.random, 0, 40),
      Within_100yr_Floodplain: pick(draft.random, ['Yes', 'No', 'No', 'No']),
      Land_Use: pick(draft.random, ['Developed, High Intensity', 'Developed, Low Intensity', 'Cultivated Crops']),
    }),
  ],
} as const satisfies Record<string, readonly [string, SiteProperties]>;
