/**
 * Writes the body of a mail from a design. The result depends on nothing but the design. Mail
 * programs are old browsers: the layout is made of tables, every style is inline, and the style sheet
 * in the head has only what may be missing, columns that stack on phones and dark colours.
 *
 * The editor's package can export HTML too. It renders it with React and a formatter, which takes
 * 0.1 s for a long letter, escapes Liquid, and depends on the browser; this is done after a keystroke.
 */

import type { Condition } from "./conditions.ts";
import { writeCondition } from "./conditions.ts";
import { type Design, type DesignMark, type DesignNode, readSize, readText } from "./design.ts";
import { cleanImage, cleanLink } from "./links.ts";
import { escapeAttribute, escapeText } from "./liquid-text.ts";
import {
  chooseTextOn,
  deriveDark,
  derivePalette,
  fontStack,
  type MailTheme,
  mixUntilReadable,
  readColor,
} from "./mail-theme.ts";
import { writeVariable } from "./variables.ts";

const SPACE_PX = 16;
const PADDING_PX = 32;
const GAP_PX = 16;
const MAX_SPACER_PX = 400;
const MAX_IMAGE_PX = 2_000;
const LINE_HEIGHT = 1.5;
/** Sizes of headings in relation to the text. */
const HEADINGS: Readonly<Record<string, number>> = { "1": 1.75, "2": 1.375, "3": 1.125 };

type Writer = {
  theme: MailTheme;
  palette: ReturnType<typeof derivePalette>;
  /** Declarations of text, repeated in each cell, because Outlook's tables inherit none. */
  text: string;
  /** The colour of text. */
  color: string;
  /** Whether colours become dark ones: not in a box whose colour the author chose. */
  isAdaptive: boolean;
  /** The width for the blocks, in pixels. */
  widthPx: number;
  /** The classes of the colours of texts, which become dark ones as well. */
  colors: Map<string, string>;
};

export function writeHtml({ theme, document, isFragment }: Design): string {
  if (isFragment) return writeFragment({ ...theme, hasDark: false }, document);
  const writer = startWriter(theme, 2 * PADDING_PX);
  const { page, surface, widthPx, radiusPx } = theme;
  const content = writeBlocks(document.content, writer);
  return [
    "<!DOCTYPE html>",
    `<html><head>`,
    `<meta charset="utf-8">`,
    `<meta name="viewport" content="width=device-width">`,
    theme.hasDark ? `<meta name="color-scheme" content="light dark">` : null,
    writeStyleSheet(writer),
    `</head><body class="mp" style="margin:0;padding:0;background-color:${page}">`,
    `<table role="presentation" class="mp" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:${page}"><tr><td align="center" style="padding:24px 8px">`,
    `<table role="presentation" class="ms" width="${widthPx}" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:${widthPx}px;background-color:${surface};border-radius:${radiusPx}px"><tr><td class="mt mo" align="left" style="padding:${PADDING_PX}px;${writer.text}">`,
    content,
    `</td></tr></table>`,
    `</td></tr></table>`,
    `</body></html>`,
    "",
  ]
    .filter((line) => line !== null)
    .join("\n");
}

/** The blocks alone, for a layout, which has the document, its width and its background. */
function writeFragment(theme: MailTheme, document: DesignNode): string {
  const writer = startWriter(theme, 0);
  const content = writeBlocks(document.content, writer);
  return [
    writeStyleSheet(writer),
    `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="left" style="${writer.text}">`,
    content,
    `</td></tr></table>`,
    "",
  ].join("\n");
}

function startWriter(theme: MailTheme, marginPx: number): Writer {
  const { font, fontSizePx, text, widthPx } = theme;
  return {
    theme,
    palette: derivePalette(theme),
    text: textStyle(fontStack(font), fontSizePx, text),
    color: text,
    isAdaptive: true,
    widthPx: widthPx - marginPx,
    colors: new Map(),
  };
}

const textStyle = (stack: string, sizePx: number, color: string): string =>
  `font-family:${stack};font-size:${sizePx}px;line-height:${LINE_HEIGHT};color:${color}`;

/**
 * The style sheet, which mail programs may leave out: stacked columns, smaller margins and dark
 * colours.
 */
