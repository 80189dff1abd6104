/** The addresses that may send, while one is typed. Pure. */

/** Matches a text with one `@` and a domain with a dot. The server checks the rest. */
export const isAddress = (text: string): boolean =>
  /^[^\s@<>]+@[^\s@<>.]+(\.[^\s@<>.]+)+$/.test(text.trim());

const USUAL = ["news", "hello"];

/** Addresses at the verified domains that begin with what was typed. */
export function suggestions(typed: string, domains: readonly string[]): string[] {
  const [local = "", domain = ""] = typed.trim().split("@");
  const names = local === "" ? USUAL : [local];
  const fitting = domains.filter((each) => each.startsWith(domain.toLowerCase()));
  return fitting.flatMap((each) => names.map((name) => `${name}@${each}`)).slice(0, MOST_SHOWN);
}

const MOST_SHOWN = 8;

/** The domain of an address that must be verified and is not; null otherwise. */
export function unverifiedDomain(
  address: string,
  verified: readonly string[] | null,
): string | null {
  if (verified === null || !isAddress(address)) return null;
  const domain = address.trim().split("@")[1]?.toLowerCase() ?? "";
  return verified.includes(domain) ? null : domain;
}
