/** Parses the URL of an SMTP relay. */

import ipaddr from "ipaddr.js";
import type { Credentials } from "./auth.ts";

export type Relay = {
  host: string;
  port: number;
  /** Without a user there is no AUTH. */
  user?: string | undefined;
  password?: string | undefined;
  tls: "implicit" | "starttls" | "none";
  /**
   * False if the relay signs mail by itself, so that mail goes there without our signatures; without
   * it, the table of known relays decides (known-relays.ts).
   */
  sign?: boolean;
};

type ParsedRelayUrl = { ok: true; relay: Relay } | { ok: false; message: string };

/**
 * `smtp[s]://user:pass@host:port`, with the parameters `tls=none|starttls|implicit` and
 * `sign=true|false`. smtps means TLS from the first byte and port 465 (RFC 8314 §3.3), smtp means
 * STARTTLS and port 587. No message repeats the URL, because it contains a password.
 */
export function parseRelayUrl(text: string): ParsedRelayUrl {
  const url = URL.parse(text);
  if (url === null) return refuse(NOT_A_URL);
  if (url.protocol !== "smtp:" && url.protocol !== "smtps:") {
    return refuse("must begin with smtp:// or smtps://");
  }
  if ((url.pathname !== "" && url.pathname !== "/") || url.hash !== "") {
    return refuse(
      "must end after host, port and parameters; encode special characters of the password",
    );
  }
  const host = readHost(url.hostname);
  if (host === null) return refuse("names no valid host");
  if (url.port === "0") return refuse("names port 0");
  const fault = parameterFault(url);
  if (fault !== null) return refuse(fault);
  const tls = readTls(url);
  if ("message" in tls) return refuse(tls.message);
  const sign = url.searchParams.get("sign");
  if (sign !== null && sign !== "true" && sign !== "false")
    return refuse("sign must be true or false");
  const credentials = readCredentials(url);
  if ("message" in credentials) return refuse(credentials.message);

  const port = url.port === "" ? (tls.mode === "implicit" ? 465 : 587) : Number(url.port);
  const relay: Relay = { host, port, ...credentials, tls: tls.mode };
  if (sign !== null) relay.sign = sign === "true";
  const problem = findCleartextPassword(relay);
  return problem === null ? { ok: true, relay } : refuse(problem);
}

const NOT_A_URL =
  "is not a URL of the form smtp://user:pass@host:port; in user and pass, write / as %2F, # as %23, " +
  "? as %3F, @ as %40 and % as %25";

function refuse(message: string): { ok: false; message: string } {
  return { ok: false, message };
}

/** An ASCII name or an address; the brackets around an IPv6 address are removed. */
function readHost(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  if (ipaddr.isValid(bare)) return bare;
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i.test(bare) ? bare.toLowerCase() : null;
}

/** Whether a text is the host of a relay alone, without a port and anything else of a URL. */
export const isRelayHost = (text: string): boolean => readHost(text) !== null;

/** A parameter that is unknown or occurs twice, or null. */
function parameterFault({ searchParams }: URL): string | null {
  const names = [...searchParams.keys()];
  const unknown = names.find((name) => name !== "tls" && name !== "sign");
  if (unknown !== undefined) return `has an unknown parameter ${unknown}`;
  const twice = ["tls", "sign"].find((name) => searchParams.getAll(name).length > 1);
  return twice === undefined ? null : `names ${twice} twice`;
}

function readTls(url: URL): { mode: Relay["tls"] } | { message: string } {
  const value = url.searchParams.get("tls");
  if (value === null) return { mode: url.protocol === "smtps:" ? "implicit" : "starttls" };
  if (value !== "none" && value !== "starttls" && value !== "implicit") {
    return { message: "tls must be none, starttls or implicit" };
  }
  if (url.protocol === "smtps:" && value !== "implicit") {
    return { message: `smtps:// means implicit TLS; write smtp:// for tls=${value}` };
  }
  return { mode: value };
}

function readCredentials(url: URL): Partial<Credentials> | { message: string } {
  if (url.username === "" && url.password === "") return {};
  if (url.username === "") return { message: "has a password but no user" };
  try {
    return { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  } catch {
    return { message: "has a % in user or password that is not encoded as %25" };
  }
}

/** The reason why the password must not be sent, or null. */
export function findCleartextPassword(relay: Relay): string | null {
  if (relay.user === undefined || relay.tls !== "none" || isLoopback(relay.host)) return null;
  return "must not send a password without TLS; tls=none with a user is allowed for this machine only";
}

export function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}

/** The URL of a relay, which `parseRelayUrl` reads. It contains the password. */
export function formatRelayUrl({ host, port, user, password = "", tls, sign }: Relay): string {
  const login =
    user === undefined ? "" : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
  const parameters = new URLSearchParams({ tls, ...(sign !== undefined && { sign: `${sign}` }) });
  return `smtp://${login}${host.includes(":") ? `[${host}]` : host}:${port}?${parameters.toString()}`;
}

/** A valid URL of a relay with "***" instead of the password. */
export function maskRelayUrl(text: string): string {
  const parsed = parseRelayUrl(text);
  if (!parsed.ok) return "***";
  const { password, ...relay } = parsed.relay;
  return formatRelayUrl(password === undefined ? relay : { ...relay, password: "***" });
}