function writeStyleSheet({ theme, colors }: Writer): string {
  const phone =
    "@media (max-width:600px){.mc{display:block!important;width:100%!important;padding-left:0!important;padding-right:0!important}" +
    ".mw{padding-left:16px!important;padding-right:16px!important}.mo{padding:24px 20px!important;word-break:break-word}}";
  if (!theme.hasDark) return `<style>${phone}</style>`;
  const { page, surface, box, line, text, muted, link } = deriveDark(theme);
  const texts = [...colors].map(([color, name]) => {
    return `.${name}{color:${mixUntilReadable(color, "#ffffff", surface)}!important}`;
  });
  const dark =
    `@media (prefers-color-scheme:dark){.mp{background-color:${page}!important}` +
    `.ms{background-color:${surface}!important}.mb{background-color:${box}!important}` +
    `.md{border-color:${line}!important}.mt{color:${text}!important}` +
    `.mm{color:${muted}!important}.ml{color:${link}!important}${texts.join("")}}`;
  return `<style>${phone}${dark}</style>`;
}

/**
 * Writes blocks one below the other, without the empty paragraph that the editor keeps at the end.
 */
function writeBlocks(nodes: readonly DesignNode[], writer: Writer): string {
  const last = nodes.at(-1);
  const isTrailing = nodes.length > 1 && last?.type === "paragraph" && last.content.length === 0;
  return (isTrailing ? nodes.slice(0, -1) : nodes)
    .map((node) => writeBlock(node, writer))
    .join("\n");
}

type WriteBlock = (node: DesignNode, writer: Writer) => string;

const BLOCKS: Readonly<Record<string, WriteBlock>> = {
  paragraph: writeParagraph,
  heading: writeHeading,
  bulletList: (node, writer) => writeList("ul", node, writer),
  orderedList: (node, writer) => writeList("ol", node, writer),
  blockquote: writeQuote,
  horizontalRule: (_, writer) =>
    `<hr${adaptive(writer, "md")} style="margin:24px 0;border:0;border-top:1px solid ${writer.palette.line}">`,
  button: writeButton,
  image: writeImage,
  twoColumns: writeColumns,
  threeColumns: writeColumns,
  fourColumns: writeColumns,
  section: writeSection,
  spacer: writeSpacer,
  htmlBlock: (node) => readText(node, "html"),
  condition: writeConditional,
  social: writeSocial,
  footer: writeFooter,
};

function writeBlock(node: DesignNode, writer: Writer): string {
  return BLOCKS[node.type]?.(node, writer) ?? writeInline(node.content, writer);
}

const ALIGNMENTS = new Set(["center", "right"]);

/** A declaration, or "" for text that begins at the left. */
function alignText(node: DesignNode): string {
  const alignment = readText(node, "alignment");
  return ALIGNMENTS.has(alignment) ? `;text-align:${alignment}` : "";
}

const readAlign = (node: DesignNode): string => {
  const alignment = readText(node, "alignment");
  return ALIGNMENTS.has(alignment) ? alignment : "left";
};

function writeParagraph(node: DesignNode, writer: Writer): string {
  const text = writeInline(node.content, writer);
  return `<p style="margin:0 0 ${SPACE_PX}px${alignText(node)}">${text === "" ? "&nbsp;" : text}</p>`;
}

function writeHeading(node: DesignNode, writer: Writer): string {
  const level = HEADINGS[readText(node, "level")] === undefined ? "1" : readText(node, "level");
  const size = Math.round(writer.theme.fontSizePx * (HEADINGS[level] ?? 1));
  const style = `margin:0 0 ${SPACE_PX}px;font-size:${size}px;line-height:1.25;font-weight:bold`;
  return `<h${level} style="${style}${alignText(node)}">${writeInline(node.content, writer)}</h${level}>`;
}

function writeList(tag: "ul" | "ol", node: DesignNode, writer: Writer): string {
  const start = readSize(node, "start", 1_000_000) ?? 1;
  const items = node.content.map(
    (item) => `<li style="margin:0 0 4px">${writeItem(item.content, writer)}</li>`,
  );
  const first = tag === "ol" && start !== 1 ? ` start="${start}"` : "";
  return `<${tag}${first} style="margin:0 0 ${SPACE_PX}px;padding:0 0 0 24px">${items.join("")}</${tag}>`;
}

/** The first paragraph of an item is its text. */
function writeItem(nodes: readonly DesignNode[], writer: Writer): string {
  const [first, ...rest] = nodes;
  if (first === undefined) return "&nbsp;";
  const text =
    first.type === "paragraph" ? writeInline(first.content, writer) : writeBlock(first, writer);
  return [text === "" ? "&nbsp;" : text, ...rest.map((node) => writeBlock(node, writer))].join("");
}

/** The class of the style sheet that gives the element dark colours. */
const adaptive = ({ isAdaptive }: Writer, name: string): string =>
  isAdaptive ? ` class="${name}"` : "";

