/** Names of columns that identify a location in OED, CEDE and lists of sites; best first. */
const NAMES = [
  ...['locname', 'locationname', 'sitename', 'propertyname', 'buildingname', 'facilityname', 'stationname', 'name'],
  ...['streetaddress', 'address', 'street', 'fulladdress', 'inputaddress'],
];
const IDS = [
  ...['locnumber', 'locationnumber', 'locationid', 'locid', 'siteid', 'propertyid', 'buildingid', 'facilityid'],
  ...['policyid', 'policynumber', 'policyno', 'policy', 'listingid', 'stationid', 'mlsnumber', 'mlsid'],
  ...['id', 'uniqueid', 'key', 'reference', 'ref', 'recordidnumber', 'recordid', 'accnumber'],
];
/** Only if there is no better one, because an account has several locations. */
const ACCOUNTS = ['accountnumber', 'accountid', 'accountno', 'account'];

/** The columns with a location's id and its name (an address where there is no name), by their index; null for none. Another column whose name ends in `id` is used if there is no better one.
 * @param id the column that the job names; null to find it */
export function labelColumns(columns: readonly string[], id: number | null = null) {
  const plain = columns.map((name) => name.toLowerCase().replace(/[^a-z]/g, ''));
  const first = (names: readonly string[]): number | null =>
    names.map((name) => plain.indexOf(name)).find((index) => index >= 0) ?? null;
  const endsInId = columns.findIndex((name) => /[a-z]I[Dd]$|[ _-][iI][dD]$/.test(name.trim()));
  return { id: id ?? first(IDS) ?? (endsInId < 0 ? first(ACCOUNTS) : endsInId), name: first(NAMES) };
}

const LONGEST = 60;

/** A field of these columns, cut to fit a table. */
export function labelOf(text: string | undefined): string {
  const label = (text ?? '').trim();
  return label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label;
}
