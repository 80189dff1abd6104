/** The parts of a setting: how its values are written, its names, its default and its help text. */

/** A parsed value, or a description of the values that are accepted. */
export type Parsed<T> = { value: T } | { accepted: string };

/** The syntax of values (kinds.ts). */
export type Kind<T> = {
  parse: (text: string) => Parsed<T>;
  /** The value as help shows it. */
  placeholder: string;
  /** Set if the flag without a value means true. */
  isBoolean?: true;
  /** Set if the flag may be repeated: its values are joined by commas. */
  isList?: true;
  /** The text of a flag, a variable or a file that counts as not given. */
  absent?: string;
  /** Set if there are only these values. */
  choices?: readonly string[];
};

export type Setting<T> = Kind<T> & {
  flag: string;
  /** Environment variable; with `_FILE` appended, it names a file that holds the value. */
  env: string;
  fallback: () => T;
  /** The default as help shows it. */
  shownDefault: string;
  help: string;
};

/** Defines a setting. `shownDefault` is needed if the text of the default does not explain it. */
export function setting<T>(
  flag: string,
  kind: Kind<T>,
  rest: { fallback: () => NoInfer<T>; shownDefault?: string; help: string },
): Setting<T> {
  const { fallback, shownDefault = String(fallback()), help } = rest;
  const env = `MAILSTEAD_${flag.replaceAll("-", "_").toUpperCase()}`;
  return { ...kind, flag, env, fallback, shownDefault, help };
}
