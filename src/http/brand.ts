/**
 * The branding of a project on the pages for its recipients: its name, logo and colour. Pure.
 *
 * The colour fills the main button. Text on it is black or white, as the contrast says. If the colour
 * itself is used for text or the edge of a control, it is moved towards black or white until it can be
 * read on the card, in light and in dark.
 */

export type Brand = {
  name: string;
  /** `path` is the path of an image on this server. */
  logo: { path: string; width: number; height: number } | null;
  /** `#rrggbb`; null for the colour of the pages. */
  color: string | null;
};

/** The colours of the card of a page. */
export const CARD = { light: "#ffffff", dark: "#1b2028" } as const;

/** WCAG 2.2 §1.4.3 for text, and §1.4.11 for the edge of a control. */
const TEXT_CONTRAST = 4.5;
const EDGE_CONTRAST = 3;
/** A wider logo is taken to contain the name of the project. */
const WIDE_LOGO = 1.6;

/** The rules of CSS that set the colour of a project; empty without one. */
export function brandStyle(color: string | null): string {
  if (color === null) return "";
  const rules = (card: string) =>
    `--main: ${color}; --on-main: ${textOn(color)}; ` +
    `--edge: ${readableOn(card, color, EDGE_CONTRAST)}; ` +
    `--link: ${readableOn(card, color, TEXT_CONTRAST)}`;
  return (
    `:root { ${rules(CARD.light)} }\n` +
    `@media (prefers-color-scheme: dark) { :root { ${rules(CARD.dark)} } }`
  );
}

/**
 * The head of a page: the logo, with the name beside it unless the logo is wide; else the name. A
 * page whose title is the name does not repeat it.
 */
export function brandHtml({ name, logo }: Brand, title: string): string {
  const text = title === name ? "" : Bun.escapeHTML(name);
  if (logo === null) return text === "" ? "" : `<p class="sender">${text}</p>\n`;
  const { path, width, height } = logo;
  const isWide = width / height >= WIDE_LOGO;
  const image =
    `<img src="${Bun.escapeHTML(path)}" width="${width}" height="${height}" ` +
    `alt="${isWide ? text : ""}">`;
  return `<p class="sender logo">${image}${isWide || text === "" ? "" : `<span>${text}</span>`}</p>\n`;
}

/** Black or white, which has the higher contrast. */
export function textOn(color: string): string {
  return contrast(color, "#000000") > contrast(color, "#ffffff") ? "#000000" : "#ffffff";
}

const STEPS = 20;

/** The colour, or the first one on the way from it to black or white that has the contrast. */
export function readableOn(card: string, color: string, wanted: number): string {
  const target = textOn(card);
  for (let step = 0; step < STEPS; step++) {
    const mixed = mix(color, target, step / STEPS);
    if (contrast(mixed, card) >= wanted) return mixed;
  }
  return target;
}

/** The contrast ratio of WCAG 2.2, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(color: string, target: string, share: number): string {
  const to = channels(target);
  const mixed = channels(color).map((from, at) =>
    Math.round(from + ((to[at] ?? 0) - from) * share)
      .toString(16)
      .padStart(2, "0"),
  );
  return `#${mixed.join("")}`;
}

const channels = (color: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
