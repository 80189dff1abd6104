const BROWSERS = ["Edg", "OPR", "Firefox", "Chrome", "Safari", "curl"] as const;
const SYSTEMS = ["Windows", "Android", "iPhone", "iPad", "Mac OS", "Linux"] as const;
const NAMES: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera", "Mac OS": "macOS" };

/** "Firefox on Linux", as far as the header User-Agent tells. */
export function browserOf(userAgent: string | null): string {
  const text = userAgent ?? "";
  const nameOf = (found: string | undefined) => NAMES[found ?? ""] ?? found;
  const browser = nameOf(BROWSERS.find((name) => text.includes(`${name}/`)));
  const system = nameOf(SYSTEMS.find((name) => text.includes(name)));
  if (browser === undefined) return text === "" ? "Unknown browser" : text;
  return system === undefined ? browser : `${browser} on ${system}`;
}
