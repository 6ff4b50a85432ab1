/**
 * Connecticut replaced its counties by nine planning regions (Federal Register 87 FR 34235, June 2022), and EPA still
 * publishes by county. A region is answered from the county where most of its people live, by the towns of each
 * (Connecticut Office of Policy and Management, Councils of Governments).
 */
const COUNTY_OF_REGION: readonly (readonly [region: string, county: string])[] = [
  ['09110', '09003'], // Capitol: Hartford, and half of Tolland
  ['09120', '09001'], // Greater Bridgeport: Fairfield
  ['09130', '09007'], // Lower Connecticut River Valley: Middlesex, and two towns of New London
  ['09140', '09009'], // Naugatuck Valley: New Haven, and towns of Litchfield, Hartford and Fairfield
  ['09150', '09015'], // Northeastern: Windham, and one town of Tolland
  ['09160', '09005'], // Northwest Hills: Litchfield, and two towns of Hartford
  ['09170', '09009'], // South Central: New Haven
  ['09180', '09011'], // Southeastern: New London, and one town of Windham
  ['09190', '09001'], // Western: Fairfield, and two towns of Litchfield
];

/** The note in the load report. */
export const CONNECTICUT_NOTE =
  "Connecticut's planning regions are answered from the former county where most of their people live.";

/** The codes that a county's row serves: its own and those of Connecticut's planning regions. */
export function countiesServedBy(county: string): string[] {
  return [county, ...COUNTY_OF_REGION.filter(([, old]) => old === county).map(([region]) => region)];
}
