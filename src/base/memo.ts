/** Makes a function that remembers its results. @param most how many at a time: beyond it the oldest is forgotten */
export function memo<Argument, Result>(
  make: (argument: Argument) => Result,
  most = Number.POSITIVE_INFINITY,
): (argument: Argument) => Result {
  const made = new Map<Argument, Result>();
  return (argument) => {
    let result = made.get(argument);
    if (result === undefined) {
      result = make(argument);
      if (made.size === most) made.delete(made.keys().next().value as Argument);
      made.set(argument, result);
    }
    return result;
  };
}
