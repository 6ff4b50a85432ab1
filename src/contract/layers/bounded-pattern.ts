import ret, { type Root, type Token, types } from 'ret';
import { memo } from '../../base/memo.ts';

/* Regular expressions of a description. JavaScript's engine tries one way after another to fit a text, and `(a+)+$` has 2^30 of them for
 * 30 letters: a description, which somebody else may have written, would hold up a load or a run for days. So the ways are counted first.
 * A count of nested repetitions alone misses `(a|a)*`, and `.*.*.*.*`, which is slow enough. */

/** More ways are not tried: they take half a second for a value. */
const MOST_WAYS = 2_500_000;

/** A pattern must be bounded for texts of this length: the values of real layers are shorter, and their details, too. */
const USUAL_LETTERS = 128;

/** The parts of a pattern with its repetitions written out. */
const MOST_PARTS = 10_000;

const LONGEST_SOURCE = 1_000;

/** The parser is a function; its types say that it is a member. */
const parse = ret as unknown as (source: string) => Root;

/** What a pattern must fit: the whole text, or a part of it that may begin anywhere. */
export type Fits = 'whole' | 'part';

/** What is wrong with a pattern; null if it can be used. */
export function patternProblem(source: string, fits: Fits): string | null {
  if (!isRegExp(source)) return 'is not a regular expression';
  if (source.length > LONGEST_SOURCE) return `must have at most ${LONGEST_SOURCE} letters`;
  const tree = treeOf(source);
  if (tree === null) return 'has a part of a regular expression that is not supported here';
  return waysOf(tree, fits, USUAL_LETTERS) <= MOST_WAYS && partsOf(tree) <= MOST_PARTS
    ? null
    : 'may take hours for one value; use fewer *, + and |, and none in a part that is repeated';
}

/** Makes the test of a checked pattern, to which case does not matter. A text so long that its test could take seconds does not fit. */
export function boundedPattern(source: string, fits: Fits): (text: string) => boolean {
  const pattern = new RegExp(fits === 'whole' ? `^(?:${source})$` : source, 'i');
  const tree = treeOf(source);
  // A load tests each feature, and texts of one length have the same ways.
  const isBounded = memo(
    (letters: number) => tree !== null && waysOf(tree, fits, letters) <= MOST_WAYS,
  );
  return (text) => isBounded(text.length) && pattern.test(text);
}

function isRegExp(source: string): boolean {
  try {
    return new RegExp(source) !== null;
  } catch {
    return false;
  }
}

/** Null for what the parser does not know, such as a new kind of group. */
function treeOf(source: string): Root | null {
  try {
    return parse(source);
  } catch {
    return null;
  }
}

/** The most ways in which a pattern is tried at a text of so many letters. */
function waysOf(tree: Root, fits: Fits, letters: number): number {
  const ways = (token: Root | Token): number => {
    if (token.type !== types.REPETITION)
      return sum(
        branchesOf(token).map((parts) => parts.reduce((all, part) => all * ways(part), 1)),
      );
    const { min, max, value } = token;
    // More than one for each letter fit no text.
    const most = Math.min(max, min + letters);
    const each = ways(value);
    return each === 1 ? most - min + 1 : (each ** (most + 1) - each ** min) / (each - 1);
  };
  return ways(tree) * (fits === 'whole' ? 1 : letters + 1);
}

function partsOf(token: Root | Token): number {
  if (token.type === types.REPETITION) return Math.max(1, token.min) * partsOf(token.value);
  return sum(branchesOf(token).flat().map(partsOf)) + 1;
}

/** The branches of a group, each with its parts in their order; one without parts for a letter. */
function branchesOf(token: Root | Token): readonly (readonly Token[])[] {
  const isGroup = token.type === types.ROOT || token.type === types.GROUP;
  return isGroup ? (token.options ?? [token.stack ?? []]) : [[]];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
