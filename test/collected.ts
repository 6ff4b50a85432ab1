/** All that a stream brings. (Array.fromAsync is not yet in the library that the types are checked against.) */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
