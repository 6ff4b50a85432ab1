/** Makes a function that remembers its results, for few different arguments. */
export function memo<Argument, Result>(make: (argument: Argument) => Result): (argument: Argument) => Result {
  const made = new Map<Argument, Result>();
  return (argument) => {
    let result = made.get(argument);
    if (result === undefined) {
      result = make(argument);
      made.set(argument, result);
    }
    return result;
  };
}