function writeQuote(node: DesignNode, writer: Writer): string {
  const { line, muted } = writer.palette;
  const color = writer.isAdaptive ? muted : writer.color;
  const style = `margin:0 0 ${SPACE_PX}px;padding:4px 0 4px 16px;border-left:3px solid ${line};color:${color}`;
  const inner = { ...writer, color };
  return `<blockquote${adaptive(writer, "mm md")} style="${style}">${writeBlocks(node.content, inner)}</blockquote>`;
}

/** A cell with a colour: Outlook shows no padding of links. */
function writeButton(node: DesignNode, writer: Writer): string {
  const { accent, radiusPx, fontSizePx, font } = writer.theme;
  const background = readColor(node.attrs["background"]) ?? accent;
  const color = chooseTextOn(background);
  const label = writeInline(node.content, { ...writer, color, isAdaptive: false }, false);
  const href = cleanLink(readText(node, "href"));
  const style = `display:inline-block;padding:12px 24px;${textStyle(fontStack(font), fontSizePx, color)};font-weight:bold;text-decoration:none`;
  const link =
    href === null
      ? `<span style="${style}">${label}</span>`
      : `<a href="${escapeAttribute(href)}" style="${style}">${label}</a>`;
  const cell = `<td align="center" bgcolor="${background}" style="background-color:${background};border-radius:${radiusPx}px">${link}</td>`;
  return wrapCell(
    readAlign(node),
    `<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr>${cell}</tr></table>`,
  );
}

/** A row of the full width, with its content at one side. */
const wrapCell = (align: string, content: string, padding = `0 0 ${SPACE_PX}px`): string =>
  `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>` +
  `<td align="${align}" style="padding:${padding}">${content}</td></tr></table>`;

function writeImage(node: DesignNode, writer: Writer): string {
  const source = cleanImage(readText(node, "src"));
  if (source === null) return "";
  const natural = readSize(node, "width", MAX_IMAGE_PX) ?? writer.widthPx;
  const width = Math.max(1, Math.min(natural, writer.widthPx));
  const alt = escapeAttribute(readText(node, "alt"));
  const style = `display:block;width:100%;max-width:${width}px;height:auto;border:0`;
  const image = `<img src="${escapeAttribute(source)}" alt="${alt}" width="${width}" style="${style}">`;
  const href = cleanLink(readText(node, "href"));
  const linked = href === null ? image : `<a href="${escapeAttribute(href)}">${image}</a>`;
  return wrapCell(readAlign(node), linked);
}

function writeColumns(node: DesignNode, writer: Writer): string {
  const count = Math.max(1, node.content.length);
  const widthPx = Math.floor((writer.widthPx - (count - 1) * GAP_PX) / count);
  const inner = { ...writer, widthPx };
  const share = Math.floor(100 / count);
  const cells = node.content.map((column, at) => {
    // The gaps are shared, so that all columns have the same width.
    const left = Math.round((GAP_PX * at) / count);
    const right = Math.round((GAP_PX * (count - 1 - at)) / count);
    const style = `width:${share}%;padding:0 ${right}px 0 ${left}px;${withColor(writer)}`;
    return `<td class="mc${writer.isAdaptive ? " mt" : ""}" width="${share}%" align="left" valign="top" style="${style}">${writeBlocks(column.content, inner)}</td>`;
  });
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>${cells.join("")}</tr></table>`;
}

const withColor = ({ theme, color }: Writer): string =>
  textStyle(fontStack(theme.font), theme.fontSizePx, color);

function writeSection(node: DesignNode, writer: Writer): string {
  const own = readColor(node.attrs["background"]);
  const background = own ?? writer.palette.box;
  const color = own === null ? writer.color : chooseTextOn(own);
  const isAdaptive = own === null && writer.isAdaptive;
  const inner = { ...writer, color, isAdaptive, widthPx: writer.widthPx - 48 };
  const style = `padding:24px 24px 8px;background-color:${background};border-radius:${writer.theme.radiusPx}px;${withColor(inner)}`;
  const cell = `<td class="mw${isAdaptive ? " mb mt" : ""}" align="left" bgcolor="${background}" style="${style}">${writeBlocks(node.content, inner)}</td>`;
  return wrapCell(
    "left",
    `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>${cell}</tr></table>`,
  );
}

function writeSpacer(node: DesignNode): string {
  const height = Math.max(1, readSize(node, "height", MAX_SPACER_PX) ?? 24);
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td height="${height}" style="height:${height}px;line-height:${height}px;font-size:1px">&nbsp;</td></tr></table>`;
}

