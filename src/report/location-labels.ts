/** Names of columns that identify a location, as OED, CEDE and lists of sites use them; best first. */
const NAMES = [
  'locname',
  'locationname',
  'sitename',
  'propertyname',
  'buildingname',
  'facilityname',
  'stationname',
  'name',
];
const IDS = ['locnumber', 'locationnumber', 'locationid', 'locid', 'siteid', 'propertyid', 'buildingid', 'facilityid'];
const OTHER_IDS = ['listingid', 'stationid', 'mlsnumber', 'mlsid', 'id', 'uniqueid', 'key', 'reference', 'ref'];
const ADDRESSES = ['streetaddress', 'address', 'street', 'fulladdress'];

/** The columns by which people know a location: an identifier and a name, or an address. */
export function labelColumns(columns: readonly string[]): number[] {
  const plain = columns.map((name) => name.toLowerCase().replace(/[^a-z]/g, ''));
  const first = (...names: readonly string[]): number[] => {
    const found = names.map((name) => plain.indexOf(name)).find((index) => index >= 0);
    return found === undefined ? [] : [found];
  };
  const name = first(...NAMES);
  return [...first(...IDS, ...OTHER_IDS), ...(name.length > 0 ? name : first(...ADDRESSES))];
}

const LONGEST = 80;

/** The fields of those columns as one text. */
export function labelOf(texts: readonly string[]): string {
  const label = texts
    .map((text) => text.trim())
    .filter(Boolean)
    .join(' · ');
  return label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label;
}
