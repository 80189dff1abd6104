/**
 * Writes the Handlebars of SendGrid's dynamic templates in Liquid. In order: the source is cut into
 * placeholders and the text between them; each placeholder is written anew, with the blocks around it
 * on a stack, because a name in `each` is a member of the item there; what has no equal here is the fault
 * of the template, so that nothing is sent that would be wrong or empty.
 */

export type Converted = { liquid: string; fault: null } | { liquid: null; fault: string };

/** A placeholder, which contains no braces. */
const PLACEHOLDER = /\{\{\{[^{}]{1,500}\}\}\}|\{\{[^{}]{1,500}\}\}/g;
/** Words, texts in quotes, and what belongs to calls in parentheses. */
const ARGUMENT = /"[^"]{0,300}"|'[^']{0,300}'|[^\s"'()]+|[()]/g;
const PATH = /^(?:@root\.|(?:\.\.\/)*)(?:this(?:[./]|$))?[A-Za-z_]?[\w-]*(?:\.[\w-]+)*$/;

const COMPARISONS: ReadonlyMap<string, string> = new Map(
  Object.entries({ equals: "==", notEquals: "!=", greaterThan: ">", lessThan: "<" }),
);
/** The placeholders that SendGrid fills, with the variables that Mailstead sets. */
const OWN_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    unsubscribe: "unsubscribeUrl",
    unsubscribe_preferences: "manageUrl",
    asm_group_unsubscribe_raw_url: "unsubscribeUrl",
    asm_preferences_raw_url: "manageUrl",
  }),
);
const UNKNOWN_NAMES = new Set(["weblink"]);

type Block = {
  helper: string;
  end: string;
  /** The name of the item in `each`; null in other blocks. */
  item: string | null;
};

/** Each placeholder is read with the blocks around it. */
const MAX_DEPTH = 50;

/** Ends the conversion. */
class Unsupported extends Error {}

export function convertHandlebars(source: string): Converted {
  const text = withoutComments(source).replaceAll(
    /<%\s{0,9}(asm_(?:group_unsubscribe|preferences)_raw_url)\s{0,9}%>/g,
    (_, name: string) => `{{${name}}}`,
  );
  const blocks: Block[] = [];
  let at = 0;
  try {
    const liquid = text.replaceAll(PLACEHOLDER, (placeholder: string, offset: number) => {
      at = offset;
      return placeholder.startsWith("{{!") ? "" : convertPlaceholder(placeholder, blocks);
    });
    at = text.indexOf("{%");
    if (at !== -1) throw new Unsupported("{% is text there, and begins a tag here");
    at = text.length;
    const [open] = blocks;
    if (open !== undefined) throw new Unsupported(`{{#${open.helper}}} has no end`);
    return { liquid, fault: null };
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    const line = text.slice(0, at).split("\n").length;
    return { liquid: null, fault: `line ${line}: ${error.message}` };
  }
}

/** Removes comments that may contain placeholders; their lines stay. */
function withoutComments(source: string): string {
  const [before = "", ...parts] = source.split("{{!--");
  const rest = parts.map((part) => {
    const end = part.indexOf("--}}");
    if (end === -1) return `{{!--${part}`;
    return "\n".repeat(part.slice(0, end).split("\n").length - 1) + part.slice(end + 4);
  });
  return before + rest.join("");
}

function convertPlaceholder(placeholder: string, blocks: Block[]): string {
  const isRaw = placeholder.startsWith("{{{");
  const braces = isRaw ? 3 : 2;
  const content = placeholder.slice(braces, -braces).replace(/^~/, "").replace(/~$/, "").trim();
  const [first = "", ...rest] = content.match(ARGUMENT) ?? [];
  if (first.startsWith("#")) return openBlock([first.slice(1), ...rest], blocks);
  if (first.startsWith("/")) return closeBlock(first.slice(1), blocks);
  if (first === "else") return elseBranch(rest, blocks);
  if (first === "insert") return insertion(rest, blocks);
  if (rest.length > 0) throw new Unsupported(`the helper ${first} has no equal here`);
  const own = OWN_NAMES.get(first);
  if (own !== undefined) return `{{ ${own} }}`;
  return `{{ ${variable(first, blocks)}${isRaw ? " | raw" : ""} }}`;
}

