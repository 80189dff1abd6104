/**
 * Finds in the source text of the dashboard which operations of the interface it calls.
 *
 * 1. A path is a string or template that begins with `/`, or with a constant or function that stands
 *    for such a path, in the same file or imported: `${campaignPath(id)}/test`.
 * 2. `api.post(PATH` and its like call the path with their method, also where PATH is such a name.
 *    `useDeletion({ path: PATH` deletes, `recordRequests({ path: PATH` saves the changes of an editor,
 *    and `<ContactPreview path={PATH}` posts the contact to the preview. Another path in the folder of its noun, or in ui/, is read: it is given to a list, an
 *    export, a frame or a link.
 * 3. A variable segment stands for a parameter, or for a word that the file has as a string:
 *    `${path}/${action}` calls `/campaigns/{id}/pause` in a file with `"pause"`.
 */

import { dirname, join, normalize } from "node:path";

/** A path with its variable segments as `*`. */
type Pattern = string;

export type Call = {
  method: string;
  /** The path with its variable segments as `*`. */
  pattern: Pattern;
  file: string;
  /** The strings of the file, one of which a variable segment may be. */
  words: ReadonlySet<string>;
};

export type Operation = { id: string; method: string; path: string };

/** Files that name paths without being the place of an operation. */
const NO_PLACES =
  /^(?:router|user-routes|entry-routes|navigation|page-actions|palette[\w-]*)\.tsx?$/;

/** The folders of nouns whose pages are not in the folder with the name of the first segment. */
const FOLDERS: Readonly<Record<string, string>> = {
  audit: "pages/settings",
  erasures: "pages/settings",
  images: "pages/templates",
  "inbound-routes": "pages/received",
  inboxes: "pages/inbox",
  layouts: "pages/templates",
  "preference-page": "pages/settings",
  projects: "pages/settings",
  "received-mails": "pages/received",
  "report-mailboxes": "pages/relay-reports",
  "report-sources": "pages/relay-reports",
  stats: "pages/overview",
  views: "ui/views",
};

const METHODS: Readonly<Record<string, string>> = {
  get: "GET",
  file: "GET",
  post: "POST",
  upload: "POST",
  put: "PUT",
  patch: "PATCH",
  delete: "DELETE",
};

const LITERAL = /"([^"\\\n]*)"|`((?:[^`$\\]|\\.|\$(?!\{)|\$\{[^{}`]*\})*)`/;
const DEFINITION = new RegExp(
  String.raw`const (\w+) =\s*(?:\([^()]*\)(?:: string)? =>\s*)?(?:${LITERAL.source})`,
  "g",
);
const IMPORT = /import (?:type )?\{([^}]*)\} from "(\.[^"]+)"/g;
/** A call with its type arguments, up to the path. */
const CALL = String.raw`\bapi\s*\.\s*(\w+)(?:<[^()]*?>)?\(\s*`;
const DIRECT_CALL = new RegExp(`${CALL}(?:${LITERAL.source}|(\\w+)\\b)`, "g");
const DELETION = new RegExp(
  String.raw`useDeletion\(\{\s*path(?::\s*(?:${LITERAL.source}|(\w+)))?`,
  "g",
);
const RECORD = new RegExp(
  String.raw`\brecordRequests<[^()]*?>\(\{[^{}]*?\bpath:\s*(?:${LITERAL.source}|(\w+))`,
  "g",
);

const PREVIEW = new RegExp(String.raw`<ContactPreview[^>]*?\spath=\{(?:${LITERAL.source})\}`, "g");

/** The calls of files, each with its path below src/dashboard and its text. */
export function findCalls(sources: ReadonlyMap<string, string>): Call[] {
  const texts = new Map([...sources].map(([file, text]) => [file, withoutComments(text)]));
  return [...texts]
    .filter(([file]) => !NO_PLACES.test(file))
    .flatMap(([file, text]) => callsOfFile(file, text, new Names(texts)));
}

/** True if the dashboard calls the operation. */
export const isCalled = ({ method, path }: Operation, calls: readonly Call[]): boolean =>
  calls.some((call) => call.method === method && isMatch(path, call));

