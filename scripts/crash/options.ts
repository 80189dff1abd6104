/** Reads the command line of a script: `--NAME VALUE` for each default, and `--binary[=PATH]`. */

import { join } from "node:path";
import { ROOT } from "../bench/children.ts";

/** `binary` is the path of the executable; null runs the sources. */
export type WithBinary<T> = T & { binary: string | null };

/**
 * Returns the options of the command line. An option whose default is a number must be a whole number.
 * On a mistake, prints the mistake and the usage, and exits with code 2.
 */
export function crashOptions<T extends Record<string, number | string>>(
  script: string,
  defaults: T,
  words: readonly string[] = Bun.argv.slice(2),
): WithBinary<T> {
  const options: WithBinary<T> = { ...defaults, binary: null };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [flag = "", value] = word.split("=", 2);
    const name = flag.slice("--".length);
    if (flag === "--binary") options.binary = value ?? join(ROOT, "dist", "mailstead");
    else if (flag.startsWith("--") && Object.hasOwn(defaults, name)) {
      Object.assign(options, { [name]: read(flag, defaults[name], value ?? rest.shift()) });
    } else exitWithUsage(`unknown argument: ${word}`);
  }
  return options;

  function read(flag: string, fallback: number | string | undefined, text: string | undefined) {
    if (text === undefined) return exitWithUsage(`${flag} needs a value`);
    if (typeof fallback === "string") return text;
    return /^\d{1,9}$/.test(text) ? Number(text) : exitWithUsage(`${flag} must be a whole number`);
  }

  function exitWithUsage(message: string): never {
    const flags = Object.entries(defaults).map(([name, value]) => `[--${name} ${value}]`);
    console.error(`${message}\nusage: bun scripts/${script} ${flags.join(" ")} [--binary[=PATH]]`);
    process.exit(2);
  }
}

/** Returns the value if it is one of `values`; throws otherwise. */
export function choiceOf<T extends string>(name: string, text: string, values: readonly T[]): T {
  const value = values.find((each) => each === text);
  if (value === undefined) throw new Error(`--${name} must be ${values.join(" or ")}`);
  return value;
}
