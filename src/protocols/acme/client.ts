/**
 * A client of a certificate authority over ACME (RFC 8555), with the challenge HTTP-01 and renewal
 * information (RFC 9773). It stores nothing. In this order:
 *
 * 1. `newAccount` creates the account of the key, or finds it. Some authorities bind it to an account
 *    that one has with them (RFC 8555 §7.3.4).
 * 2. `newOrder` asks for a certificate for names. For each name whose control is not proven yet, the
 *    key authorization is published, and the authority fetches it over HTTP.
 * 3. `finalize` sends the certificate request; then the chain is downloaded.
 *
 * Each request is signed with a nonce that the authority gave. A refused nonce is replaced by the one
 * that comes with the refusal.
 */

import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
} from "node:crypto";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Clock } from "../../lib/clock.ts";
import { parseUrl } from "../../lib/url.ts";
import { certificateRequest } from "./certificate-request.ts";

/** Refused nonces are common at authorities with many servers, so many are tried. */
const MAX_NONCES = 40;
const MAX_BODY_BYTES = 262_144;
const REQUEST_LIMIT_MS = 20_000;
/** Times for which an authorization, or an order, is asked for its state. */
const MAX_POLLS = 60;
const POLL_MS = 2_000;
const MAX_POLL_MS = 20_000;
const MAX_RETRY_AFTER_MS = 7 * 24 * 60 * 60_000;

const Directory = Type.Object({
  newNonce: Type.String(),
  newAccount: Type.String(),
  newOrder: Type.String(),
  renewalInfo: Type.Optional(Type.String()),
  meta: Type.Optional(
    Type.Object({ caaIdentities: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })) }),
  ),
});
const Problem = Type.Object({
  type: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  subproblems: Type.Optional(
    Type.Array(
      Type.Object({
        detail: Type.Optional(Type.String()),
        identifier: Type.Optional(Type.Object({ value: Type.String() })),
      }),
    ),
  ),
});
const Order = Type.Object({
  status: Type.String(),
  authorizations: Type.Array(Type.String(), { maxItems: 100 }),
  finalize: Type.String(),
  certificate: Type.Optional(Type.String()),
  error: Type.Optional(Problem),
});
const Authorization = Type.Object({
  status: Type.String(),
  identifier: Type.Object({ value: Type.String() }),
  challenges: Type.Array(
    Type.Object({
      type: Type.String(),
      url: Type.String(),
      token: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_-]{1,200}$" })),
      error: Type.Optional(Problem),
    }),
    { maxItems: 100 },
  ),
});
const RenewalInfo = Type.Object({
  suggestedWindow: Type.Object({ start: Type.String(), end: Type.String() }),
});

type Problem = Static<typeof Problem>;
type Order = Static<typeof Order>;
type Authorization = Static<typeof Authorization>;

/** A refusal of the authority, in its own words, or an answer that is none of ACME. */
export class AcmeError extends Error {
  /** The last part of the type of the problem, such as `rateLimited`; empty if there is none. */
  readonly type: string;
  /** Time for which the authority wants no other request; null if it says nothing. */
  readonly retryAfterMs: number | null;

  constructor(message: string, type = "", retryAfterMs: number | null = null) {
    super(message);
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }
}

type IssuedCertificate = { cert: string; key: string };

type RenewalWindow = { startMs: number; endMs: number };

/** The identifier and the MAC key that an authority gives to bind accounts to one of its own. */
export type AccountBinding = { keyId: string; macKey: Uint8Array };

type Deps = {
  directoryUrl: string;
  /** Private key of the account (P-256), in PEM. */
  accountKey: string;
  /** Certificates (PEM) of the authority's own server, if the system does not trust it. */
  ca: string | null;
  binding: AccountBinding | null;
  /** Ends requests and waiting. */
  signal: AbortSignal;
  clock: Pick<Clock, "now" | "after">;
};

type Answer = { status: number; headers: Headers; text: string };

/** Makes the key of a new account, in PEM. */
export function generateAccountKey(): string {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  });
}

