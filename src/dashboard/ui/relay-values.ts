/** The values of the form of a relay, and the URL of a relay that is pasted into it. */

import type { ProjectRelay } from "../../modules/delivery/relay-model.ts";

type Security = ProjectRelay["security"];

export type RelayValues = Pick<ProjectRelay, "security" | "signedBy"> &
  Record<"host" | "port" | "username" | "password", string>;

/** The usual port of each kind of encryption. */
export const PORTS: Readonly<Record<Security, string>> = {
  STARTTLS: "587",
  TLS: "465",
  NONE: "25",
};

export const EMPTY_RELAY: RelayValues = {
  host: "",
  port: PORTS.STARTTLS,
  security: "STARTTLS",
  username: "",
  password: "",
  signedBy: "AUTO",
};

const BY_PARAMETER: ReadonlyMap<string | null, Security> = new Map([
  ["starttls", "STARTTLS"],
  ["implicit", "TLS"],
  ["none", "NONE"],
]);

/** The parts of a URL such as smtp://user:password@smtp.example.com:587; null for other texts. */
export function readPastedUrl(text: string): Partial<RelayValues> | null {
  const url = /^smtps?:\/\//i.test(text.trim()) ? URL.parse(text.trim()) : null;
  if (url === null || url.hostname === "") return null;
  const implied = url.protocol === "smtps:" ? "TLS" : "STARTTLS";
  const security = BY_PARAMETER.get(url.searchParams.get("tls")) ?? implied;
  const sign = url.searchParams.get("sign");
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? PORTS[security === "NONE" ? "STARTTLS" : security] : url.port,
    security,
    username: decoded(url.username),
    password: decoded(url.password),
    signedBy: sign === "true" ? "SERVER" : sign === "false" ? "RELAY" : "AUTO",
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A % that is not encoded is a part of the text.
  }
}
