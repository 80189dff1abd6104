const LONGEST_NAME = 255;
const SUFFIX = " copy";

/** The name of a copy of an object, whose name has at most 255 characters. */
export const copyName = (name: string): string =>
  name.slice(0, LONGEST_NAME - SUFFIX.length).toWellFormed() + SUFFIX;
