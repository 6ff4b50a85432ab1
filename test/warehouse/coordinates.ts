/** A generator of numbers in [0, 1) that gives the same ones for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Texts of a latitude or longitude that are no plain number, or a number that is hard to read or to round. */
const ODD_TEXTS: readonly string[] = [
  ...[
    '| |\t|\u00a0|0|-0|+0|0.0|0e999|-0e-999|1e-7|-1e-7|1e-300|-1e-300|1e-400|1e400|-1e400|1e-99999999999',
    '1e99999999999|5e-324|1e308|NaN|nan|Infinity|-inf|inf|1_000|0x10|1e|e5|.|-|+-3|1.2.3|34.|.5|-.5|+34.5',
    '3.45e1|345E-1|0034.05|٣٤|３４|12,5|-97,2345|1,234.5|34°|34.5°N|N 34.5|34.5 n|34.5º|34.5\ufffd|34deg',
    "34.5 Deg. N|°|34°30'15\"N|34 30 15|34:30:15.5|34-30|W97d12m|97° 12′ 5.5″ W|34 30'|S 1.5.2|n/a|null|NULL",
    'true|34 5|34.5x|34;5|--5|34.50000\n| 34.12345 |\u200334.00005\u3000|\ufeff34.00015|34.1\u0085|90|-90',
    '90.00001|180|-180|180.00001|-180.00001|179.99999|-179.99995|51.95|13.45|144.75|1000|-14.3|-170.7',
  ].flatMap((texts) => texts.split('|')),
  `34.${'0'.repeat(3_000)}5`,
  `34.0000${'4'.repeat(5_000)}`,
  `${'0'.repeat(400)}34.5`,
  `0.${'0'.repeat(400)}3412345e402`,
  `34.00005${'0'.repeat(2_000)}1`,
  `34.00004${'9'.repeat(2_000)}`,
  `${'9'.repeat(400)}`,
  `-97.${'1'.repeat(300)}e0`,
  `0.${'0'.repeat(2_000)}`,
];

/** Pairs of texts: places in the US and elsewhere, ties and their neighbours, exchanged and changed signs, odd notations. */
export function coordinateTexts(count: number, seed: number): [lat: string, lng: string][] {
  const random = randomFrom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const numberText = (low: number, high: number): string => {
    const value = low + random() * (high - low);
    const kind = random();
    // A tie of four decimals, as text and as the nearest double with its neighbours.
    if (kind < 0.3) return `${value.toFixed(4)}5`;
    if (kind < 0.4) return String(Number(`${value.toFixed(4)}5`) * (1 + (Math.floor(random() * 7) - 3) * 2 ** -52));
    if (kind < 0.45)
      return `${value.toFixed(4)}${pick(['49999999', '50000001', '4999999999999999', '5000000000000001'])}`;
    if (kind < 0.5) return value.toExponential(Math.floor(random() * 15));
    if (kind < 0.55) return `${pick([' ', '\t', '\u00a0', '+'])}${Math.abs(value).toFixed(6)} `;
    return kind < 0.8 ? value.toFixed(Math.floor(random() * 8)) : String(value);
  };
  const place = (): [string, string] => {
    const kind = random();
    if (kind < 0.7) return [numberText(24, 50), numberText(-126, -66)];
    if (kind < 0.75) return [numberText(-126, -66), numberText(24, 50)];
    if (kind < 0.8) return [numberText(24, 50), numberText(66, 126)];
    if (kind < 0.85) return [numberText(50, 72), numberText(-180, -129)];
    if (kind < 0.9) return [numberText(-95, 95), numberText(-185, 185)];
    if (kind < 0.94) return [pick(ODD_TEXTS), numberText(-126, -66)];
    return kind < 0.97 ? [numberText(24, 50), pick(ODD_TEXTS)] : [pick(ODD_TEXTS), pick(ODD_TEXTS)];
  };
  const odd = ODD_TEXTS.flatMap((text): [string, string][] => [
    [text, '-97.5'],
    ['34.5', text],
    [text, text],
  ]);
  return Array.from({ length: count }, (_, index) => odd[index] ?? place());
}

/** As numbers, for numeric columns: NaN and infinities too. */
export function coordinateNumbers(count: number, seed: number): [lat: number, lng: number][] {
  const special = [
    0,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e-7,
    1e-300,
    34.00005,
    -97.00005,
  ];
  const numbers = coordinateTexts(count, seed).map(([lat, lng]) => [Number(lat), Number(lng)] as [number, number]);
  const first = special.flatMap((a) => special.map((b) => [a, b] as [number, number]));
  return [...first, ...numbers].slice(0, count);
}
