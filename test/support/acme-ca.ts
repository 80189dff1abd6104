/**
 * A certificate authority over ACME for tests (RFC 8555): it checks nonces and signatures, reads the key
 * authorization over HTTP as a real one does, and signs with a test authority.
 */

import { createHash, createHmac, createPublicKey, randomUUID, verify } from "node:crypto";
import { makeCertificate } from "./tls.ts";
import { stringAt, valueAt } from "./json.ts";

/** The beginning of a public key on P-256 in DER; 65 octets follow. */
const P256_KEY = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");
const P256_KEY_BYTES = P256_KEY.length + 65;

/** The public key of an account on P-256. */
type PublicKey = { kty: string; crv: string; x: string; y: string };

type State = {
  /** Nonces that are refused although they are right. */
  refusedNonces: number;
  /** The answer to each new order, if it is refused. */
  refusal: { status: number; detail: string; retryAfter?: string } | null;
  window: { start: string; end: string } | null;
  /** The names of the CA in CAA records. */
  caaIdentities: readonly string[];
  /** The accounts of the CA to which ACME accounts must be bound; null if they need not be. */
  binding: { keyId: string; macKey: Uint8Array } | null;
};

export type AcmeCa = ReturnType<typeof startAcmeCa>;

export function startAcmeCa(options: {
  /** The address at which the names are reachable over HTTP. */
  httpUrl: () => URL;
  now: () => number;
  lifeMs: number;
}) {
  const own = makeCertificate(["localhost", "127.0.0.1"]);
  const nonces = new Set<string>();
  const keys = new Map<string, PublicKey>();
  const orders: { names: string[]; replaces: string | null; isProven: boolean; chain: string }[] =
    [];
  const state: State = {
    refusedNonces: 0,
    refusal: null,
    window: null,
    caaIdentities: [],
    binding: null,
  };

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: own.cert, key: own.key },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const answer = await (request.method === "POST" ? post(request, pathname) : get(pathname));
      const nonce = randomUUID();
      nonces.add(nonce);
      answer.headers.set("Replay-Nonce", nonce);
      return answer;
    },
  });
  const at = (path: string) => new URL(path, server.url).href;

  function get(path: string): Response {
    if (path.startsWith("/renewal/") && state.window !== null) {
      return Response.json({ suggestedWindow: state.window });
    }
    if (path !== "/directory") return new Response(null);
    const urls = { newNonce: at("/nonce"), newAccount: at("/account"), newOrder: at("/order") };
    const { caaIdentities } = state;
    return Response.json({ ...urls, renewalInfo: at("/renewal"), meta: { caaIdentities } });
  }

  async function post(request: Request, path: string): Promise<Response> {
    const body: unknown = await request.json();
    const header: unknown = JSON.parse(decode(stringAt(body, "protected")));
    if (!nonces.delete(stringAt(header, "nonce")) || state.refusedNonces-- > 0) {
      return problem(400, "badNonce", "the nonce is not known");
    }
    const account = path === "/account" ? "" : stringAt(header, "kid");
    const jwk = path === "/account" ? readKey(header) : keys.get(account);
    if (jwk === undefined || stringAt(header, "url") !== request.url || !isSigned(body, jwk)) {
      return problem(401, "unauthorized", "the request is not signed by the account");
    }
    const text = decode(stringAt(body, "payload"));
    return route(path, text === "" ? null : JSON.parse(text), jwk);
  }

  function route(path: string, payload: unknown, jwk: PublicKey): Response | Promise<Response> {
    if (path === "/account") return newAccount(payload, jwk);
    if (path === "/order") return newOrder(payload);
    const [, kind, id] = path.split("/");
    const order = orders[Number(id)];
    if (order === undefined) return problem(404, "malformed", "there is no such object");
    if (kind === "challenge") return prove(order, Number(id), jwk);
    if (kind === "authorization") return Response.json(authorization(Number(id)));
    if (kind === "finalize") order.chain = issue(order.names, stringAt(payload, "csr"));
    return kind === "certificate" ? new Response(order.chain) : orderAnswer(Number(id));
  }

  function newAccount(payload: unknown, jwk: PublicKey): Response {
    const location = at(`/account/${thumbprintOf(jwk)}`);
    const headers = { Location: location };
    if (keys.has(location)) return Response.json({ status: "valid" }, { headers });
    if (valueAt(payload, "onlyReturnExisting") === true) {
      return problem(400, "accountDoesNotExist", "there is no account with this key");
    }
    if (state.binding !== null && !isBound(payload, jwk, state.binding)) {
      return problem(403, "externalAccountRequired", "the account is bound to none of ours");
    }
    keys.set(location, jwk);
    return Response.json({ status: "valid" }, { status: 201, headers });
  }

  function isBound(payload: unknown, jwk: PublicKey, binding: NonNullable<State["binding"]>) {
    const bound = valueAt(payload, "externalAccountBinding");
    if (bound === undefined) return false;
    const header: unknown = JSON.parse(decode(stringAt(bound, "protected")));
    const text = `${stringAt(bound, "protected")}.${stringAt(bound, "payload")}`;
    const mac = createHmac("sha256", binding.macKey).update(text).digest("base64url");
    const { crv, kty, x, y } = jwk;
    return (
      decode(stringAt(bound, "payload")) === JSON.stringify({ crv, kty, x, y }) &&
      stringAt(header, "alg") === "HS256" &&
      stringAt(header, "kid") === binding.keyId &&
      stringAt(header, "url") === at("/account") &&
      stringAt(bound, "signature") === mac
    );
  }

  function newOrder(payload: unknown): Response {
    if (state.refusal !== null) {
      const { status, detail, retryAfter } = state.refusal;
      const headers = retryAfter === undefined ? {} : { "Retry-After": retryAfter };
      return problem(status, "rateLimited", detail, headers);
    }
    const identifiers = valueAt(payload, "identifiers");
    const names = Array.isArray(identifiers)
      ? identifiers.map((each) => stringAt(each, "value"))
      : [];
    const replaces = valueAt(payload, "replaces");
    orders.push({
      names,
      replaces: typeof replaces === "string" ? replaces : null,
      isProven: false,
      chain: "",
    });
    return orderAnswer(orders.length - 1);
  }

  function orderAnswer(id: number): Response {
    const order = orders[id];
    const proven = order?.isProven === true ? "ready" : "pending";
    const status = order?.chain === "" ? proven : "valid";
    const urls = { finalize: at(`/finalize/${id}`), authorizations: [at(`/authorization/${id}`)] };
    const certificate = status === "valid" ? { certificate: at(`/certificate/${id}`) } : {};
    const headers = { Location: at(`/orders/${id}`) };
    return Response.json({ status, ...urls, ...certificate }, { headers });
  }

  function authorization(id: number) {
    const order = orders[id];
    return {
      status: order?.isProven === true ? "valid" : "pending",
      identifier: { type: "dns", value: order?.names[0] },
      challenges: [{ type: "http-01", url: at(`/challenge/${id}`), token: `token-${id}` }],
    };
  }

  async function prove(
    order: { isProven: boolean },
    id: number,
    jwk: PublicKey,
  ): Promise<Response> {
    const url = new URL(`/.well-known/acme-challenge/token-${id}`, options.httpUrl());
    const answer = await (await fetch(url)).text();
    order.isProven = answer === `token-${id}.${thumbprintOf(jwk)}`;
    return Response.json({ status: "processing" });
  }

  function issue(names: readonly string[], csr: string): string {
    const der = Buffer.from(csr, "base64url");
    const begin = der.indexOf(P256_KEY);
    const spki = der.subarray(begin, begin + P256_KEY_BYTES);
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
    const validFrom = new Date(options.now());
    const validTo = new Date(options.now() + options.lifeMs);
    return makeCertificate(names, { publicKey, validFrom, validTo }).cert;
  }

  return {
    directory: at("/directory"),
    /** The certificate (PEM) with which its own server is verified. */
    ca: own.ca,
    orders,
    state,
    stop: () => server.stop(true),
  };
}

const decode = (text: string) => Buffer.from(text, "base64url").toString();

function readKey(header: unknown): PublicKey {
  const [x, y] = [stringAt(header, "jwk.x"), stringAt(header, "jwk.y")];
  return { kty: "EC", crv: "P-256", x, y };
}

function isSigned(body: unknown, jwk: PublicKey): boolean {
  const text = `${stringAt(body, "protected")}.${stringAt(body, "payload")}`;
  const key = {
    key: createPublicKey({ key: jwk, format: "jwk" }),
    dsaEncoding: "ieee-p1363" as const,
  };
  return verify(
    "sha256",
    Buffer.from(text),
    key,
    Buffer.from(stringAt(body, "signature"), "base64url"),
  );
}

function thumbprintOf({ crv, kty, x, y }: PublicKey): string {
  return createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
}

function problem(status: number, type: string, detail: string, headers = {}): Response {
  return Response.json({ type: `urn:ietf:params:acme:error:${type}`, detail }, { status, headers });
}
