import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Time = Type.String({ format: "date-time" });
const Kind = OneOf(["SECRET", "PUBLIC"] as const);

const FIELDS = {
  id: Type.String(),
  kind: Kind,
  name: Type.String(),
  last4: Type.String(),
  origins: Type.Array(Type.String()),
  createdAt: Time,
  lastUsedAt: Nullable(Time),
  expiresAt: Nullable(Time),
  revokedAt: Nullable(Time),
};
const TEXTS = {
  id: "Id of the key",
  kind: "SECRET: for servers, may do everything in the project; PUBLIC: only for /v1/track",
  name: "Its name",
  last4: "The last four characters of the key",
  origins: "Web origins that may use a public key; empty if all may",
  createdAt: "When the key was created",
  lastUsedAt: "When the key was last used; null if it never was",
  expiresAt: "From when on the key is refused; null if it does not expire",
  revokedAt: "When the key was revoked; null if it was not",
};
const KEY_EXAMPLE = {
  id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e10",
  kind: "SECRET",
  name: "shop",
  last4: "x7Qa",
  origins: [],
  createdAt: EXAMPLE.createdAt,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
};

export const ApiKey = named("ApiKey", described(Type.Object(FIELDS), TEXTS), {
  description: "An API key, without its text",
  example: KEY_EXAMPLE,
});
export type ApiKey = Static<typeof ApiKey>;

export const CreatedApiKey = named(
  "CreatedApiKey",
  described(Type.Object({ ...FIELDS, text: Type.String() }), {
    ...TEXTS,
    text: "The key itself, which is shown only in this response",
  }),
  {
    description: "A new API key with its text",
    example: { ...KEY_EXAMPLE, text: "sk_EXAMPLE" },
  },
);

export const ApiKeyInput = named(
  "ApiKeyInput",
  described(
    Input({
      name: Type.String({ minLength: 1, maxLength: 100 }),
      kind: Type.Optional(Kind),
      origins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 20 })),
      expiresAt: Type.Optional(Nullable(Time)),
    }),
    {
      name: "A name by which people recognise the key",
      kind: "Kind of the key; default SECRET",
      origins: "Web origins such as https://shop.example, for a public key only; default: all",
      expiresAt: "From when on the key is refused; default: never",
    },
  ),
  { description: "An API key to create", example: { name: "shop" } },
);
export type ApiKeyInput = Static<typeof ApiKeyInput>;
