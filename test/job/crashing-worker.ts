/** Stands in for the worker of a look-up and dies without a word. */
process.exit(7);
