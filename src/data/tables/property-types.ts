import { DISTANCE_PROPERTY } from './layers.ts';

type Properties = Readonly<Record<string, unknown>>;

/** The types of the properties of a data set: seen over all of its features, then given to each. */
export interface PropertyTypes {
  see(properties: Properties): void;
  /** The properties with one type each. */
  typed(properties: Properties): Record<string, unknown>;
}

/** A number that a text can stand for without loss: no leading zeros, and no more digits than a double keeps. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;
const MOST_DIGITS = 15;

/** Properties whose digits are a code and no quantity, by parts of their names. */
const CODE_NAME = /zip|postal|postcode|fips|geoid|phone|fax/;
const ZIP_NAME = /zip|postal|postcode/;

/**
 * Makes the types for one load. The forms in which agencies publish differ: in CSV all is text, a shapefile makes a number
 * of a ZIP and loses its zeros. So a property is a number where every value of it in the data set is one or is written as one, else text; codes
 * are always text, and ZIP codes have their zeros. Blank texts are left out, as the blank cells of a CSV are.
 */
export function createPropertyTypes(): PropertyTypes {
  const texts = new Set<string>();
  const codes = new Map<string, 'zip' | 'code' | null>();

  function codeOf(name: string): 'zip' | 'code' | null {
    let code = codes.get(name);
    if (code === undefined) {
      const plain = name.toLowerCase().replace(/[^a-z]/g, '');
      code = ZIP_NAME.test(plain) ? 'zip' : CODE_NAME.test(plain) ? 'code' : null;
      codes.set(name, code);
    }
    return code;
  }

  function typedValue(name: string, value: unknown): unknown {
    if (typeof value !== 'string' && typeof value !== 'number') return value;
    const code = codeOf(name);
    if (code === 'zip') return zipText(String(value));
    if (code === 'code' || texts.has(name)) return String(value);
    return Number(value);
  }

  return {
    see(properties) {
      for (const name in properties) {
        const value = properties[name];
        if (typeof value === 'string' && !texts.has(name) && !isBlank(value) && !isNumber(value)) texts.add(name);
      }
    },
    typed(properties) {
      const typed: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(properties)) {
        // Each answer tells its own distance under this name.
        if (name === DISTANCE_PROPERTY || (typeof value === 'string' && isBlank(value))) continue;
        typed[name] = typedValue(name, value);
      }
      return typed;
    },
  };
}

function isBlank(text: string): boolean {
  return text === '' || text.trim() === '';
}

function isNumber(text: string): boolean {
  return NUMBER.test(text) && text.replace(/\D/g, '').length <= MOST_DIGITS;
}

/** 2139 is 02139, and 21390001 is 021390001: five digits, or nine with the four of the route. */
function zipText(text: string): string {
  if (!/^\d{3,9}$/.test(text)) return text;
  return text.padStart(text.length <= 5 ? 5 : 9, '0');
}
