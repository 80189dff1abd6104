/** A letter of the visual editor with one empty line, and the body that the editor makes of it. */
export async function blankLetter() {
  const [{ readDesign, storeDesign }, { DEFAULT_THEME }, { writeHtml }] = await Promise.all([
    import("../../../ui/editors/visual/design.ts"),
    import("../../../ui/editors/visual/mail-theme.ts"),
    import("../../../ui/editors/visual/write-html.ts"),
  ]);
  const document = { type: "doc", content: [{ type: "paragraph" }] };
  const design = storeDesign(document, DEFAULT_THEME);
  const read = readDesign(design);
  if (!read.ok) throw new Error(read.problem);
  return { format: "VISUAL", design, body: writeHtml(read.design) } as const;
}
