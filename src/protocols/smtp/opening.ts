/**
 * Opens a session that is ready for mail, as a list of steps:
 *
 *   connect → (tls) → greeting → EHLO or HELO → (STARTTLS → tls → EHLO) → (AUTH)
 *
 * Each step returns null or its failure; the first failure ends the opening.
 */

import type { TlsInfo } from "./conversation.ts";
import { authenticate, type Credentials } from "./auth.ts";
import { connect, type Endpoint } from "./connect.ts";
import type { Dialogue } from "./dialogue.ts";
import { NO_EXTENSIONS, readExtensions, type Extensions } from "./extensions.ts";
import type { Failure, Fault } from "./failure.ts";
import type { Reply } from "./reply.ts";

/** `opportunistic` means STARTTLS if offered, otherwise cleartext (docs/delivery.md#T1). */
export type TlsPolicy =
  | { mode: "none" }
  | {
      mode: "implicit" | "starttls" | "opportunistic";
      /** If true, a certificate that is not valid for the host ends the session. */
      verify: boolean;
      /** PEM; trusted instead of the built-in authorities. */
      ca?: string | undefined;
    };

/** The host is also the name for SNI and for the certificate. */
export type Route = Endpoint & {
  /** Our name in EHLO. */
  hostname: string;
  /** While this is true, the greeting must come within `hurriedGreetingMs`. */
  isHurried?: (() => boolean) | undefined;
  tls: TlsPolicy;
  /** Sent after TLS only, unless `tls.mode` is "none". */
  credentials?: Credentials | undefined;
};

/** Codes that refuse EHLO by a server that supports only HELO (RFC 5321 §4.1.4). */
const WITHOUT_EHLO: ReadonlySet<number> = new Set([500, 502, 504]);

export async function openSession(dialogue: Dialogue, route: Route): Promise<Extensions | Failure> {
  const opening = new Opening(dialogue, route);
  return (await opening.run()) ?? opening.extensions;
}

class Opening {
  extensions: Extensions = NO_EXTENSIONS;
  readonly #dialogue: Dialogue;
  readonly #route: Route;

  constructor(dialogue: Dialogue, route: Route) {
    this.#dialogue = dialogue;
    this.#route = route;
  }

  async run(): Promise<Failure | null> {
    for (const step of this.#steps()) {
      const failure = await step();
      if (failure !== null) return failure;
    }
    return null;
  }

  #steps(): (() => Promise<Failure | null>)[] {
    const isImplicit = this.#route.tls.mode === "implicit";
    return [
      () => connect(this.#dialogue, this.#route),
      ...(isImplicit ? [() => this.#encrypt()] : []),
      () => this.#greet(),
      () => this.#sendEhlo(),
      ...(isImplicit ? [] : [() => this.#startTls()]),
      () => this.#authenticate(),
    ];
  }

  async #encrypt(): Promise<Failure | null> {
    const { tls, host } = this.#route;
    if (tls.mode === "none") return null;
    this.#dialogue.startStep();
    const { wire, timeouts, conversation } = this.#dialogue;
    const info = await wire.secure({ host, verify: tls.verify, ca: tls.ca }, timeouts.tlsMs);
    if ("kind" in info) return this.#dialogue.fail("tls", info);
    conversation.tls = info;
    this.#dialogue.note("tls", null, describeTls(info));
    return null;
  }

  async #greet(): Promise<Failure | null> {
    this.#dialogue.startStep();
    const timeoutMs = this.#dialogue.timeouts.greetingMs;
    const stopWatching = this.#watchGreeting();
    const greeting = await this.#dialogue.receive({ step: "greeting", command: null, timeoutMs });
    stopWatching();
    return isSuccess(greeting) ? null : { step: "greeting", cause: greeting };
  }

  /** Checks repeatedly whether the session is hurried, because that may change while it waits. */
  #watchGreeting(): () => void {
    const { isHurried } = this.#route;
    if (isHurried === undefined) return () => {};
    const { wire, timeouts, clock } = this.#dialogue;
    const waitMs = timeouts.hurriedGreetingMs;
    const check = (): void => {
      if (isHurried())
        wire.close({ kind: "timeout", message: `no answer within ${waitMs / 1_000} s` });
      else cancel = clock.after(waitMs, check);
    };
    let cancel = clock.after(waitMs, check);
    return () => cancel();
  }

  async #sendEhlo(): Promise<Failure | null> {
    const ehlo = await this.#ask("ehlo", `EHLO ${this.#route.hostname}`);
    if (ehlo.kind !== "reply") return { step: "ehlo", cause: ehlo };
    this.extensions = isSuccess(ehlo) ? readExtensions(ehlo) : NO_EXTENSIONS;
    if (isSuccess(ehlo)) return null;
    if (!WITHOUT_EHLO.has(ehlo.code)) return { step: "ehlo", cause: ehlo };
    const helo = await this.#ask("helo", `HELO ${this.#route.hostname}`);
    return isSuccess(helo) ? null : { step: "helo", cause: helo };
  }

  async #startTls(): Promise<Failure | null> {
    const { mode } = this.#route.tls;
    if (mode === "none") return null;
    if (!this.extensions.startTls) {
      if (mode === "opportunistic") return null;
      this.#dialogue.startStep();
      const message = "the server does not offer STARTTLS";
      return this.#dialogue.fail("starttls", { kind: "tls", message });
    }
    const reply = await this.#ask("starttls", "STARTTLS");
    if (!isSuccess(reply)) return { step: "starttls", cause: reply };
    // Everything received in cleartext is discarded, including the extensions (RFC 3207 §4.2).
    return (await this.#encrypt()) ?? (await this.#sendEhlo());
  }

  async #authenticate(): Promise<Failure | null> {
    const { credentials, tls } = this.#route;
    if (credentials === undefined) return null;
    if (tls.mode !== "none" && this.#dialogue.conversation.tls === null) {
      this.#dialogue.startStep();
      const message = "no credentials without TLS";
      return this.#dialogue.fail("auth", { kind: "auth", message });
    }
    return authenticate(this.#dialogue, this.extensions, credentials);
  }

  #ask(step: "ehlo" | "helo" | "starttls", command: string): Promise<Reply | Fault> {
    return this.#dialogue.ask({ step, command, timeoutMs: this.#dialogue.timeouts.commandMs });
  }
}

function isSuccess(answer: Reply | Fault): boolean {
  return answer.kind === "reply" && answer.code >= 200 && answer.code < 300;
}

function describeTls(info: TlsInfo): string {
  return `${info.version} ${info.cipher}, certificate ${info.verified ? "" : "not "}verified`;
}
