/**
 * Finds what a style sheet uses: properties, values, selectors and at-rules. It does not build a
 * tree, so a broken style sheet is read as far as it goes. Each pass is linear.
 */

export type CssUse = {
  /** Number of uses of each property. */
  properties: Map<string, number>;
  /** `property:value` of all declarations, in small letters. */
  declarations: string[];
  selectors: string[];
  /** The texts between @ and { or ;. */
  atRules: string[];
  hasComments: boolean;
};

export function emptyCss(): CssUse {
  const properties = new Map<string, number>();
  return { properties, declarations: [], selectors: [], atRules: [], hasComments: false };
}

/** Adds the declarations of a style attribute. */
export function addDeclarations(use: CssUse, text: string): void {
  for (const declaration of text.toLowerCase().split(";")) {
    const colon = declaration.indexOf(":");
    const property = declaration.slice(0, Math.max(colon, 0)).trim();
    if (!/^-{0,2}[a-z][\w-]{0,100}$/.test(property)) continue;
    use.properties.set(property, (use.properties.get(property) ?? 0) + 1);
    use.declarations.push(`${property}:${declaration.slice(colon + 1).trim()}`);
  }
}

/** Adds the rules of a style sheet. */
export function addStyleSheet(use: CssUse, sheet: string): void {
  const text = withoutComments(use, sheet);
  let start = 0;
  /** The first character of the piece that is not a blank. */
  let first = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "{" || character === "}" || (character === ";" && first === "@")) {
      addPiece(use, text.slice(start, at).trim(), character);
      start = at + 1;
      first = "";
    } else if (first === "" && !/\s/.test(character)) first = character;
  }
}

/** `end` is the character after the piece: { after a selector or at-rule, } after declarations. */
function addPiece(use: CssUse, piece: string, end: string): void {
  if (piece === "") return;
  if (piece.startsWith("@")) use.atRules.push(piece.slice(1).toLowerCase());
  else if (end === "}") addDeclarations(use, piece);
  else {
    // Declarations may stand before a nested rule.
    const last = piece.lastIndexOf(";");
    if (last !== -1) addDeclarations(use, piece.slice(0, last));
    use.selectors.push(
      piece
        .slice(last + 1)
        .trim()
        .toLowerCase(),
    );
  }
}

function withoutComments(use: CssUse, sheet: string): string {
  const pieces: string[] = [];
  let start = 0;
  for (;;) {
    const open = sheet.indexOf("/*", start);
    if (open === -1) break;
    use.hasComments = true;
    pieces.push(sheet.slice(start, open));
    const close = sheet.indexOf("*/", open + 2);
    if (close === -1) return pieces.join(" ");
    start = close + 2;
  }
  pieces.push(sheet.slice(start));
  return pieces.join(" ");
}
