/** The colours of the code editor, as variables of tokens.css, so that they follow the scheme. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const highlight = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: "var(--seen)" },
  { tag: tags.attributeName, color: "var(--muted)" },
  { tag: [tags.attributeValue, tags.string], color: "var(--good)" },
  { tag: [tags.comment, tags.documentMeta], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: "var(--acted)" },
  { tag: [tags.variableName, tags.propertyName], color: "var(--on-accent-soft)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--held)" },
  { tag: [tags.processingInstruction, tags.brace], color: "var(--acted)" },
  { tag: tags.invalid, color: "inherit" },
]);

const theme = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--mantine-font-family-monospace)",
    fontSize: "12.5px",
    lineHeight: "1.6",
  },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--surface)",
    color: "var(--muted)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "color-mix(in srgb, var(--accent) 24%, transparent)" },
  "&.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--accent-soft)",
    outline: "1px solid var(--control-line)",
  },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--held-soft)" },
  ".cm-searchMatch-selected": { outline: "1px solid var(--held)" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "8px",
    overflow: "hidden",
    backgroundColor: "var(--surface)",
    boxShadow: "var(--shadow)",
    color: "var(--text)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--mantine-font-family-monospace)",
    fontSize: "12.5px",
    maxHeight: "260px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "4px 10px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--on-accent-soft)",
  },
  ".cm-completionDetail": {
    color: "inherit",
    fontFamily: "var(--mantine-font-family)",
    fontStyle: "normal",
    fontSize: "12px",
    marginLeft: "12px",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-diagnostic": { padding: "6px 10px", borderLeftWidth: "3px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--failed)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--failed)",
    textUnderlineOffset: "3px",
  },
  ".cm-panels": { backgroundColor: "var(--page)", color: "var(--text)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel input, .cm-panel button": {
    border: "1px solid var(--control-line)",
    borderRadius: "6px",
    background: "var(--surface)",
    color: "var(--text)",
    fontSize: "12px",
  },
});

export const codeStyle = [theme, syntaxHighlighting(highlight)];
