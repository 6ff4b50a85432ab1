/** Arrays that one writer uses for each column: to allocate them each time took twice the memory of everything else. An array is
 * valid until it is asked for again, and holds old values. */
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