function writeConditional(node: DesignNode, writer: Writer): string {
  return `{% if ${writeCondition(readCondition(node))} %}\n${writeBlocks(node.content, writer)}\n{% endif %}`;
}

const readCondition = (node: DesignNode): Condition => ({
  field: readText(node, "field"),
  operator: readText(node, "operator"),
  value: readText(node, "value"),
});

function writeSocial(node: DesignNode, writer: Writer): string {
  const links = readSocialLinks(node.attrs["links"]).flatMap(({ name, href }) => {
    const target = cleanLink(href);
    return target === null ? [] : [writeLink(target, escapeText(name), writer)];
  });
  if (links.length === 0) return "";
  return `<p style="margin:0 0 ${SPACE_PX}px;text-align:center">${links.join(" &nbsp;·&nbsp; ")}</p>`;
}

export type SocialLink = { name: string; href: string };

/** The links of a social block, which are stored as a list. */
export function readSocialLinks(stored: unknown): SocialLink[] {
  if (!Array.isArray(stored)) return [];
  return stored.slice(0, 20).flatMap((each: unknown) => {
    if (typeof each !== "object" || each === null || !("name" in each) || !("href" in each))
      return [];
    const { name, href } = each;
    return typeof name === "string" && typeof href === "string" ? [{ name, href }] : [];
  });
}

function writeFooter(node: DesignNode, writer: Writer): string {
  const color = writer.isAdaptive ? writer.palette.muted : writer.color;
  const style = `margin:24px 0 0;font-size:13px;line-height:${LINE_HEIGHT};text-align:center;color:${color}`;
  const inner = { ...writer, color };
  return `<p${adaptive(writer, "mm")} style="${style}">${writeInline(node.content, inner)}</p>`;
}

/** Writes texts, variables and line breaks. Neighbours with the same link share one element. */
function writeInline(nodes: readonly DesignNode[], writer: Writer, hasLinks = true): string {
  const parts: string[] = [];
  let at = 0;
  while (at < nodes.length) {
    const href = hasLinks ? findLink(nodes[at]) : null;
    let end = at + 1;
    while (end < nodes.length && (hasLinks ? findLink(nodes[end]) : null) === href) end += 1;
    const text = nodes
      .slice(at, end)
      .map((node) => writeMarked(node, writer))
      .join("");
    parts.push(href === null ? text : writeLink(href, text, writer));
    at = end;
  }
  return parts.join("");
}

/** A link has its own colour only in text of the usual colour. */
function writeLink(href: string, text: string, writer: Writer): string {
  const { theme, palette } = writer;
  const isUsual = writer.isAdaptive && writer.color === theme.text;
  const color = isUsual ? palette.link : writer.color;
  const name = adaptive(writer, isUsual ? "ml" : "mm");
  return `<a href="${escapeAttribute(href)}"${name} style="color:${color};text-decoration:underline">${text}</a>`;
}

function findLink(node: DesignNode | undefined): string | null {
  const mark = node?.marks.find(({ type }) => type === "link");
  return mark === undefined ? null : cleanLink(readText(mark, "href"));
}

const TAGS: Readonly<Record<string, string>> = {
  bold: "strong",
  italic: "em",
  underline: "u",
  strike: "s",
  sup: "sup",
};

function writeMarked(node: DesignNode, writer: Writer): string {
  const text = writeAtom(node);
  return node.marks.reduceRight((inner, mark) => writeMark(mark, inner, writer), text);
}

function writeAtom(node: DesignNode): string {
  if (node.type === "hardBreak") return "<br>";
  if (node.type === "variable") {
    return writeVariable({ name: readText(node, "name"), fallback: readText(node, "fallback") });
  }
  return escapeText(node.text);
}

function writeMark(mark: DesignMark, text: string, writer: Writer): string {
  const tag = TAGS[mark.type];
  if (tag !== undefined) return `<${tag}>${text}</${tag}>`;
  if (mark.type === "code") {
    const box = writer.isAdaptive ? `background-color:${writer.palette.box};` : "";
    return `<code${adaptive(writer, "mb")} style="padding:2px 4px;${box}font-family:'Courier New',Courier,monospace">${text}</code>`;
  }
  const color = mark.type === "textColor" ? readColor(mark.attrs["color"]) : null;
  if (color === null) return text;
  const { colors } = writer;
  const name = colors.get(color) ?? `mx${colors.size}`;
  if (writer.isAdaptive) colors.set(color, name);
  return `<span${adaptive(writer, name)} style="color:${color}">${text}</span>`;
}