function isMatch(path: string, { pattern, words }: Call): boolean {
  const called = pattern.split("/");
  const segments = path.split("/");
  return (
    called.length === segments.length &&
    segments.every((segment, i) => {
      if (segment.startsWith("{")) return called[i] === "*";
      return called[i] === segment || (called[i] === "*" && words.has(segment));
    })
  );
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(?:^|\s)\/\/.*$/gm, "");

function callsOfFile(file: string, text: string, names: Names): Call[] {
  const words = new Set([...text.matchAll(/"([\w-]+)"/g)].map(([, word = ""]) => word));
  const calls: Call[] = [];
  const add = (method: string, patterns: readonly Pattern[]) => {
    for (const pattern of patterns) calls.push({ method, pattern, file, words });
  };
  for (const [, name = "", quoted, template, reference] of text.matchAll(DIRECT_CALL)) {
    add(METHODS[name] ?? "", names.patterns(file, { literal: quoted ?? template, reference }));
  }
  for (const [, quoted, template, reference = "path"] of text.matchAll(DELETION)) {
    add("DELETE", names.patterns(file, { literal: quoted ?? template, reference }));
  }
  for (const [, quoted, template, reference] of text.matchAll(RECORD)) {
    const patterns = names.patterns(file, { literal: quoted ?? template, reference });
    add("GET", patterns);
    add("PATCH", patterns);
  }
  for (const [, quoted, template] of text.matchAll(PREVIEW)) {
    add("POST", names.patterns(file, { literal: quoted ?? template }));
  }
  // After the calls are removed, the paths that remain are for lists, exports, frames and links.
  const rest = text.replace(DIRECT_CALL, "(").replace(DELETION, "(");
  for (const [, quoted, template] of rest.matchAll(new RegExp(LITERAL.source, "g"))) {
    const patterns = names.patterns(file, { literal: quoted ?? template });
    add(
      "GET",
      patterns.filter((pattern) => isPlaceOf(pattern, file)),
    );
  }
  return calls;
}

function isPlaceOf(pattern: Pattern, file: string): boolean {
  const [, noun = ""] = pattern.split("/");
  return file.startsWith("ui/") || file.startsWith(`${FOLDERS[noun] ?? `pages/${noun}`}/`);
}

type Path = { literal?: string | undefined; reference?: string | undefined };

/** The paths that names stand for, in the files in which they are defined or imported. */
class Names {
  readonly #texts: ReadonlyMap<string, string>;

  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
  }

  /** None where the path begins with something that is no known path, such as a parameter. */
  patterns(file: string, { literal, reference }: Path): Pattern[] {
    if (literal === undefined) return reference === undefined ? [] : this.#find(file, reference);
    if (literal.startsWith("/")) return [patternOf(literal)];
    const [whole, name = ""] = /^\$\{(\w+)(?:\([^{}]*\))?\}/.exec(literal) ?? [""];
    const rest = literal.slice(whole.length);
    if (whole === "" || !rest.startsWith("/")) return [];
    return this.#find(file, name).map((pattern) => pattern + patternOf(rest));
  }

  /** A name may have several paths in a file, one in each of its functions. */
  #find(file: string, name: string): Pattern[] {
    const text = this.#texts.get(file) ?? "";
    const own = [...text.matchAll(DEFINITION)].filter(([, defined]) => defined === name);
    const found = own.flatMap(([, , quoted, template]) => {
      const literal = quoted ?? template ?? "";
      return literal.startsWith(`\${${name}`) ? [] : this.patterns(file, { literal });
    });
    if (found.length > 0) return found;
    for (const [, list = "", from = ""] of text.matchAll(IMPORT)) {
      const original = list
        .split(",")
        .map((each) => each.trim().split(" as "))
        .find((parts) => parts.at(-1) === name)?.[0];
      const target = normalize(join(dirname(file), from));
      if (original !== undefined && target !== file) return this.#find(target, original);
    }
    // `const path = campaignPath(id)` is another name for a path.
    const alias = new RegExp(String.raw`const ${name} =\s*(\w+)\(`).exec(text)?.[1];
    return alias === undefined || alias === name ? [] : this.#find(file, alias);
  }
}

const patternOf = (literal: string): Pattern =>
  literal
    .replace(/\$\{[^{}]*\}/g, "*")
    .replace(/[?#].*$/, "")
    .replace(/[^/]*\*[^/]*/g, "*");
