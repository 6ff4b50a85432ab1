import type { Box } from './bounding-boxes.ts';

/** Finds which of many boxes touch a box; gives their places in the list that the tree was made of, in no order. */
export type BoxTree = (box: Box) => number[];

/** Boxes of a node: 16 gives five floors over 85 000 tracts. */
const NODE_SIZE = 16;

/**
 * Packs boxes into a tree that is never changed: they are sorted into columns and within a column from south to north, and
 * each 16 neighbours share a node. A question takes about half a microsecond, where the database's R*Tree takes ten.
 */
export function createBoxTree(boxes: readonly Box[]): BoxTree {
  const order = packedOrder(boxes);
  const sizes = [boxes.length];
  while (sizes.at(-1)! > 1) sizes.push(Math.ceil(sizes.at(-1)! / NODE_SIZE));
  // Four edges of each box, then of each node of sixteen, and so on up to the root.
  const edges = new Float64Array(4 * sizes.reduce((sum, size) => sum + size, 0));
  for (const [index, place] of order.entries()) {
    const { minLng, minLat, maxLng, maxLat } = boxes[place]!;
    edges.set([minLng, minLat, maxLng, maxLat], 4 * index);
  }
  const starts = [0];
  for (let floor = 1; floor < sizes.length; floor++) {
    starts.push(starts[floor - 1]! + sizes[floor - 1]!);
    for (let node = 0; node < sizes[floor]!; node++) {
      const first = starts[floor - 1]! + node * NODE_SIZE;
      const last = Math.min(first + NODE_SIZE, starts[floor]!);
      edges.set(edgesAround(edges, first, last), 4 * (starts[floor]! + node));
    }
  }

  /** Whether each of the boxes from `first` to before `last` touches a box is asked here and not in a call of its own. */
  function collect(floor: number, first: number, last: number, box: Box, found: number[]): void {
    const { minLng, minLat, maxLng, maxLat } = box;
    const start = starts[floor]!;
    for (let node = first; node < last; node++) {
      const at = 4 * (start + node);
      if (edges[at]! > maxLng || edges[at + 2]! < minLng || edges[at + 1]! > maxLat || edges[at + 3]! < minLat)
        continue;
      if (floor === 0) found.push(order[node]!);
      else {
        const child = node * NODE_SIZE;
        collect(floor - 1, child, Math.min(child + NODE_SIZE, sizes[floor - 1]!), box, found);
      }
    }
  }

  return (box) => {
    const found: number[] = [];
    if (boxes.length > 0) collect(sizes.length - 1, 0, 1, box, found);
    return found;
  };
}

/** The places of the boxes, so that neighbours in the list are neighbours on the map: as many columns as rows of nodes. */
function packedOrder(boxes: readonly Box[]): Uint32Array {
  const lngOf = (place: number) => boxes[place]!.minLng + boxes[place]!.maxLng;
  const latOf = (place: number) => boxes[place]!.minLat + boxes[place]!.maxLat;
  const order = Uint32Array.from(boxes.keys()).sort((a, b) => lngOf(a) - lngOf(b) || a - b);
  const columns = Math.ceil(Math.sqrt(Math.ceil(boxes.length / NODE_SIZE)));
  const length = NODE_SIZE * Math.ceil(boxes.length / NODE_SIZE / Math.max(1, columns));
  for (let start = 0; start < order.length; start += length) {
    order.subarray(start, start + length).sort((a, b) => latOf(a) - latOf(b) || a - b);
  }
  return order;
}

function edgesAround(edges: Float64Array, first: number, last: number): [number, number, number, number] {
  const around: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = first; index < last; index++) {
    around[0] = Math.min(around[0], edges[4 * index]!);
    around[1] = Math.min(around[1], edges[4 * index + 1]!);
    around[2] = Math.max(around[2], edges[4 * index + 2]!);
    around[3] = Math.max(around[3], edges[4 * index + 3]!);
  }
  return around;
}
