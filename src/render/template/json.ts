/**
 * Outputs of JSON templates. Inside of a string of the template's own text an output is escaped, so
 * that no value can end the string; outside of strings it is written as a value of JSON: a number as a
 * number, and a text in quotes. The results of `json` and `raw` are not changed outside of strings.
 */

import { Drop, type Liquid, toValue } from "liquidjs";
import { BoundedEmitter, limitHandler, toText } from "./limits.ts";

/** Text that is JSON already. */
class JsonText extends Drop {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override valueOf(): string {
    return this.#text;
  }
}

/** A value that the emitter writes by its place. */
class JsonOutput extends Drop {
  readonly value: unknown;

  constructor(value: unknown) {
    super();
    this.value = value;
  }

  override valueOf(): string {
    return toText(this.value);
  }
}

export const toJsonOutput = (value: unknown): JsonOutput => new JsonOutput(value);

export function registerJsonFilters(engine: Liquid): void {
  const json = (value: unknown) => new JsonText(JSON.stringify(toValue(value) ?? null));
  for (const name of ["json", "jsonify"]) engine.registerFilter(name, limitHandler(json));
  engine.registerFilter(
    "raw",
    limitHandler((value: unknown) => new JsonText(toText(value))),
  );
}

/** Writes outputs by whether they are inside of a string. */
export class JsonEmitter extends BoundedEmitter {
  #isInString = false;
  #isEscaped = false;
  #writes = 0;
  #value: unknown;

  override write(value: unknown): void {
    this.#writes++;
    if (value instanceof JsonOutput) {
      this.#value = toValue(value.value);
      super.write(this.#isInString ? inString(value.value) : outsideOfString(value.value));
      return;
    }
    super.write(value);
    this.#scan(toText(value));
    this.#writes++;
  }

  /** The value of a template that is one output and nothing else; null for another template. */
  only(): { value: unknown } | null {
    return this.#writes === 1 ? { value: this.#value } : null;
  }

  #scan(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const char = text[i];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (char === '"') this.#isInString = !this.#isInString;
      else if (char === "\\" && this.#isInString) this.#isEscaped = true;
    }
  }
}

function inString(value: unknown): string {
  return JSON.stringify(toText(value)).slice(1, -1);
}

function outsideOfString(value: unknown): string {
  return value instanceof JsonText ? value.valueOf() : JSON.stringify(toValue(value) ?? null);
}
