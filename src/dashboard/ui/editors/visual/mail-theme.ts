/** The look of a letter: colours, font and width. It is stored with the design. */

export type MailTheme = {
  /** The colour behind the letter. */
  page: string;
  /** The colour of the letter itself. */
  surface: string;
  text: string;
  /** The colour of buttons and links. */
  accent: string;
  font: string;
  fontSizePx: number;
  widthPx: number;
  radiusPx: number;
  /** True if programs that show dark mails get dark colours. */
  hasDark: boolean;
};

export const DEFAULT_THEME: MailTheme = {
  page: "#f4f5f7",
  surface: "#ffffff",
  text: "#1f2430",
  accent: "#4338ca",
  font: "sans",
  fontSizePx: 16,
  widthPx: 600,
  radiusPx: 6,
  hasDark: true,
};

/** The fonts that every computer has: a mail loads none. */
export const FONTS: readonly { name: string; label: string; stack: string }[] = [
  { name: "sans", label: "Helvetica or Arial", stack: "Helvetica,Arial,sans-serif" },
  { name: "verdana", label: "Verdana", stack: "Verdana,Geneva,sans-serif" },
  { name: "trebuchet", label: "Trebuchet", stack: "'Trebuchet MS',Helvetica,sans-serif" },
  { name: "georgia", label: "Georgia", stack: "Georgia,'Times New Roman',serif" },
  { name: "times", label: "Times", stack: "'Times New Roman',Times,serif" },
  { name: "mono", label: "Courier", stack: "'Courier New',Courier,monospace" },
];

export const fontStack = (name: string): string =>
  (FONTS.find((font) => font.name === name) ?? FONTS[0])?.stack ?? "sans-serif";

export const SIZE_LIMITS = {
  fontSizePx: { min: 12, max: 22 },
  widthPx: { min: 320, max: 900 },
  radiusPx: { min: 0, max: 32 },
} as const;

/** Reads a theme from stored JSON: members that are missing or not valid have the value of `base`. */
export function readTheme(stored: unknown, base: MailTheme = DEFAULT_THEME): MailTheme {
  const given: Record<string, unknown> =
    typeof stored === "object" && stored !== null ? { ...stored } : {};
  const color = (name: "page" | "surface" | "text" | "accent") =>
    readColor(given[name]) ?? base[name];
  const size = (name: keyof typeof SIZE_LIMITS) => {
    const value = given[name];
    if (typeof value !== "number" || !Number.isFinite(value)) return base[name];
    const { min, max } = SIZE_LIMITS[name];
    return Math.round(Math.min(max, Math.max(min, value)));
  };
  const { font, hasDark } = given;
  return {
    page: color("page"),
    surface: color("surface"),
    text: color("text"),
    accent: color("accent"),
    font: FONTS.some(({ name }) => name === font) ? String(font) : base.font,
    fontSizePx: size("fontSizePx"),
    widthPx: size("widthPx"),
    radiusPx: size("radiusPx"),
    hasDark: typeof hasDark === "boolean" ? hasDark : base.hasDark,
  };
}

/** Returns a colour as #rrggbb, also from #rgb; null for a text that is no colour. */
export function readColor(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const text = value.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(text)) return text;
  return /^#[0-9a-f]{3}$/.test(text) ? text.replace(/[0-9a-f]/g, "$&$&") : null;
}

type Rgb = readonly [number, number, number];

function parseRgb(color: string): Rgb {
  const part = (at: number) => Number.parseInt(color.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

/** Relative luminance (WCAG 2.2, "relative luminance"). */
function measureLuminance(color: string): number {
  const [r, g, b] = parseRgb(color).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

/** The contrast of two colours, from 1 to 21 (WCAG 2.2 §1.4.3). */
export function measureContrast(first: string, second: string): number {
  const [a, b] = [measureLuminance(first), measureLuminance(second)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** White or black: the one with the higher contrast to the colour. */
export const chooseTextOn = (color: string): string =>
  measureContrast(color, "#ffffff") >= measureContrast(color, "#111111") ? "#ffffff" : "#111111";

/** A colour between two others; `share` of the second. */
export function mixColors(first: string, second: string, share: number): string {
  const [a, b] = [parseRgb(first), parseRgb(second)];
  const mixed = a.map((value, at) => Math.round(value + ((b[at] ?? 0) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** The colour, mixed with another one until it can be read on the background. */
export function mixUntilReadable(color: string, other: string, background: string): string {
  let mixed = color;
  for (let step = 1; measureContrast(mixed, background) < 4.5 && step <= 10; step++) {
    mixed = mixColors(color, other, step / 10);
  }
  return mixed;
}

/** Muted text, lines and so on, which follow from the chosen colours. */
export function derivePalette({ surface, text, accent }: MailTheme) {
  return {
    muted: mixColors(text, surface, 0.35),
    line: mixColors(text, surface, 0.85),
    box: mixColors(text, surface, 0.95),
    onAccent: chooseTextOn(accent),
    link: mixUntilReadable(accent, text, surface),
  };
}

/** Colours for programs that show dark mails. */
export function deriveDark({ accent }: MailTheme) {
  const surface = "#1c1f26";
  const link = mixUntilReadable(accent, "#ffffff", surface);
  return {
    page: "#121418",
    surface,
    box: "#282c35",
    line: "#3a404b",
    text: "#e8ebf0",
    muted: "#aab2bf",
    link,
  };
}

/** Describes the colours that make the letter hard to read; an empty list if there are none. */
export function findThemeFaults({ surface, text, accent }: MailTheme): string[] {
  const contrast = measureContrast(text, surface);
  const faults: string[] = [];
  if (contrast < 4.5) {
    faults.push(
      `The text has a contrast of ${contrast.toFixed(1)} to the letter; 4.5 is the least that is easy to read.`,
    );
  }
  if (measureContrast(accent, surface) < 1.5) {
    faults.push("The colour of buttons is nearly that of the letter.");
  }
  return faults;
}
