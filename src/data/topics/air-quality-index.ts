import type { PollutantSlug } from '../../contract/topics.ts';

/** The six categories of the US air quality index, with the highest index value of each (40 CFR 58 App. G). */
const CATEGORIES = [
  [50, 'Good'],
  [100, 'Moderate'],
  [150, 'Unhealthy for Sensitive Groups'],
  [200, 'Unhealthy'],
  [300, 'Very Unhealthy'],
  [Number.POSITIVE_INFINITY, 'Hazardous'],
] as const;

export type AqiCategory = (typeof CATEGORIES)[number][1];

/** The category of an index value, 0 upwards. */
export function categoryOfAqi(aqi: number): AqiCategory {
  return CATEGORIES.find(([highest]) => Math.round(aqi) <= highest)![1];
}

/** µg/m³ of one ppm of ozone at 25 °C and 1 atm: 48.00 g/mol over 24.45 l/mol. */
const OZONE_UG_PER_PPM = (48 / 24.45) * 1_000;

/** Converts ppb of ozone to µg/m³, with two decimals. */
export function ozoneMicrograms(ppb: number): number {
  return Math.round((ppb / 1_000) * OZONE_UG_PER_PPM * 100) / 100;
}

interface Breakpoints {
  /** The highest concentration of each category but the last. */
  readonly highest: readonly number[];
  /** The decimals to which the agency truncates a concentration first. */
  readonly decimals: number;
  readonly ugPerUnit: number;
}

/** EPA, Technical Assistance Document for the Reporting of Daily Air Quality (May 2024), table 6: PM2.5 and PM10 over 24 hours in µg/m³,
 * ozone over 8 hours in ppm: from 0.200 ppm on by the 1-hour scale, where 0.404 ends `Very Unhealthy`. */
const BREAKPOINTS: Readonly<Record<PollutantSlug, Breakpoints>> = {
  pm25: { highest: [9, 35.4, 55.4, 125.4, 225.4], decimals: 1, ugPerUnit: 1 },
  pm10: { highest: [54, 154, 254, 354, 424], decimals: 0, ugPerUnit: 1 },
  ozone: { highest: [0.054, 0.07, 0.085, 0.105, 0.404], decimals: 3, ugPerUnit: OZONE_UG_PER_PPM },
};

/** The category of a pollutant's concentration in µg/m³. A single reading is put on the scale of the daily mean. */
export function categoryOfConcentration(
  pollutant: PollutantSlug,
  concentration: number,
): AqiCategory {
  const { highest, decimals, ugPerUnit } = BREAKPOINTS[pollutant];
  const scale = 10 ** decimals;
  // 12 digits first, so that 35.4 * 10 is not truncated to 353. Converted and rounded values have 4: 86 ppb must not become 85.
  const digits = ugPerUnit === 1 ? 12 : 4;
  const cut = Math.trunc(Number(((concentration / ugPerUnit) * scale).toPrecision(digits))) / scale;
  const index = highest.findIndex((limit) => cut <= limit);
  return CATEGORIES[index === -1 ? CATEGORIES.length - 1 : index]![1];
}
