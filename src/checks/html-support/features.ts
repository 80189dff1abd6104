/**
 * The patterns that recognise each feature of Can I email. Slugs that are not here are names of
 * properties.
 */

/** HTML: the selector of the elements that use the feature. */
export const ELEMENTS: readonly (readonly [slug: string, selector: string])[] = [
  ...[
    "abbr acronym address audio base bdi blockquote body code del dfn dialog div form hr img link",
    "marquee meter object p picture pre progress rp rt ruby select small span strike strong style",
    "svg table textarea video wbr",
  ]
    .join(" ")
    .split(" ")
    .map((name): [string, string] => [`html-${name}`, name]),
  ...[
    "align aria-describedby aria-hidden aria-label aria-labelledby aria-live background cellpadding",
    "cellspacing dir height hidden lang popover required role srcset target valign width",
  ]
    .join(" ")
    .split(" ")
    .map((name): [string, string] => [`html-${name}`, `[${name}]`]),
  ...["checkbox", "hidden", "radio", "reset", "submit", "text"].map((type): [string, string] => [
    `html-input-${type}`,
    `input[type="${type}"]`,
  ]),
  ["html-anchor-links", 'a[href^="#"]'],
  ["html-button-reset", 'button[type="reset"]'],
  ["html-button-submit", 'button[type="submit"]'],
  ["html-h1-h6", "h1, h2, h3, h4, h5, h6"],
  ["html-image-maps", "map, img[usemap]"],
  ["html-lists", "ul, ol, dl"],
  ["html-loading-attribute", "[loading]"],
  ["html-mailto-links", 'a[href^="mailto:"]'],
  ["html-meta-color-scheme", 'meta[name="color-scheme"]'],
  [
    "html-semantics",
    "article, aside, details, figcaption, figure, footer, header, main, mark, nav, section, summary, time",
  ],
  ["css-inert-attribute", "[inert]"],
];

/** The type of an image by the end of its name. */
export const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ...["apng", "avif", "bmp", "gif", "hdr", "ico", "jpg", "mp4", "png", "svg", "webp"].map(
    (type): [string, string] => [type, `image-${type}`],
  ),
  ["jpeg", "image-jpg"],
  ["heic", "image-heif"],
  ["heif", "image-heif"],
  ["tif", "image-tiff"],
  ["tiff", "image-tiff"],
]);

const groups: readonly (readonly [slug: string, properties: string])[] = [
  ["css-block-inline-size", "block-size"],
  [
    "css-border",
    "border-top border-right border-bottom border-left border-width border-style border-color",
  ],
  ["css-border-inline-block", "border-inline border-block"],
  [
    "css-border-inline-block-individual",
    "border-inline-start border-inline-end border-block-start border-block-end",
  ],
  [
    "css-border-inline-block-longhand",
    "border-inline-color border-inline-style border-inline-width border-block-color border-block-style border-block-width",
  ],
  [
    "css-border-radius-logical",
    "border-start-start-radius border-start-end-radius border-end-start-radius border-end-end-radius",
  ],
  [
    "css-border-radius",
    "border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius",
  ],
  ["css-column-layout-properties", "columns column-width column-fill column-rule column-span"],
  ["css-gap", "column-gap row-gap"],
  ["css-grid-template", "grid-template-columns grid-template-rows grid-template-areas"],
  ["css-left-right-top-bottom", "left right top bottom"],
  ["css-margin", "margin-top margin-right margin-bottom margin-left"],
  ["css-margin-block-start-end", "margin-block-start margin-block-end"],
  ["css-margin-inline-block", "margin-inline margin-block"],
  ["css-margin-inline-start-end", "margin-inline-start margin-inline-end"],
  ["css-overflow", "overflow-x overflow-y"],
  ["css-padding", "padding-top padding-right padding-bottom padding-left"],
  ["css-padding-block-start-end", "padding-block-start padding-block-end"],
  ["css-padding-inline-block", "padding-inline padding-block"],
  ["css-padding-inline-start-end", "padding-inline-start padding-inline-end"],
  ["css-scroll-snap", "scroll-snap-type scroll-snap-align scroll-snap-stop"],
];

