/** Keys of the data in paths of the interface, where a dot separates and `\.` is a dot of a key. */

export const escapeKey = (key: string): string => key.replaceAll(/[\\.]/g, "\\$&");

export const unescapeKey = (key: string): string => key.replaceAll(/\\([\\.])/g, "$1");
