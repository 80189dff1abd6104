/** The variables that a template outputs or tests, for people who want to know what it needs. */

import { TypeGuards } from "liquidjs";
import { liquidEngine, readTokens } from "./engine.ts";
import { readPlaceholder } from "./placeholder.ts";
import { compileTemplate } from "./template.ts";

/**
 * `isRequired`: one of its outputs has no other value, so that it renders as nothing without one.
 * `isProvided`: the service gives it a value (variables.ts).
 */
export type Placeholder = { name: string; isRequired: boolean; isProvided: boolean };

const MAX_PLACEHOLDERS = 200;
const ENGINE = liquidEngine("html");
const PROVIDED = new Set(
  "id email plunk_id plunk_email unsubscribeUrl subscribeUrl manageUrl project forloop".split(" "),
);
/** Words of Liquid that are no variables. */
const KEYWORDS = new Set(
  "true false nil null empty blank and or not contains in by reversed limit offset".split(" "),
);
/** Tags whose arguments are expressions. */
const READING = new Set("if elsif unless case when for tablerow assign echo cycle".split(" "));
/** Tags whose first argument is a new variable. */
const DEFINING = new Set(["for", "tablerow", "assign", "capture"]);
const STRINGS = /"[^"]*"|'[^']*'/g;
const VARIABLES = /[a-z_][\w-]{0,254}(?:\.[a-z_][\w-]{0,254}|\[\d{1,9}\]){0,20}/gi;
const IS_LITERAL = /^(?:["']|-?\d{1,20}(?:\.\d{0,20})?$)/;
const IS_EXPRESSION = /[=<>[(]|\s(?:and|or|contains)\s/;

/** The variables of several sources, each once, in their order. A source with errors has none. */
export function placeholdersOf(sources: readonly string[]): Placeholder[] {
  const variables = createVariables();
  for (const source of sources) {
    if (!compileTemplate(source, "html").ok) continue;
    let isComment = false;
    for (const token of readTokens(ENGINE, source)) {
      const isTag = TypeGuards.isTagToken(token);
      if (isTag && /^(?:end)?comment$/.test(token.name)) isComment = token.name === "comment";
      if (isComment) continue;
      const placeholder = readPlaceholder(token);
      if (placeholder !== null) variables.noteOutput(placeholder);
      else if (isTag) variables.noteTag(token.name, token.args);
    }
  }
  return variables.list();
}

function createVariables() {
  const found = new Map<string, Placeholder>();
  /** Variables that a tag has defined. */
  const locals = new Set<string>();

  function note(name: string, isRequired: boolean): void {
    const [head = ""] = name.split(/[.[]/, 1);
    if (name === "" || KEYWORDS.has(name) || locals.has(head)) return;
    const known = found.get(name);
    if (known !== undefined) known.isRequired ||= isRequired;
    else if (found.size < MAX_PLACEHOLDERS) {
      found.set(name, { name, isRequired, isProvided: PROVIDED.has(head) });
    }
  }

  function noteExpression(text: string, isRequired: boolean): void {
    const [value = ""] = text.replace(STRINGS, " ").split("|", 1);
    for (const [name] of value.matchAll(VARIABLES)) note(name, isRequired);
  }

  return {
    noteOutput({ values, hasFallback }: { values: string[]; hasFallback: boolean }): void {
      for (const text of values) {
        if (IS_LITERAL.test(text)) continue;
        if (IS_EXPRESSION.test(text)) noteExpression(text, !hasFallback);
        else note(text, !hasFallback);
      }
    },

    /** Notes the variables that a tag reads, and those that it defines. */
    noteTag(name: string, args: string): void {
      const text = args.trim();
      const [defined = ""] = DEFINING.has(name) ? text.split(/[\s=]/, 1) : [];
      if (READING.has(name)) noteExpression(text.slice(defined.length), name === "echo");
      if (defined !== "") locals.add(defined);
    },

    list: (): Placeholder[] => [...found.values()],
  };
}
