/** Finds the domain in what people paste, such as the URL of their website or their address. */

/** `https://www.example.com/shop` and `Ada <ada@example.com>` become `example.com`. */
export function domainIn(text: string): string {
  const bare = text.trim();
  const isUrl = /^[a-z]+:\/\//i.test(bare);
  const [authority = ""] = bare.replace(/^[a-z]+:\/\//i, "").split(/[/?#]/);
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/[:>].*$/s, "");
  // Websites have this name, and mail does not.
  return isUrl || bare.includes("/") ? host.replace(/^www\./i, "") : host;
}
