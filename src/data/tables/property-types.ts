import { memo } from '../../base/memo.ts';
import { DISTANCE_PROPERTY } from './layer-search.ts';
import { isNoValue } from './no-values.ts';

type Properties = Readonly<Record<string, unknown>>;

/** A text that a number can replace without loss: no leading zeros, and no more digits than a double has. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;
const MOST_DIGITS = 15;

/** Properties with such names are codes, not quantities. */
const CODE_NAME = /zip|postal|postcode|fips|geoid|phone|fax/;
const ZIP_NAME = /zip|postal|postcode/;

/** The types of the properties of one load. */
interface PropertyTypes {
  see(properties: Properties): void;
  typed(properties: Properties): Record<string, unknown>;
}

/** Makes the types for one load: `see` all of its features, then `typed` gives each property one type. Formats differ: CSV has only text, and a shapefile turns a ZIP into a number without its zeros. So a
 * property is a number if every value in the dataset is a number or written as one, else text. Codes are always text, and ZIP codes get
 * their zeros back. What means nothing is left out, like the blank cells of a CSV: `<Null>`, NaN, -9999. */
export function createPropertyTypes(): PropertyTypes {
  const texts = new Set<string>();
  const codeOf = memo((name: string) => {
    const plain = name.toLowerCase().replace(/[^a-z]/g, '');
    return ZIP_NAME.test(plain) ? 'zip' : CODE_NAME.test(plain) ? 'code' : null;
  });

  function typedValue(name: string, value: unknown): unknown {
    if (typeof value !== 'string' && typeof value !== 'number') return value;
    const code = codeOf(name);
    if (code === 'zip') return zipText(String(value));
    if (code === 'code' || texts.has(name)) return String(value);
    return Number(value);
  }

  return {
    see(properties: Properties): void {
      for (const name in properties) {
        const value = properties[name];
        if (typeof value !== 'string' || texts.has(name) || isNothing(name, value)) continue;
        if (!NUMBER.test(value) || value.replace(/\D/g, '').length > MOST_DIGITS) texts.add(name);
      }
    },
    typed(properties: Properties): Record<string, unknown> {
      const typed: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(properties)) {
        // Each answer writes its own distance under this name.
        if (name === DISTANCE_PROPERTY || isNothing(name, value)) continue;
        typed[name] = typedValue(name, value);
      }
      return typed;
    },
  };
}

/** Names of ids and codes, of which 9999 may be one. */
const ID_NAME = /(id|no|num|number|code|key|seq|cd|nbr|fips|zip)\d*$/i;

function isNothing(name: string, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const text = String(value);
  return isNoValue(text) && !(/\d/.test(text) && ID_NAME.test(name));
}

/** 2139 is 02139, and 21390001 is 021390001: five digits, or nine with the ZIP+4. */
function zipText(text: string): string {
  if (!/^\d{3,9}$/.test(text)) return text;
  return text.padStart(text.length <= 5 ? 5 : 9, '0');
}
