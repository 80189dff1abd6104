/** The extensions that a server offers in its reply to EHLO (RFC 5321 §4.1.1.1). */

import type { Reply } from "./reply.ts";

export type Extensions = {
  pipelining: boolean;
  eightBitMime: boolean;
  smtpUtf8: boolean;
  startTls: boolean;
  enhancedStatusCodes: boolean;
  size: boolean;
  /** Largest message in octets; null if the server names none (RFC 1870 §4). */
  maxSizeBytes: number | null;
  /** SASL mechanisms in upper case. */
  auth: ReadonlySet<string>;
};

export const NO_EXTENSIONS: Extensions = {
  pipelining: false,
  eightBitMime: false,
  smtpUtf8: false,
  startTls: false,
  enhancedStatusCodes: false,
  size: false,
  maxSizeBytes: null,
  auth: new Set(),
};

/**
 * Reads the extensions. The first line has the name of the server, each further line a keyword with
 * its parameters.
 */
export function readExtensions(reply: Reply): Extensions {
  const offered = new Map<string, string[]>();
  for (const line of reply.lines.slice(1)) {
    // "AUTH=LOGIN" is the form before RFC 2554; some servers still use it.
    const [keyword = "", ...parameters] = line
      .trim()
      .toUpperCase()
      .replace(/^AUTH=/, "AUTH ")
      .split(/ +/);
    const known = offered.get(keyword);
    if (known === undefined) offered.set(keyword, parameters);
    else for (const parameter of parameters) known.push(parameter);
  }
  return {
    pipelining: offered.has("PIPELINING"),
    eightBitMime: offered.has("8BITMIME"),
    smtpUtf8: offered.has("SMTPUTF8"),
    startTls: offered.has("STARTTLS"),
    enhancedStatusCodes: offered.has("ENHANCEDSTATUSCODES"),
    size: offered.has("SIZE"),
    maxSizeBytes: readSize(offered.get("SIZE")?.[0]),
    auth: new Set(offered.get("AUTH")),
  };
}

/** Zero means that the server has no fixed limit (RFC 1870 §4). */
function readSize(parameter: string | undefined): number | null {
  if (parameter === undefined || !/^\d{1,20}$/.test(parameter)) return null;
  return Number(parameter) || null;
}
