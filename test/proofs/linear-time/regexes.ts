/**
 * Checks every regular expression of the program with texts made from the expression itself (see
 * regex-samples.ts). An expression is checked even if its input is always short, because later code
 * may use it for other texts.
 */

import { join } from "node:path";
import { type Aim, presenceAim } from "../../../scripts/bench/report.ts";
import type { Form } from "../prove.ts";
import { findRepeatedGrowth } from "./linear.ts";
import { constructedPatterns, regexLiterals } from "./regex-literals.ts";
import { pumpsOf } from "./regex-samples.ts";

const ROOT = join(import.meta.dir, "../../..");
const SOURCE = join(ROOT, "src");
/** Length of the texts. A quadratic expression takes several milliseconds for this length. */
const TEXT_CHARACTERS = 10_000;
/** Most texts for each expression, and the ends that each of them has. */
const MAX_TEXTS = { short: { texts: 30, ends: 3 }, long: { texts: 90, ends: 5 } };
/** This file is not imported, because it runs a command. It constructs no expression. */
const NOT_IMPORTED = "src/main.ts";

/** Files that construct expressions later, each with its reason. */
const CONSTRUCTED_LATER: Readonly<Record<string, string>> = {
  "src/config/kinds.ts": "An operator gives the expression for recipients; nobody else chooses it.",
  "src/db/queries.ts": "The statements of readers name expressions that stand in other files.",
};

type Expression = { location: string; source: string; flags: string };

async function expressionsIn(file: string): Promise<Expression[]> {
  const code = await Bun.file(join(ROOT, file)).text();
  const literals = regexLiterals(code).map((literal) => ({
    ...literal,
    location: `${file}:${literal.line}`,
  }));
  if (!/\bnew RegExp\(/.test(code)) return literals;
  if (file === NOT_IMPORTED) throw new Error(`${file} constructs an expression`);
  const constructed = await constructedPatterns(
    SOURCE,
    () => import(`${join(ROOT, file)}?regexes`),
  );
  if (constructed.length === 0 && CONSTRUCTED_LATER[file] === undefined)
    throw new Error(`${file} constructs no expression when it is loaded`);
  return [
    ...literals,
    ...constructed.map(({ source, flags }) => ({ location: file, source, flags })),
  ];
}

/** Describes the first text for which the expression takes more than linear time. */
export async function findSlowText(
  { source, flags }: Pick<Expression, "source" | "flags">,
  form: Form,
): Promise<string | null> {
  const pattern = new RegExp(source, flags.replace("y", ""));
  const run = (text: string) => (pattern.global ? text.replace(pattern, "") : pattern.exec(text));
  for (const pump of pumpsOf(source, MAX_TEXTS[form])) {
    const growth = await findRepeatedGrowth(run, pump, { maxCharacters: TEXT_CHARACTERS, form });
    if (growth !== null) return growth;
  }
  return null;
}

/** Returns an aim for each expression that takes more than linear time, and one for their number. */
export async function regexAims(form: Form): Promise<Aim[]> {
  const aims: Aim[] = [];
  let count = 0;
  for (const file of [...new Bun.Glob("src/**/*.ts").scanSync(ROOT)].toSorted()) {
    for (const expression of await expressionsIn(file)) {
      count++;
      const slow = await findSlowText(expression, form);
      if (slow === null) continue;
      const name = `${expression.location} /${expression.source}/${expression.flags}`;
      aims.push({ name, isMet: false, measured: slow, wanted: "linear time" });
    }
  }
  return [...aims, presenceAim("expressions", count, 250)];
}
