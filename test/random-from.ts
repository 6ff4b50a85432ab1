/** Random numbers from 0 to 1 that are the same in each run, without the sample's generator, which is tested too. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
