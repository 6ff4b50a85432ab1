import type { Texts } from './packed-fields.ts';

/** Notes and names of places can be all different: texts beyond this number are stored in each cell. */
export const MOST_TEXTS = 4096;
const LONGEST_TEXT = 200;

/** The texts of a store by number. */
export interface TextNumbers extends Texts {
  /** The number of a text that must have one, however many there are: the slug of a topic. */
  ensure(text: string): number;
  /** The number of a text that has one already; -1 otherwise. Never writes. */
  known(text: string): number;
}

/** Whether a text may get a number. The texts of a database are UTF-8, which has no lone surrogates. */
export function isSharedText(text: string): boolean {
  return text.length <= LONGEST_TEXT && text.isWellFormed() && !text.includes('\0');
}