export function createAcmeClient(deps: Deps) {
  const { clock, signal } = deps;
  const privateKey = createPrivateKey(deps.accountKey);
  const { x, y } = createPublicKey(privateKey).export({ format: "jwk" });
  /** The members in the order that their digest needs (RFC 7638 §3). */
  const jwk = { crv: "P-256", kty: "EC", x, y };
  const thumbprint = createHash("sha256").update(JSON.stringify(jwk)).digest("base64url");
  let directory: Static<typeof Directory> | null = null;
  let account: string | null = null;
  let nonce: string | null = null;

  async function send(url: string, init: RequestInit): Promise<Answer> {
    if (parseUrl(url)?.protocol !== "https:") throw new AcmeError(`the CA names the URL ${url}`);
    const response = await fetch(url, {
      ...init,
      redirect: "error",
      ...(deps.ca === null ? {} : { tls: { ca: deps.ca } }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]),
    });
    nonce = response.headers.get("replay-nonce") ?? nonce;
    return { status: response.status, headers: response.headers, text: await readBody(response) };
  }

  /** Rejects when the work is ended. */
  function sleep(ms: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = clock.after(ms, resolve);
    const end = () => reject(new AcmeError("the work with the CA was ended"));
    signal.addEventListener("abort", end);
    return promise.finally(() => {
      cancel();
      signal.removeEventListener("abort", end);
    });
  }

  /** Returns the value of an answer; throws an AcmeError for a refusal of the CA. */
  function parseAnswer<T extends TSchema>(schema: T, answer: Answer): Static<T> {
    if (answer.status >= 400) throw refusalOf(answer, clock.now());
    const value = parseJson(answer.text);
    if (Value.Check(schema, value)) return value;
    throw new AcmeError(`the CA sent an answer (${answer.status}) that is none of ACME`);
  }

  async function readDirectory(): Promise<Static<typeof Directory>> {
    directory ??= parseAnswer(Directory, await send(deps.directoryUrl, {}));
    return directory;
  }

  async function takeNonce(): Promise<string> {
    if (nonce === null) await send((await readDirectory()).newNonce, { method: "HEAD" });
    const taken = nonce;
    nonce = null;
    if (taken === null) throw new AcmeError("the CA gives no nonce");
    return taken;
  }

  /** Sends a signed request; `payload` undefined is a POST-as-GET (RFC 8555 §6.3). */
  async function post(url: string, payload?: unknown): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const header = { alg: "ES256", nonce: await takeNonce(), url };
      const identity = account === null ? { jwk } : { kid: account };
      const headerText = base64url(JSON.stringify({ ...header, ...identity }));
      const payloadText = payload === undefined ? "" : base64url(JSON.stringify(payload));
      const signature = sign("sha256", Buffer.from(`${headerText}.${payloadText}`), {
        key: privateKey,
        dsaEncoding: "ieee-p1363",
      }).toString("base64url");
      const answer = await send(url, {
        method: "POST",
        headers: { "Content-Type": "application/jose+json" },
        body: JSON.stringify({ protected: headerText, payload: payloadText, signature }),
      });
      if (answer.status < 400) return answer;
      const refusal = refusalOf(answer, clock.now());
      if (refusal.type !== "badNonce" || tries >= MAX_NONCES) throw refusal;
    }
  }

  async function openAccount(url: string): Promise<string> {
    if (deps.binding === null) {
      return locationOf(await post(url, { termsOfServiceAgreed: true }));
    }
    try {
      return locationOf(await post(url, { onlyReturnExisting: true }));
    } catch (error) {
      if (!(error instanceof AcmeError) || error.type !== "accountDoesNotExist") throw error;
    }
    const externalAccountBinding = bind(deps.binding, url);
    return locationOf(await post(url, { termsOfServiceAgreed: true, externalAccountBinding }));
  }

  function bind({ keyId, macKey }: AccountBinding, url: string) {
    const headerText = base64url(JSON.stringify({ alg: "HS256", kid: keyId, url }));
    const payload = base64url(JSON.stringify(jwk));
    const mac = createHmac("sha256", macKey).update(`${headerText}.${payload}`);
    return { protected: headerText, payload, signature: mac.digest("base64url") };
  }

  /** Asks for the state of an object until it is settled. */
  async function poll<T extends TSchema & { static: { status: string } }>(
    schema: T,
    url: string,
    isSettled: (status: string) => boolean,
  ): Promise<Static<T>> {
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const answer = await post(url);
      const state = parseAnswer(schema, answer);
      if (isSettled(state.status)) return state;
      await sleep(Math.min(retryAfterMs(answer.headers, clock.now()) ?? POLL_MS, MAX_POLL_MS));
    }
    throw new AcmeError(`the CA did not finish ${new URL(url).pathname} in time`);
  }

  async function prove(url: string, publish: Publish): Promise<void> {
    const authorization = parseAnswer(Authorization, await post(url));
    if (authorization.status === "valid") return;
    const name = authorization.identifier.value;
    const challenge = authorization.challenges.find(({ type }) => type === "http-01");
    if (challenge?.token === undefined) {
      throw new AcmeError(`the CA does not offer the challenge http-01 for ${name}`);
    }
    const withdraw = publish(challenge.token, `${challenge.token}.${thumbprint}`);
    try {
      await post(challenge.url, {});
      const settled = await poll(Authorization, url, (status) => status !== "pending");
      if (settled.status !== "valid") throw new AcmeError(`${name}: ${whyInvalid(settled)}`);
    } finally {
      withdraw();
    }
  }

  return {
    /**
     * Returns a certificate for these names with a new key. `replaces` is the identifier of the one
     * that it renews. Rejects with AcmeError, or with the error of the connection.
     */
    async issue(
      names: readonly string[],
      options: { publish: Publish; replaces: string | null },
    ): Promise<IssuedCertificate> {
      const { newAccount, newOrder, renewalInfo } = await readDirectory();
      account ??= await openAccount(newAccount);
      const identifiers = names.map((value) => ({ type: "dns", value }));
      const { replaces } = options;
      const isNamed = replaces !== null && renewalInfo !== undefined;
      const created = await (isNamed
        ? post(newOrder, { identifiers, replaces }).catch((error: unknown) => {
            // An earlier order has replaced it, and its certificate was not received.
            const isReplaced = error instanceof AcmeError && error.type === "alreadyReplaced";
            if (!isReplaced) throw error;
            return post(newOrder, { identifiers });
          })
        : post(newOrder, { identifiers }));
      const url = locationOf(created);
      const order = parseAnswer(Order, created);
      for (const authorization of order.authorizations) await prove(authorization, options.publish);
      await poll(Order, url, (status) => status !== "pending");
      const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
      await post(order.finalize, { csr: certificateRequest(names, keys) });
      const isFinal = (status: string) => status === "valid" || status === "invalid";
      const issued = await poll(Order, url, isFinal);
      if (issued.certificate === undefined) throw new AcmeError(whyRefused(issued));
      const { text: cert } = await post(issued.certificate);
      return { cert, key: keys.privateKey.export({ type: "pkcs8", format: "pem" }) };
    },

    /** The names by which CAA records allow this authority (RFC 8555 §9.7.6); empty if it says none. */
    async caaIdentities(): Promise<readonly string[]> {
      return (await readDirectory()).meta?.caaIdentities ?? [];
    },

    /** The time at which the authority wants a certificate to be renewed; null if it tells none. */
    async renewalWindow(id: string): Promise<RenewalWindow | null> {
      const { renewalInfo } = await readDirectory();
      if (renewalInfo === undefined) return null;
      const answer = await send(`${renewalInfo}/${id}`, {});
      const { start, end } = parseAnswer(RenewalInfo, answer).suggestedWindow;
      const [startMs, endMs] = [Date.parse(start), Date.parse(end)];
      return startMs <= endMs ? { startMs, endMs } : null;
    },
  };
}

