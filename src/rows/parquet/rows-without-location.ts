import { ownWidth } from '../kept-columns.ts';
import { type NoLocation, noLocationIn } from '../no-locations.ts';
import { leavesUnder } from './file-columns.ts';
import { orUnreadable } from './footer.ts';
import { type FlatSource, flatSource } from './page-values.ts';
import type { GroupReader } from './pages.ts';
import { textForm } from './value-text.ts';

/** Why some rows of a group are no locations, by their numbers in it. */
export type FindNoLocations = (rows: readonly number[]) => Promise<ReadonlyMap<number, NoLocation>>;

const NONE: ReadonlyMap<number, NoLocation> = new Map();

/** Makes a function that judges rows with a blank location, in their order. It reads the other columns one by one, and only while they
 * can decide: the first text of an ordinary row says that it is no total. A list is not looked into: its rows count as locations. */
export function noLocationFinder(at: GroupReader): FindNoLocations {
  const fields = at.file.root.children;
  const leaves = fields.slice(0, ownWidth(fields.map(({ name }) => name))).flatMap(leavesUnder);
  if (leaves.some(({ maxRepetition }) => maxRepetition > 0)) return async () => NONE;
  const columns = leaves.map((leaf) => {
    let source: FlatSource<string> | null = null;
    let next = 0;
    return async (row: number): Promise<string> => {
      source ??= flatSource(at, leaf, textForm(leaf), '');
      const [text] = await source(1, row - next);
      next = row + 1;
      return text!;
    };
  });
  return async (rows) => {
    const found = new Map<number, NoLocation>();
    await orUnreadable(at.file.input.name, async () => {
      for (const row of rows) {
        const texts: string[] = [];
        let noLocation = noLocationIn(texts);
        for (const textAt of columns) {
          texts.push(await textAt(row));
          noLocation = noLocationIn(texts);
          if (noLocation === null) break;
        }
        if (noLocation !== null) found.set(row, noLocation);
      }
    });
    return found;
  };
}
