/** A feature of an agency's file, or a row with a place. */
export interface FileFeature {
  /** The line on which it begins, or its number in a file without lines; from 1. */
  readonly line: number;
  readonly id?: string | number;
  readonly geometry: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}
