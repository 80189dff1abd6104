/** The host that all of several links have; null if there are several, or one is not a URL. */
export function commonHost(urls: readonly string[]): string | null {
  const hosts = new Set(urls.map((url) => URL.parse(url)?.host ?? ""));
  const [host = ""] = hosts;
  return hosts.size === 1 && host !== "" ? host : null;
}

/** A link without its scheme, and without the host that all links have. */
export function linkLabel(url: string, host: string | null): string {
  const label = url.replace(/^https?:\/\//i, "");
  if (host === null || !label.toLowerCase().startsWith(host)) return label;
  const path = label.slice(host.length);
  return path === "" ? "/" : path;
}
