/**
 * POST /v1/verify    checks an address by its syntax, by lists and by DNS; sends no mail
 *
 * In this order: syntax, DNS, lists (docs/interface.md#verify). A temporary failure is reported in
 * `reasons`, but does not make an address invalid.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { described, describeOperations, imitated, named } from "../../http/documented.ts";
import { MirroredEnvelope, mirroredEnvelope, Nullable, withErrors } from "../../http/envelope.ts";
import { PLUNK } from "../../http/route-path.ts";
import { Input } from "../../http/validation.ts";
import { LONGEST_ADDRESS_TEXT, parseAddress } from "../../protocols/mime/address.ts";
import type { Noun } from "../module.ts";

/**
 * Only these rules make a request invalid (docs/interface.md#verify); other errors are in the
 * response.
 */
const VerifyInput = named(
  "VerifyInput",
  described(
    Input({ email: Type.String({ maxLength: LONGEST_ADDRESS_TEXT, format: "contains-at" }) }),
    { email: "The address to check" },
  ),
  { description: "An address to check", example: { email: "ada@example.com" } },
);

/** The result of a verification (docs/specification.md#s2.7 and docs/interface.md#verify). */
const Verification = named(
  "Verification",
  described(
    Type.Object({
      email: Type.String(),
      valid: Type.Boolean(),
      isDisposable: Type.Boolean(),
      isAlias: Type.Boolean(),
      isTypo: Type.Boolean(),
      isPlusAddressed: Type.Boolean(),
      isPersonalEmail: Type.Boolean(),
      domainExists: Type.Boolean(),
      hasWebsite: Type.Boolean(),
      hasMxRecords: Type.Boolean(),
      suggestedEmail: Nullable(Type.String()),
      reasons: Type.Array(Type.String()),
    }),
    {
      email: "The checked address; in its stored spelling if its syntax is valid",
      valid: "Whether the syntax is right and the domain can receive mail",
      isDisposable: "The domain belongs to a service for temporary addresses",
      isAlias: "The domain belongs to a forwarding service that hides the real address",
      isTypo: "The domain looks like a misspelt well-known domain",
      isPlusAddressed: "The part before the @ has a tag after a +",
      isPersonalEmail: "The domain belongs to a mail provider for the public",
      domainExists: "The domain exists in the DNS",
      hasWebsite: "The domain has an A or AAAA record; no website is requested",
      hasMxRecords: "The domain has MX records",
      suggestedEmail: "The address with the misspelt domain corrected; null if none is known",
      reasons: "The findings in words",
    },
  ),
  {
    description: "The findings about an address",
    example: {
      email: "ada@example.com",
      valid: true,
      isDisposable: false,
      isAlias: false,
      isTypo: false,
      isPlusAddressed: false,
      isPersonalEmail: false,
      domainExists: true,
      hasWebsite: true,
      hasMxRecords: true,
      suggestedEmail: null,
      reasons: [],
    },
  },
);
export type Verification = Static<typeof Verification>;

const DETAILS = describeOperations(
  { tag: "Verification" },
  {
    verifyAddress: {
      role: "VIEWER",
      scopes: ["CONTACTS"],
      isAudited: false,
      summary: "Verify an email address",
      description:
        "Checks the syntax, the DNS and lists of well-known domains; no mail is sent. The members " +
        "of `data` are repeated beside it in the response.",
    },
  },
);

export const verificationNoun: Noun = {
  name: "verification",
  routes: (app, admission) => [
    verificationRoute(app, admission, { path: "/v1/verify", detail: DETAILS.verifyAddress }),
    verificationRoute(app, admission, {
      path: `${PLUNK}/v1/verify`,
      detail: imitated("verifyAddress", "VIEWER", { isAudited: false }),
    }),
  ],
};

function verificationRoute(
  app: App,
  admission: Admission,
  { path, detail }: { path: string; detail: object },
) {
  return new Elysia({ name: `verification: ${path}` })
    .use(admission.secretKey)
    .post(path, async ({ body }) => mirroredEnvelope(await verifyAddress(app, body.email)), {
      body: limited(VerifyInput, BODY_LIMITS.settings),
      response: withErrors({ 200: MirroredEnvelope(Verification) }),
      detail,
    });
}

/** The DNS records of a domain; `unknown` if DNS did not respond in time. */
type Reachability = {
  existence: "exists" | "missing" | "unknown";
  hasAddress: boolean;
  mx: "records" | "null" | "none" | "unknown";
};

