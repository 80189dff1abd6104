/** Parameters that are added to the links of a mail, such as utm_source. Pure. */

export type LinkParameters = readonly (readonly [name: string, value: string])[];

/** Reads the JSON of a message: `{"source": "news"}` adds `utm_source=news`. */
export function parseUtm(json: string | null): LinkParameters {
  if (json === null) return [];
  const stored: unknown = JSON.parse(json);
  if (typeof stored !== "object" || stored === null) return [];
  return Object.entries(stored).flatMap(([name, value]) =>
    typeof value === "string" ? [[`utm_${name}`, value] as const] : [],
  );
}

/**
 * The URL with the parameters that it does not have yet. Its own query and fragment stay as they are
 * written.
 */
export function withParameters(url: string, parameters: LinkParameters): string {
  const hash = url.indexOf("#");
  const address = hash === -1 ? url : url.slice(0, hash);
  const mark = address.indexOf("?");
  const own = new Set(mark === -1 ? [] : namesIn(address.slice(mark + 1)));
  const added = parameters
    .filter(([name]) => !own.has(name))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  if (added === "") return url;
  const joint = mark === -1 ? "?" : /[?&]$/.test(address) ? "" : "&";
  return address + joint + added + (hash === -1 ? "" : url.slice(hash));
}

const namesIn = (query: string): string[] =>
  query.split("&").map((pair) => pair.split("=", 1)[0] ?? "");
