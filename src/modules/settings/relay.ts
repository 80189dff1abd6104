/** The relay of the installation: its parts as owners send them, and a test of it with a real session. */

import { SETTINGS } from "../../config/settings.ts";
import type { App } from "../../core/app.ts";
import { rateExceeded } from "../../http/admission-errors.ts";
import { mailboxIn } from "../../http/formats.ts";
import { slidingWindow } from "../../http/rate-limit.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import { type RelayTestResult, testRelay } from "../../outbox/transports/relay-test.ts";
import { signMessage } from "../../protocols/dkim/sign.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { Mailbox } from "../../protocols/mime/mailbox.ts";
import { composeMessage } from "../../protocols/mime/message.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import { describeRelay, isSignedThere } from "../../protocols/smtp/known-relays.ts";
import {
  formatRelayUrl,
  isRelayHost,
  parseRelayUrl,
  type Relay,
} from "../../protocols/smtp/relay-url.ts";
import type { MailObject } from "../../protocols/smtp/stream.ts";
import { findInAllProjects } from "../domains/domains.ts";
import { readSigner } from "../domains/keys.ts";
import { listProjects } from "../projects.ts";
import type { InstallationSettings, RelayInput, RelayTest, RelayTestInput } from "./model.ts";

export function presentRelay(relay: Relay | null): InstallationSettings["relay"] {
  if (relay === null) return null;
  const { host, port, tls, user = null, password = "", sign = null } = relay;
  return { host, port, tls, user, hasPassword: password !== "", sign };
}

/**
 * The relay of a request. A password that is left out is that of `known`, but only for the same host
 * and user: otherwise it could be sent to a server that is not the relay. Throws 422.
 */
export function relayFrom(input: RelayInput, known: Relay | null): Relay {
  const { host, port, tls, sign } = input;
  if (!isRelayHost(host)) {
    throw fieldError(
      "relay.host",
      "invalid_format",
      "must be a name such as smtp.example.com, or an IP address",
    );
  }
  const user = input.user ?? undefined;
  const isKnown = known !== null && isSameHost(known.host, host) && known.user === user;
  const password = input.password ?? (isKnown ? known.password : undefined);
  if (user !== undefined && password === undefined) {
    throw fieldError("relay.password", "required", "is required for another host or user");
  }
  if (user === undefined && input.password !== undefined) {
    throw fieldError("relay.user", "required", "is required with a password");
  }
  const login = user === undefined ? {} : { user, password: password ?? "" };
  const relay = { host, port, tls, ...login, ...(typeof sign === "boolean" && { sign }) };
  const parsed = parseRelayUrl(formatRelayUrl(relay));
  if (parsed.ok) return parsed.relay;
  const field = parsed.message.includes("host") ? "relay.host" : "relay";
  throw fieldError(field, "invalid_value", parsed.message);
}

const isSameHost = (known: string, given: string): boolean => known === given.toLowerCase();

/** Tests of all owners in a minute. Each takes at most 35 seconds. */
const TESTS_PER_MINUTE = 10;
const MAX_CONCURRENT = 2;

const limits = perApp(({ clock }: App) => ({
  running: 0,
  perMinute: slidingWindow({
    limit: TESTS_PER_MINUTE,
    windowMs: 60_000,
    now: clock.elapsed,
    maxKeys: 1,
  }),
}));

/** Opens a session with any host, since a relay on the same machine or in its network is usual. */
export async function runRelayTest(app: App, { relay, to }: RelayTestInput): Promise<RelayTest> {
  const { relayUrl, hostname } = app.config;
  const tested = relay === undefined ? relayUrl : relayFrom(relay, relayUrl);
  if (tested === null) throw fieldError("relay", "required", "is required: there is none yet");
  const mail = to === undefined ? null : await composeTestMail(app, tested, mailboxIn(to).address);
  const state = limits(app);
  if (state.running >= MAX_CONCURRENT) throw tooManyTests();
  const { isAllowed, resetSeconds } = state.perMinute.take("all");
  if (!isAllowed) throw rateExceeded(resetSeconds);
  state.running++;
  try {
    return presentTest(tested, mail, await testRelay({ relay: tested, hostname, mail }));
  } finally {
    state.running--;
  }
}

function tooManyTests(): AppError {
  return new AppError(409, "CONFLICT", "Other tests of a relay are under way.", {
    suggestion: "Wait until they have ended, at most half a minute.",
  });
}

function presentTest(relay: Relay, mail: MailObject | null, result: RelayTestResult): RelayTest {
  const { problem, conversation, failedStep, isAuthenticated, isMailAccepted } = result;
  const { signing, limit, reports, needs } = describeRelay(relay);
  return {
    problem,
    steps: conversation.steps.map((step, i) => ({ ...step, isFailed: i === failedStep })),
    tls: conversation.tls?.version ?? null,
    isAuthenticated,
    mail: mail && { ...mail.envelope, isAccepted: isMailAccepted },
    notes: [signing, limit, reports, needs].filter((note) => note !== ""),
  };
}

/** Signed as other mail that goes through this relay. */
async function composeTestMail(app: App, relay: Relay, to: string): Promise<MailObject> {
  const from = findTestSender(app);
  const now = app.clock.now();
  const way = `${relay.host}:${relay.port}`;
  const composed = composeMessage({
    from,
    to: { address: to, name: null },
    replyTo: null,
    subject: "Test of the relay",
    html: `<p>This mail came through the relay ${Bun.escapeHTML(way)}. It works.</p>`,
    text: `This mail came through the relay ${way}. It works.\n`,
    headers: [["Auto-Submitted", "auto-generated"]],
    attachments: [],
    messageId: messageIdOf(newId(now), from.address),
    date: new Date(now),
  });
  if (!composed.ok) throw fieldError("to", "invalid_value", composed.reason);
  const [domain] = isSignedThere(relay) ? [] : findInAllProjects(app, domainOf(from.address));
  const signer = domain === undefined ? null : readSigner(app, domain);
  const message =
    signer === null ? composed.message : await signMessage(composed.message, signer, new Date(now));
  return { envelope: { from: from.address, to }, message };
}

/** The system sender, or the default sender of the first project that has one. */
function findTestSender(app: App): Mailbox {
  if (app.config.systemFrom !== null) return app.config.systemFrom;
  for (const { fromAddress, fromName } of listProjects(app)) {
    if (fromAddress !== null) return { address: fromAddress, name: fromName };
  }
  throw fieldError(
    "to",
    "invalid_value",
    `needs a sender: set ${SETTINGS.systemFrom.flag}, or the default sender of a project`,
  );
}
