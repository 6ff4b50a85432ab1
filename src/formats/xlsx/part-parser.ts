import { SaxesParser } from 'saxes';

/** The attributes of an element by their names. */
export type Attributes = Readonly<Record<string, string>>;

/** What is done at the tags and texts of a part, in their order. */
interface PartHandlers {
  /** At the end of a tag's name, before its attributes. */
  readonly begins?: (name: string) => void;
  readonly opens: (name: string, attributes: Attributes) => void;
  readonly closes?: (name: string) => void;
  /** A text or a CDATA section, or a part of one. */
  readonly says?: (text: string) => void;
}

/** Reads the XML of a part in pieces. */
export interface PartParser {
  /** How many characters have been read. */
  readonly position: number;
  /** @throws Error for what is no XML, or no part of a workbook */
  read(text: string): void;
  /** @throws Error if the XML has not ended */
  end(): void;
}

/** A cell holds at most 32,767 letters: more than this without a tag is no workbook. */
const LONGEST_PIECE = 16 * 1024 * 1024;

/** The parts of workbooks nest some ten tags. The parser keeps each open one: a file of 200 kB could fill the memory with them. */
const MOST_NESTED = 256;

/** Makes a parser of a part's XML. Memory is bounded by what its handlers keep. */
export function partParser({ begins, opens, closes, says }: PartHandlers): PartParser {
  const parser = new SaxesParser({ position: true, xmlns: false } as const);
  let nested = 0;
  let lastTag = 0;
  if (begins) parser.on('opentagstart', ({ name }) => begins(name));
  parser.on('opentag', ({ name, attributes }) => {
    lastTag = parser.position;
    if (++nested > MOST_NESTED) throw new Error('its tags are nested too deeply');
    opens(name, attributes);
  });
  parser.on('closetag', ({ name }) => {
    lastTag = parser.position;
    nested--;
    closes?.(name);
  });
  if (says) {
    parser.on('text', says);
    parser.on('cdata', says);
  }
  return {
    get position() {
      return parser.position;
    },
    read(text) {
      parser.write(text);
      if (parser.position - lastTag > LONGEST_PIECE) throw new Error('a text in it has no end');
    },
    end: () => void parser.close(),
  };
}

/** The name of an XML element without its prefix, which writers choose freely. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
