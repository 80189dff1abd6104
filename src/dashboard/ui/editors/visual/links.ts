/** Addresses of links and images, which may have variables: `https://shop.example/{{ order }}`. */

import { splitLiquid } from "./liquid-text.ts";

const SCHEMES = /^(?:https?:\/\/[^/]|mailto:.|tel:.|sms:.)/i;
const LONGEST = 8_192;

/** Says why an address cannot be the target of a link; null if it can. */
export function findLinkFault(href: string): string | null {
  const trimmed = href.trim();
  if (trimmed === "") return "Enter an address, or choose a variable.";
  if (trimmed.length > LONGEST) return `Use at most ${LONGEST} characters.`;
  const [first] = splitLiquid(trimmed);
  if (first?.isLiquid === true) return first.text.startsWith("{{") ? null : WRONG;
  if (/^#[\w-]+$/.test(trimmed)) return null;
  return SCHEMES.test(trimmed) ? null : WRONG;
}

const WRONG = "Begin with https://, mailto: or tel:, or with a variable.";

/** The address as it is written in the mail; null for a link that a mail must not have. */
export function cleanLink(href: string): string | null {
  // Browsers leave out control characters, which could hide a scheme.
  const trimmed = href.replace(/\p{Cc}/gu, "").trim();
  return findLinkFault(trimmed) === null ? trimmed : null;
}

/** Completes what people type: `shop.example/a` becomes `https://shop.example/a`. */
export function completeLink(typed: string): string {
  const trimmed = typed.trim();
  if (trimmed === "" || findLinkFault(trimmed) === null) return trimmed;
  if (/^[^\s@:/]+@[^\s@:/]+\.[^\s@:/]+$/.test(trimmed)) return `mailto:${trimmed}`;
  if (/^[\w-]+(?:\.[\w-]+)+(?:[/?#:]\S*)?$/.test(trimmed)) return `https://${trimmed}`;
  return trimmed;
}

/** The address of an image in the mail; null for anything but a web address or a variable. */
export function cleanImage(source: string): string | null {
  const link = cleanLink(source);
  if (link === null) return source.startsWith("/") && !source.startsWith("//") ? source : null;
  return /^(?:https?:|\{\{)/i.test(link) ? link : null;
}
