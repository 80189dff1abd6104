/** The values of the form of a relay, and what is sent of them. */

import type { InstallationSettings, RelayInput } from "../../../modules/settings/model.ts";

export type RelayView = NonNullable<InstallationSettings["relay"]>;

export type RelayValues = {
  host: string;
  port: string;
  tls: RelayInput["tls"];
  user: string;
  password: string;
  sign: "auto" | "relay" | "server";
};

export const EMPTY_RELAY: RelayValues = {
  host: "",
  port: "587",
  tls: "starttls",
  user: "",
  password: "",
  sign: "auto",
};

export const PORTS: Readonly<Record<RelayInput["tls"], string>> = {
  starttls: "587",
  implicit: "465",
  none: "25",
};

export function valuesOfRelay(relay: RelayView | null): RelayValues {
  if (relay === null) return EMPTY_RELAY;
  const { host, port, tls, user, sign } = relay;
  const signs = sign === null ? "auto" : sign ? "server" : "relay";
  return { host, port: String(port), tls, user: user ?? "", password: "", sign: signs };
}

export function relayInputOf({ host, port, tls, user, password, sign }: RelayValues): RelayInput {
  return {
    host: host.trim(),
    port: Number(port),
    tls,
    ...(user.trim() === "" ? {} : { user: user.trim() }),
    ...(password === "" ? {} : { password }),
    ...(sign === "auto" ? {} : { sign: sign === "server" }),
  };
}

/** Whether the stored password is used: the field is empty, and host and user are the same. */
export const keepsPassword = (known: RelayView | null, values: RelayValues): boolean =>
  known?.hasPassword === true && known.host === values.host.trim() && known.user === values.user;

/** The parts of a URL such as smtp://user:password@smtp.example.com:587; null for other texts. */
export function readPastedUrl(text: string): Partial<RelayValues> | null {
  const url = /^smtps?:\/\//i.test(text.trim()) ? URL.parse(text.trim()) : null;
  if (url === null || url.hostname === "") return null;
  const given = url.searchParams.get("tls");
  const implied = url.protocol === "smtps:" ? "implicit" : "starttls";
  const tls = given === "none" || given === "starttls" || given === "implicit" ? given : implied;
  const sign = url.searchParams.get("sign");
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? PORTS[tls === "none" ? "starttls" : tls] : url.port,
    tls,
    user: decoded(url.username),
    password: decoded(url.password),
    sign: sign === "true" ? "server" : sign === "false" ? "relay" : "auto",
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A % that is not encoded is a part of the text.
  }
}

const TLS_WORDS: Readonly<Record<RelayInput["tls"], string>> = {
  starttls: "STARTTLS",
  implicit: "TLS from the first byte",
  none: "without TLS",
};

/** Such as "STARTTLS, user apikey, password •••••". */
export function relayText({ tls, user, hasPassword }: RelayView): string {
  const login = user === null ? ["no login"] : [`user ${user}`];
  return [TLS_WORDS[tls], ...login, ...(hasPassword ? ["password •••••"] : [])].join(", ");
}
