/** The relay of the server as the form shows it, and as it is sent. */

import type { InstallationSettings, RelayInput } from "../../../modules/settings/model.ts";
import { EMPTY_RELAY, type RelayValues } from "../../ui/relay-values.ts";

type RelayView = NonNullable<InstallationSettings["relay"]>;

const SECURITIES = { starttls: "STARTTLS", implicit: "TLS", none: "NONE" } as const;
const TLS = { STARTTLS: "starttls", TLS: "implicit", NONE: "none" } as const;

export function valuesOfRelay(relay: RelayView | null): RelayValues {
  if (relay === null) return EMPTY_RELAY;
  const { host, port, tls, user, sign } = relay;
  return {
    host,
    port: String(port),
    security: SECURITIES[tls],
    username: user ?? "",
    password: "",
    signedBy: sign === null ? "AUTO" : sign ? "SERVER" : "RELAY",
  };
}

export function relayInputOf(values: RelayValues): RelayInput {
  const { host, port, security, password, signedBy } = values;
  const user = values.username.trim();
  return {
    host: host.trim(),
    port: Number(port),
    tls: TLS[security],
    ...(user === "" ? {} : { user }),
    ...(user === "" || password === "" ? {} : { password }),
    ...(signedBy === "AUTO" ? {} : { sign: signedBy === "SERVER" }),
  };
}

/** Whether the stored password is used: the field is empty, and host and user are the same. */
export const keepsPassword = (known: RelayView | null, values: RelayValues): boolean =>
  known?.hasPassword === true &&
  known.host === values.host.trim() &&
  known.user === values.username;

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