/** Properties that have the feature of another name. */
export const PROPERTIES: ReadonlyMap<string, string> = new Map(
  groups.flatMap(([slug, properties]) =>
    properties.split(" ").map((property): [string, string] => [property, slug]),
  ),
);

const units = "ch cm em ex in mm pc pt px rem vh vmax vmin vw".split(" ");

/** CSS: a pattern of declarations, written as `property:value`. */
export const CSS_VALUES: readonly (readonly [slug: string, pattern: RegExp])[] = [
  ...units.map((unit): [string, RegExp] => [`css-unit-${unit}`, new RegExp(`\\d${unit}\\b`)]),
  ...["clamp", "light-dark", "max", "min"].map((name): [string, RegExp] => [
    `css-function-${name}`,
    new RegExp(`[:\\s,(]${name}\\(`),
  ]),
  ...["conic", "linear", "radial"].map((name): [string, RegExp] => [
    `css-${name}-gradient`,
    new RegExp(`${name}-gradient\\(`),
  ]),
  ["css-unit-calc", /calc\(/],
  ["css-unit-initial", /:\s?initial\b/],
  ["css-unit-percent", /\d%/],
  ["css-rgb", /\brgb\(/],
  ["css-rgba", /\brgba\(/],
  ["css-modern-color", /\b(?:ok)?(?:lch|lab)\(/],
  ["css-important", /!important/],
  ["css-intrinsic-size", /\b(?:fit|min|max)-content\b/],
  ["css-display-flex", /^display:(?:inline-)?flex/],
  ["css-display-grid", /^display:(?:inline-)?grid/],
  ["css-display-none", /^display:none/],
  ["css-sytem-ui", /\b(?:system-ui|ui-(?:serif|sans-serif|rounded|monospace))\b/],
];

const pseudoClasses = [
  "active checked default first-child first-of-type focus-visible focus-within focus has hover lang",
  "last-child last-of-type link not nth-child nth-last-child nth-last-of-type nth-of-type only-child",
  "only-of-type target visited",
];

/** CSS: a pattern of selectors. */
export const SELECTORS: readonly (readonly [slug: string, pattern: RegExp])[] = [
  ...pseudoClasses
    .join(" ")
    .split(" ")
    .map((name): [string, RegExp] => [
      `css-pseudo-class-${name}`,
      new RegExp(`(?<!:):${name}(?![\\w-])`),
    ]),
  ...["after", "before", "first-letter", "first-line", "marker", "placeholder"].map(
    (name): [string, RegExp] => [`css-pseudo-element-${name}`, new RegExp(`:${name}(?![\\w-])`)],
  ),
  ["css-selector-adjacent-sibling", /\+/],
  ["css-selector-attribute", /\[/],
  ["css-selector-chaining", /[\w-][.#][\w-]/],
  ["css-selector-child", />/],
  ["css-selector-class", /\.[a-z_-]/],
  ["css-selector-descendant", /[\w\])*] +[\w.#[*:]/],
  ["css-selector-general-sibling", /~(?!=)/],
  ["css-selector-grouping", /,/],
  ["css-selector-id", /#[a-z_-]/],
  ["css-selector-type", /(?:^|[\s,>+~])[a-z]/],
  ["css-selector-universal", /(?:^|[\s,>+~])\*/],
  ["css-nesting", /^&|[\s,]&/],
];

/** CSS: a text in a media query. */
export const MEDIA_FEATURES: readonly (readonly [slug: string, text: string])[] = [
  ["css-at-media-device-pixel-ratio", "device-pixel-ratio"],
  ["css-at-media-hover", "hover"],
  ["css-at-media-orientation", "orientation"],
  ["css-at-media-prefers-color-scheme", "prefers-color-scheme"],
  ["css-at-media-prefers-reduced-motion", "prefers-reduced-motion"],
];
