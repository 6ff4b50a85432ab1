/** Arrays that one writer uses again for each column: making them anew kept twice the memory of all else. What is taken is
 * valid until the same array is taken again, and holds what the last use left in it. */
export interface ReusableArrays {
  ids(length: number): Uint32Array;
  places(length: number): Uint32Array;
  levels(length: number): Uint32Array;
  slots(length: number): Uint32Array;
  numbers(length: number): Float64Array;
  distinct(length: number): Float64Array;
}

/** Makes the arrays of one writer; they grow with its largest row group. */
export function reusableArrays(): ReusableArrays {
  return {
    ids: growing((length) => new Uint32Array(length)),
    places: growing((length) => new Uint32Array(length)),
    levels: growing((length) => new Uint32Array(length)),
    slots: growing((length) => new Uint32Array(length)),
    numbers: growing((length) => new Float64Array(length)),
    distinct: growing((length) => new Float64Array(length)),
  };
}

function growing<T extends Uint32Array | Float64Array>(make: (length: number) => T): (length: number) => T {
  let array = make(0);
  return (length) => {
    if (array.length < length) array = make(length);
    return array.subarray(0, length) as T;
  };
}
