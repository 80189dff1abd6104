/** The envelope of a captured message, and the SMTP session in which it arrived. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Union([type, Type.Null()]);

const Recipient = Type.Object({
  address: Type.String(),
  /** NOTIFY and ORCPT (RFC 3461); null if the client sent none. */
  notify: Nullable(Type.String()),
  originalRecipient: Nullable(Type.String()),
});

export const MessageEnvelope = Type.Object({
  /** Address of MAIL FROM; empty for the null sender. */
  from: Type.String(),
  to: Type.Array(Recipient),
  /** Address of the client; empty if the message did not arrive over SMTP. */
  peer: Type.String(),
  /** Name in EHLO or HELO. */
  helo: Type.String(),
  /** TLS version of the connection; null without TLS. */
  tls: Nullable(Type.String()),
  sessionId: Nullable(Type.String()),
  /** True if lines ended with a bare LF, which were replaced by CRLF. */
  hasBareLf: Type.Boolean(),
});
export type MessageEnvelope = Static<typeof MessageEnvelope>;

/** The envelope of a message that did not arrive over SMTP. */
export function localEnvelope(from: string, to: readonly string[]): MessageEnvelope {
  const recipients = to.map((address) => ({ address, notify: null, originalRecipient: null }));
  return {
    from,
    to: recipients,
    peer: "",
    helo: "",
    tls: null,
    sessionId: null,
    hasBareLf: false,
  };
}

export function parseEnvelope(text: string): MessageEnvelope {
  const value: unknown = JSON.parse(text);
  return Value.Parse(MessageEnvelope, value);
}
