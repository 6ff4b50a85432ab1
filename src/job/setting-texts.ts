const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A time such as `90s`, `30m`, `12h`, `30d`. */
export const DURATION = /^(\d+(?:\.\d+)?)\s*([smhd])$/;

/** Milliseconds of a duration, or null if the text is no duration. */
export function durationMs(text: string): number | null {
  const [, amount, unit] = DURATION.exec(text.trim()) ?? [];
  return amount === undefined ? null : Number(amount) * UNIT_MS[unit!]!;
}

/** The parts of a text with commas. */
export const listOf = (given: string | number | boolean): string[] =>
  String(given)
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