const UNKNOWN: Reachability = { existence: "unknown", hasAddress: false, mx: "unknown" };

/** Timeout of all DNS look-ups for one address together (docs/interface.md#verify). */
const LOOKUP_TIMEOUT_MS = 5000;

async function verifyAddress(app: App, email: string): Promise<Verification> {
  const parsed = parseAddress(email);
  if (!parsed.ok) return invalidSyntax(email, parsed.reason);
  return assess(parsed, await withTimeout(lookUpDomain(app, parsed.domain)));
}

async function lookUpDomain({ dns }: App, domain: string): Promise<Reachability> {
  const [mx, v4, v6] = await Promise.all([
    dns.resolve(domain, "MX"),
    dns.resolve(domain, "A"),
    dns.resolve(domain, "AAAA"),
  ]);
  const answers = [mx, v4, v6];
  const isMissing = answers.some((answer) => answer.kind === "nxdomain");
  const isKnown = answers.some((answer) => answer.kind !== "failed");
  return {
    existence: isMissing ? "missing" : isKnown ? "exists" : "unknown",
    hasAddress: v4.kind === "records" || v6.kind === "records",
    mx: mx.kind === "records" ? mxKind(mx.records) : mx.kind === "failed" ? "unknown" : "none",
  };
}

/** A single record with an empty name means that the domain accepts no mail (RFC 7505 §3). */
function mxKind(records: readonly { exchange: string }[]): "records" | "null" {
  const [first] = records;
  const isNull = records.length === 1 && (first?.exchange === "" || first?.exchange === ".");
  return isNull ? "null" : "records";
}

async function withTimeout(work: Promise<Reachability>): Promise<Reachability> {
  const { promise, resolve } = Promise.withResolvers<Reachability>();
  const timer = setTimeout(() => resolve(UNKNOWN), LOOKUP_TIMEOUT_MS);
  work.then(resolve, () => resolve(UNKNOWN));
  return promise.finally(() => clearTimeout(timer));
}

async function assess(
  { address: email, local, domain }: { address: string; local: string; domain: string },
  { existence, hasAddress, mx }: Reachability,
): Promise<Verification> {
  // Loaded at the first verification: the lists take 6 ms and 4 MiB.
  const { correctedDomain, isAliasDomain, isDisposableDomain, isPersonalDomain, LISTS_DATE } =
    await import("./lists.ts");
  const corrected = correctedDomain(domain);
  const flags = {
    isDisposable: isDisposableDomain(domain),
    isAlias: isAliasDomain(domain),
    isTypo: corrected !== null,
    isPlusAddressed: local.includes("+"),
    isPersonalEmail: isPersonalDomain(domain),
  };
  const canReceive = mx === "records" || mx === "unknown" || (mx === "none" && hasAddress);
  return {
    email,
    valid: existence !== "missing" && (canReceive || existence === "unknown"),
    ...flags,
    domainExists: existence !== "missing",
    hasWebsite: hasAddress,
    hasMxRecords: mx === "records",
    suggestedEmail: corrected === null ? null : `${local}@${corrected}`,
    reasons: [
      ...(existence === "missing" ? [`The domain ${domain} does not exist.`] : []),
      ...(mx === "null"
        ? [`The domain ${domain} declares that it accepts no mail (null MX).`]
        : []),
      ...(existence === "exists" && mx === "none" && !hasAddress
        ? [`The domain ${domain} has neither MX records nor an A or AAAA record.`]
        : []),
      ...(existence === "exists" && mx === "none" && hasAddress
        ? [`The domain ${domain} has no MX records; mail is sent to its A or AAAA record.`]
        : []),
      ...(mx === "unknown" ? ["DNS did not answer. The result may be different later."] : []),
      ...(corrected === null ? [] : [`Did you mean ${corrected}?`]),
      ...(flags.isDisposable
        ? [`The domain is a disposable-address service (list of ${LISTS_DATE}).`]
        : []),
      ...(flags.isAlias ? ["The address is an alias of a forwarding service."] : []),
      ...(flags.isPlusAddressed ? ["The local part has a +tag."] : []),
      ...(flags.isPersonalEmail
        ? [`The domain is a personal mail provider (list of ${LISTS_DATE}).`]
        : []),
    ],
  };
}

function invalidSyntax(email: string, reason: string): Verification {
  return {
    email,
    valid: false,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: false,
    isPersonalEmail: false,
    domainExists: false,
    hasWebsite: false,
    hasMxRecords: false,
    suggestedEmail: null,
    reasons: [`This is not an email address: ${reason}`],
  };
}