function openBlock([helper = "", ...operands]: string[], blocks: Block[]): string {
  if (blocks.length === MAX_DEPTH) throw new Unsupported(`more than ${MAX_DEPTH} nested blocks`);
  if (helper === "each") {
    const [list = "", ...others] = operands;
    if (others.length > 0) throw new Unsupported("a name for the items of each has no equal here");
    const depth = blocks.filter(({ item }) => item !== null).length;
    const item = depth === 0 ? "item" : `item${depth + 1}`;
    const source = variable(list, blocks);
    blocks.push({ helper, end: "endfor", item });
    return `{% for ${item} in ${source} %}`;
  }
  const tag = helper === "unless" ? "unless" : "if";
  const condition = conditionOf(helper === "unless" ? "if" : helper, operands, blocks);
  blocks.push({ helper, end: `end${tag}`, item: null });
  return `{% ${tag} ${condition} %}`;
}

function closeBlock(helper: string, blocks: Block[]): string {
  const open = blocks.pop();
  if (open?.helper !== helper) throw new Unsupported(`{{/${helper}}} closes another block`);
  return `{% ${open.end} %}`;
}

function elseBranch([helper, ...operands]: string[], blocks: Block[]): string {
  const open = blocks.at(-1);
  if (open === undefined) throw new Unsupported("{{else}} is in no block");
  // Without items there is no item, so names there are those around the block.
  open.item = null;
  if (helper === undefined) return "{% else %}";
  if (open.end !== "endif") throw new Unsupported(`{{else ${helper}}} is in {{#${open.helper}}}`);
  return `{% elsif ${conditionOf(helper, operands, blocks)} %}`;
}

function conditionOf(
  helper: string,
  operands: readonly string[],
  blocks: readonly Block[],
): string {
  if (operands.includes("(")) throw new Unsupported("a call in parentheses has no equal here");
  const values = operands.map((operand) => valueOf(operand, blocks));
  const [a, b, ...others] = values;
  const operator = COMPARISONS.get(helper);
  if (operator !== undefined && a !== undefined && b !== undefined && others.length === 0) {
    return `${a} ${operator} ${b}`;
  }
  if (helper === "if" && a !== undefined && b === undefined) return isFilled(a);
  if (helper === "and" && b !== undefined) return values.map(isFilled).join(" and ");
  throw new Unsupported(`{{#${[helper, ...operands].join(" ")}}} has no equal here`);
}

/** An empty text, an empty list and 0 are false in Handlebars, and true in Liquid. */
export const isFilled = (value: string): string =>
  `${value} and ${value} != empty and ${value} != 0`;

/** `{{insert name "default=Customer"}}`. */
function insertion([name = "", given, ...others]: string[], blocks: readonly Block[]): string {
  const value = variable(name, blocks);
  if (given === undefined) return `{{ ${value} }}`;
  const [, fallback] = /^["']default=([^"']*)["']$/.exec(given) ?? [];
  if (fallback === undefined || others.length > 0) {
    throw new Unsupported("insert has other values than a name and a default");
  }
  return `{{ ${value} ?? '${fallback}' }}`;
}

function valueOf(operand: string, blocks: readonly Block[]): string {
  const isLiteral = /^(?:"[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|true|false)$/.test(operand);
  return isLiteral ? operand : variable(operand, blocks);
}

/** A path in the object of the innermost `each`, or of one around it. */
function variable(path: string, blocks: readonly Block[]): string {
  const items = blocks.flatMap(({ item }) => (item === null ? [] : [item]));
  const own = /^@(index|first|last)$/.exec(path)?.[1];
  if (own !== undefined && items.length > 0) return `forloop.${own === "index" ? "index0" : own}`;
  if (!PATH.test(path) || path === "" || UNKNOWN_NAMES.has(path)) {
    throw new Unsupported(`${path === "" ? "an empty placeholder" : path} has no equal here`);
  }
  if (path.startsWith("@root.")) return outer(path.slice("@root.".length), items);
  const ups = path.split("../").length - 1;
  if (ups > items.length) throw new Unsupported(`${path} leads out of the data`);
  const item = items.at(items.length - ups - 1);
  const isInItem = items.length - ups > 0 && item !== undefined;
  const name = path.replaceAll("../", "").replace(/^this(?:[./]|$)/, "");
  if (name === "" && !isInItem) throw new Unsupported(`${path} has no equal here`);
  if (!isInItem) return outer(name, items);
  return name === "" ? item : `${item}.${name}`;
}

/** A name of the data that is not hidden by the item of a block. */
function outer(name: string, items: readonly string[]): string {
  const [first = ""] = name.split(".");
  if (items.includes(first)) throw new Unsupported(`${name} has the name of an item of each here`);
  return name;
}