/** Makes a key authorization readable at the path of its token, until the returned function is called. */
export type Publish = (token: string, keyAuthorization: string) => () => void;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller refuses it, as it refuses other JSON.
  }
}

function refusalOf({ status, headers, text }: Answer, nowMs: number): AcmeError {
  const parsed = parseJson(text);
  const problem: Problem = Value.Check(Problem, parsed) ? parsed : {};
  const type = problem.type?.split(":").at(-1) ?? "";
  const message = `the CA answered ${status}: ${describeProblem(problem)}`;
  return new AcmeError(message, type, retryAfterMs(headers, nowMs));
}

function describeProblem({ type = "no reason", detail, subproblems = [] }: Problem): string {
  const parts = subproblems.map(
    (each) => `${each.identifier?.value ?? "a name"}: ${each.detail ?? "no reason"}`,
  );
  return [detail ?? type, ...parts].join("; ").slice(0, 1_000);
}

function whyInvalid({ status, challenges }: Authorization): string {
  const error = challenges.find((challenge) => challenge.error !== undefined)?.error;
  return error === undefined ? `the authorization is ${status}` : describeProblem(error);
}

function whyRefused({ error, status }: Order): string {
  return error === undefined ? `the order is ${status}` : describeProblem(error);
}

function locationOf({ headers }: Answer): string {
  const location = headers.get("location");
  if (location === null) throw new AcmeError("the CA names no URL of what it created");
  return location;
}

/** Reads Retry-After, in seconds or as a date. */
function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, Math.min(ms, MAX_RETRY_AFTER_MS));
}

async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > MAX_BODY_BYTES) throw new AcmeError("the CA sent too long an answer");
  }
  return text;
}

function base64url(text: string): string {
  return Buffer.from(text).toString("base64url");
}
