/**
 * The blocks and text styles of the editor: those of the email editor's package that fit, and our own.
 * Their names and attributes are those that write-html.ts reads. Their look in the editor is in
 * visual.css; they load nothing from other servers.
 */

import {
  Button as PackageButton,
  Divider,
  Heading,
  StarterKit,
} from "@react-email/editor/extensions";
import { Extension, type Extensions, InputRule, Mark, Node } from "@tiptap/core";
import { gapCursor } from "@tiptap/pm/gapcursor";
import { describeCondition } from "./conditions.ts";
import { cleanImage, cleanLink } from "./links.ts";
import { chooseTextOn, readColor } from "./mail-theme.ts";
import { describeVariable, readVariable, writeVariable } from "./variables.ts";
import { readSocialLinks } from "./write-html.ts";

/** Marks HTML blocks that are copied in this page: others could bring a script into the letter. */
const OWN_KEY = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) =>
  part.toString(36),
).join("");

const textAt = (attributes: Record<string, unknown>, name: string): string => {
  const value = attributes[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
};

/** An attribute that is kept in `data-NAME` when it is copied. */
const stored = (name: string, fallback: string | number | null = "") => ({
  default: fallback,
  parseHTML: (element: HTMLElement) => element.getAttribute(`data-${name}`) ?? fallback,
  renderHTML: (attributes: Record<string, unknown>) => {
    const value = textAt(attributes, name);
    return value === "" ? {} : { [`data-${name}`]: value };
  },
});

const Document = Node.create({
  name: "doc",
  topNode: true,
  content: "block+",
  // An attribute of the document, so that a change of the theme can be undone.
  addAttributes: () => ({ theme: { default: null, rendered: false } }),
});

/** Text can be put above a box at the start of the letter. */
const GapCursor = Extension.create({
  name: "gapCursor",
  addProseMirrorPlugins: () => [gapCursor()],
});

const Alignment = Extension.create({
  name: "alignment",
  addGlobalAttributes: () => [
    {
      types: ["paragraph", "heading"],
      attributes: {
        alignment: {
          ...stored("alignment", null),
          parseHTML: (element) =>
            /^(?:center|right)$/.exec(element.getAttribute("data-alignment") ?? "")?.[0] ?? null,
        },
      },
    },
    {
      types: ["section"],
      attributes: {
        background: {
          ...stored("background", null),
          renderHTML: ({ background }) => {
            const color = readColor(background);
            return color === null ? {} : { "data-background": color, style: paintBox(color) };
          },
        },
      },
    },
  ],
});

const paintBox = (color: string): string =>
  `background-color:${color};color:${chooseTextOn(color)}`;

const Button = PackageButton.extend({
  addAttributes: () => ({
    href: { ...stored("href"), keepOnSplit: false },
    alignment: stored("alignment", "left"),
    background: stored("background", null),
  }),
  // The button is no link in the editor, so that a click puts the cursor into its text.
  parseHTML: () => [{ tag: 'a[data-id="react-email-button"]' }, { tag: 'div[data-type="button"]' }],
  renderHTML: ({ HTMLAttributes }) => {
    const color = readColor(HTMLAttributes["data-background"]);
    const style = color === null ? {} : { style: paintBox(color) };
    return [
      "div",
      { ...HTMLAttributes, "data-type": "button", class: "visual-button" },
      ["span", { class: "visual-button-face", ...style }, 0],
    ];
  },
});

const Link = Mark.create({
  name: "link",
  inclusive: false,
  addAttributes: () => ({ href: { default: "" } }),
  parseHTML: () => [
    {
      tag: 'a:not([data-id="react-email-button"])',
      getAttrs: (element) => {
        const href = element.getAttribute("data-href") ?? element.getAttribute("href") ?? "";
        const clean = cleanLink(href);
        return clean === null ? false : { href: clean };
      },
    },
  ],
  renderHTML: ({ HTMLAttributes }) => {
    const href = textAt(HTMLAttributes, "href");
    const clean = cleanLink(href);
    // An address with a variable leads nowhere in the editor.
    const target = clean === null || clean.includes("{{") ? {} : { href: clean, rel: "noopener" };
    return ["a", { ...target, "data-href": href, class: "visual-link", title: href }, 0];
  },
});

const TextColor = Mark.create({
  name: "textColor",
  addAttributes: () => ({ color: stored("color") }),
  parseHTML: () => [
    {
      tag: "span[data-color]",
      getAttrs: (element) =>
        readColor(element.getAttribute("data-color")) === null ? false : null,
    },
  ],
  renderHTML: ({ HTMLAttributes }) => {
    const color = readColor(HTMLAttributes["data-color"]);
    return [
      "span",
      { ...HTMLAttributes, ...(color === null ? {} : { style: `color:${color}` }) },
      0,
    ];
  },
});

const Variable = Node.create({
  name: "variable",
  group: "inline",
  inline: true,
  atom: true,
  addAttributes: () => ({ name: stored("name"), fallback: stored("fallback") }),
  parseHTML: () => [{ tag: 'span[data-type="variable"]' }],
  renderHTML: ({ node, HTMLAttributes }) => [
    "span",
    { ...HTMLAttributes, "data-type": "variable", class: "visual-chip" },
    describeVariable({
      name: textAt(node.attrs, "name"),
      fallback: textAt(node.attrs, "fallback"),
    }),
  ],
  renderText: ({ node }) =>
    writeVariable({ name: textAt(node.attrs, "name"), fallback: textAt(node.attrs, "fallback") }),
  addInputRules() {
    return [
      new InputRule({
        find: /\{\{[^{}]{1,600}\}\}$/,
        handler: ({ state, range, match }) => {
          const variable = readVariable(match[0]);
          if (variable === null) return null;
          state.tr.replaceWith(range.from, range.to, this.type.create(variable));
        },
      }),
    ];
  },
});

const UPLOADED = /^\/i\/[0-9a-f]{64}\.[a-z]{3,5}$/;

/** The address that the editor may load an image from; null for images of other servers. */
export function findShownSource(source: string): string | null {
  const clean = cleanImage(source);
  if (clean === null || clean.includes("{{")) return null;
  const url = URL.parse(clean, location.href);
  if (url === null) return null;
  if (url.origin === location.origin) return url.href;
  // The address in mails may have another host name than the dashboard.
  return UPLOADED.test(url.pathname) ? url.pathname : null;
}

const Image = Node.create({
  name: "image",
  group: "block",
  atom: true,
  draggable: true,
  addAttributes: () => ({
    src: {
      default: "",
      parseHTML: (element) =>
        element.getAttribute("data-remote") ?? element.getAttribute("src") ?? "",
    },
    alt: { default: "", parseHTML: (element) => readOwn(element, "alt") },
    width: { default: null, parseHTML: (element) => readPixels(readOwn(element, "width")) },
    height: { default: null, parseHTML: () => null },
    href: stored("href"),
    alignment: stored("alignment", "left"),
    isDecorative: { default: false, parseHTML: () => false },
  }),
  parseHTML: () => [{ tag: "img[src]" }, { tag: 'div[data-type="image"]' }],
  renderHTML: ({ node }) => {
    const [source, alt] = [textAt(node.attrs, "src"), textAt(node.attrs, "alt")];
    const width = textAt(node.attrs, "width");
    const shown = findShownSource(source);
    const picture =
      shown === null
        ? [
            "span",
            { class: "visual-remote" },
            `Image of another server: ${alt === "" ? source : alt}`,
          ]
        : ["img", { src: shown, alt, ...(width === "" ? {} : { width }), draggable: "false" }];
    const isSilent = alt === "" && node.attrs["isDecorative"] !== true;
    return [
      "div",
      {
        "data-type": "image",
        "data-alignment": textAt(node.attrs, "alignment"),
        "data-remote": source,
        "data-href": textAt(node.attrs, "href"),
        "data-alt": alt,
        "data-width": width,
        class: "visual-image",
      },
      picture,
      ...(isSilent ? [["span", { class: "visual-hint" }, "No alternative text"]] : []),
    ];
  },
});

const readOwn = (element: HTMLElement, name: string): string =>
  element.getAttribute(`data-${name}`) ?? element.getAttribute(name) ?? "";

function readPixels(text: string): number | null {
  const value = Number.parseInt(text, 10);
  return Number.isFinite(value) && value > 0 && value <= 2_000 ? value : null;
}

const Spacer = Node.create({
  name: "spacer",
  group: "block",
  atom: true,
  addAttributes: () => ({ height: stored("height", 24) }),
  parseHTML: () => [{ tag: 'div[data-type="spacer"]' }],
  renderHTML: ({ node, HTMLAttributes }) => {
    const height = Math.min(
      400,
      Math.max(1, Number.parseInt(textAt(node.attrs, "height"), 10) || 24),
    );
    return [
      "div",
      {
        ...HTMLAttributes,
        "data-type": "spacer",
        class: "visual-spacer",
        style: `height:${height}px`,
      },
    ];
  },
});

const MAX_SHOWN = 600;

const HtmlBlock = Node.create({
  name: "htmlBlock",
  group: "block",
  atom: true,
  addAttributes: () => ({ html: stored("html") }),
  parseHTML: () => [{ tag: `div[data-type="htmlBlock"][data-value="${OWN_KEY}"]` }],
  renderHTML: ({ node, HTMLAttributes }) => {
    const html = textAt(node.attrs, "html");
    const shown = html.length > MAX_SHOWN ? `${html.slice(0, MAX_SHOWN)}…` : html;
    return [
      "div",
      { ...HTMLAttributes, "data-type": "htmlBlock", "data-value": OWN_KEY, class: "visual-html" },
      shown === "" ? "HTML: nothing yet" : shown,
    ];
  },
});

const ConditionBlock = Node.create({
  name: "condition",
  group: "block",
  content: "block+",
  defining: true,
  isolating: true,
  addAttributes: () => ({
    field: stored("field"),
    operator: stored("operator", "is"),
    value: stored("value"),
  }),
  parseHTML: () => [
    {
      tag: 'div[data-type="condition"]',
      // The label is not content. Pasted HTML may have no such element.
      contentElement: (element) =>
        element.querySelector<HTMLElement>('[data-type="condition-blocks"]') ?? element,
    },
  ],
  renderHTML: ({ node, HTMLAttributes }) => [
    "div",
    { ...HTMLAttributes, "data-type": "condition", class: "visual-condition" },
    [
      "div",
      { class: "visual-condition-label", contenteditable: "false" },
      describeCondition({
        field: textAt(node.attrs, "field"),
        operator: textAt(node.attrs, "operator"),
        value: textAt(node.attrs, "value"),
      }),
    ],
    ["div", { "data-type": "condition-blocks" }, 0],
  ],
});

const Social = Node.create({
  name: "social",
  group: "block",
  atom: true,
  addAttributes: () => ({
    links: {
      default: [],
      parseHTML: (element) => readSocialLinks(parseJson(element.getAttribute("data-links") ?? "")),
      renderHTML: (attributes) => ({ "data-links": JSON.stringify(attributes["links"]) }),
    },
  }),
  parseHTML: () => [{ tag: 'div[data-type="social"]' }],
  renderHTML: ({ node, HTMLAttributes }) => {
    const names = readSocialLinks(node.attrs["links"]).map(({ name, href }) =>
      cleanLink(href) === null ? `${name} (no address yet)` : name,
    );
    return [
      "div",
      { ...HTMLAttributes, "data-type": "social", class: "visual-social" },
      names.length === 0 ? "Social links: none yet" : names.join(" · "),
    ];
  },
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const Footer = Node.create({
  name: "footer",
  group: "block",
  content: "inline*",
  parseHTML: () => [{ tag: 'div[data-type="footer"]' }],
  renderHTML: ({ HTMLAttributes }) => [
    "div",
    { ...HTMLAttributes, "data-type": "footer", class: "visual-footer" },
    0,
  ],
});

export const extensions: Extensions = [
  StarterKit.configure({
    TiptapStarterKit: {
      document: false,
      dropcursor: { color: "var(--accent)", class: "", width: 2 },
    },
    Heading: false,
    Divider: false,
    Button: false,
    Link: false,
    CodeBlockPrism: false,
    Container: false,
    Body: false,
    Div: false,
    Table: false,
    TableRow: false,
    TableCell: false,
    TableHeader: false,
    PreviewText: false,
    GlobalContent: false,
    PreservedStyle: false,
    Uppercase: false,
    AlignmentAttribute: false,
    StyleAttribute: false,
    ClassAttribute: false,
    MaxNesting: false,
    FocusScopes: false,
    TrailingNode: { node: "paragraph", appendTo: ["doc", "section", "columnsColumn", "condition"] },
  }),
  // The views of the package draw these two with React, which is slow in long letters.
  Heading.extend({ addNodeView: () => null }).configure({ levels: [1, 2, 3] }),
  // Its plugin refuses all text while the line is selected, also in a new paragraph below it.
  Divider.extend({ addNodeView: () => null, addProseMirrorPlugins: () => [] }),
  Document,
  GapCursor,
  Alignment,
  Button,
  Link,
  TextColor,
  Variable,
  Image,
  Spacer,
  HtmlBlock,
  ConditionBlock,
  Social,
  Footer,
];
