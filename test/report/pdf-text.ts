import { inflateSync } from 'node:zlib';

/** The text of each page of a PDF that Chromium printed: its writer (Skia) puts objects one after the other, and names the
 * characters of each font's glyphs in a table. Not for other PDFs. */
export function textOfPages(pdf: Buffer): string[] {
  const file = pdf.toString('latin1');
  const objects = new Map<string, string>();
  for (const [, number, body] of file.matchAll(/(?:^|\n)(\d+) 0 obj\n([\s\S]*?)\nendobj/g))
    objects.set(number!, body!);
  const streamOf = (number: string): string => {
    const [, head, bytes] = /^([\s\S]*?)stream\n([\s\S]*?)\nendstream/.exec(objects.get(number)!)!;
    const raw = Buffer.from(bytes!, 'latin1');
    return (head!.includes('/FlateDecode') ? inflateSync(raw) : raw).toString('latin1');
  };
  const fonts = new Map<string, ReadonlyMap<string, string>>();
  const fontOf = (number: string): ReadonlyMap<string, string> => {
    const known = fonts.get(number);
    if (known) return known;
    const named = /\/ToUnicode (\d+) 0 R/.exec(objects.get(number)!);
    const made = named ? charactersOf(streamOf(named[1]!)) : new Map<string, string>();
    fonts.set(number, made);
    return made;
  };
  const pages = [...objects.values()].filter((body) => /\/Type \/Page\b/.test(body));
  return pages.map((page) => {
    const named = new Map(
      [...page.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name, number]) => [name!, number!]),
    );
    const content = [...page.matchAll(/\/Contents (?:\[)?((?:\d+ 0 R ?)+)/g)]
      .flatMap(([, list]) =>
        [...list!.matchAll(/(\d+) 0 R/g)].map(([, number]) => streamOf(number!)),
      )
      .join('\n');
    let text = '';
    let font: ReadonlyMap<string, string> = new Map();
    for (const [, name, hex, end] of content.matchAll(
      /\/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>|(\bET\b)/g,
    )) {
      if (name !== undefined) font = fontOf(named.get(name)!);
      else if (end !== undefined) text += ' ';
      else {
        // A glyph has two bytes, in a font of pictures one.
        const digits = font.has(hex!.slice(0, 4)) ? 4 : 2;
        for (let at = 0; at < hex!.length; at += digits)
          text += font.get(hex!.slice(at, at + digits)) ?? '';
      }
    }
    return text;
  });
}

/** The character of each glyph, from a table of single ones and of ranges. */
function charactersOf(table: string): Map<string, string> {
  const characters = new Map<string, string>();
  const number = (hex: string) => Number.parseInt(hex, 16);
  const text = (hex: string) => Buffer.from(hex, 'hex').swap16().toString('utf16le');
  for (const [, part] of table.matchAll(/beginbfchar([\s\S]*?)endbfchar/g)) {
    for (const [, glyph, to] of part!.matchAll(/<(\w+)> <(\w+)>/g))
      characters.set(glyph!.toUpperCase(), text(to!));
  }
  for (const [, part] of table.matchAll(/beginbfrange([\s\S]*?)endbfrange/g)) {
    for (const [, from, to, first] of part!.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g)) {
      for (let glyph = number(from!); glyph <= number(to!); glyph++) {
        const digits = glyph.toString(16).toUpperCase().padStart(from!.length, '0');
        characters.set(digits, String.fromCodePoint(number(first!) + glyph - number(from!)));
      }
    }
  }
  return characters;
}
