/**
 * Accepts up to 100 different mails in one request (`POST /v1/send/batch`, docs/interface.md#batch). Each
 * is checked as a request of its own. Then
 *
 * - ALL_OR_NOTHING: all are stored in one change, or the first refusals are answered and none is stored;
 * - EACH: each is stored in a change of its own, and the answer has the outcome of each. With an
 *   Idempotency-Key each also has a key of its own, so that a batch which was interrupted by a crash, or
 *   of which a part was refused, and is repeated makes no mail twice.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { App } from "../../core/app.ts";
import type { Change } from "../../db/writer.ts";
import type { Project } from "../../http/admission.ts";
import { described, named, reference } from "../../http/documented.ts";
import { FieldFault, Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { idempotencyOf } from "../../http/idempotency.ts";
import {
  ensureChecks,
  fieldErrors,
  Input,
  isRecord,
  MAX_ERRORS,
  OneOf,
  withChecks,
} from "../../http/validation.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError, type FieldError, validationError } from "../../lib/errors.ts";
import { wakeSending } from "../../outbox/enqueue.ts";
import { ensureQueue, runWithinStorage } from "../quotas.ts";
import type { Accept, Accepted } from "./accept.ts";
import { ensureSendable, SendInput, SentEmail } from "./model.ts";

export const BATCH_PATH = "/v1/send/batch";
const MAX_MAILS = 100;
/** Most recipients of all mails together, as in one request of POST /v1/send. */
const MAX_RECIPIENTS = 1000;
/** Longest time to check mails without yielding to the event loop. */
const YIELD_AFTER_MS = 20;
/** Mails that are not checked within this time are refused, because a client does not wait longer. */
const LIMIT_MS = 20_000;

export const BatchInput = named(
  "BatchInput",
  withChecks(
    described(
      Input({
        mails: Type.Array(Type.Any(reference("SendInput", "A mail, as in `POST /v1/send`")), {
          minItems: 1,
          maxItems: MAX_MAILS,
        }),
        mode: Type.Optional(OneOf(["ALL_OR_NOTHING", "EACH"])),
      }),
      {
        mails: "Up to 100 mails, with up to 1,000 recipients together",
        mode:
          "ALL_OR_NOTHING, the default: if one mail is refused, the request is, and nothing is sent; " +
          "EACH: the answer has the outcome of each mail",
      },
    ),
    ({ mails }) => recipientErrors(mails),
  ),
  {
    description: "Several different mails",
    example: {
      mails: [
        {
          to: "ada@example.com",
          from: "hello@acme.example",
          subject: "Your order 1001",
          body: "<p>Thank you, Ada.</p>",
        },
      ],
      mode: "ALL_OR_NOTHING",
    },
  },
);
type BatchInput = Static<typeof BatchInput>;

const Refusal = named(
  "MailRefusal",
  described(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      statusCode: Type.Integer(),
      errors: Type.Optional(Type.Array(FieldFault)),
      suggestion: Nullable(Type.String()),
    }),
    {
      code: "Machine-readable code, as in the error of POST /v1/send",
      message: "The reason, in one sentence for people",
      statusCode: "The status that POST /v1/send would have answered",
      errors: "The faulty fields of the mail; only in a 422",
      suggestion: "How to fix it; null if the fields say it",
    },
  ),
  { description: "Why a mail of a batch was not accepted" },
);

const Outcome = named(
  "BatchOutcome",
  described(
    Type.Object({
      accepted: Type.Boolean(),
      emails: Type.Array(SentEmail),
      error: Nullable(Refusal),
    }),
    {
      accepted: "Whether the mail was accepted",
      emails: "One entry per recipient, as in the answer of POST /v1/send; empty if it was refused",
      error: "Why it was refused; null if it was accepted",
    },
  ),
  { description: "What became of one mail of a batch" },
);
type Outcome = Static<typeof Outcome>;

export const BatchResult = named(
  "BatchResult",
  described(
    Type.Object({
      results: Type.Array(Outcome),
      timestamp: Type.String({ format: "date-time" }),
    }),
    {
      results: "One entry per mail, in the order of the request",
      timestamp: "When the mails were accepted",
    },
  ),
  {
    description: "What became of the mails of a batch",
    example: {
      results: [
        {
          accepted: true,
          emails: [
            {
              contact: { id: EXAMPLE.contactId, email: "ada@example.com" },
              email: EXAMPLE.emailId,
            },
          ],
          error: null,
        },
      ],
      timestamp: EXAMPLE.createdAt,
    },
  },
);
type BatchResult = Static<typeof BatchResult>;

export const hasRefusal = ({ results }: Pick<BatchResult, "results">): boolean =>
  results.some(({ accepted }) => !accepted);

type BatchContext = {
  project: Project;
  userEmail: string | null;
  /** The domains to which the key is bound; empty for all of the project. */
  senderDomains: readonly string[];
  isLenient: boolean;
  reserveCopies: () => Promise<void>;
  /** The path of the route: each has keys of its own. */
  path: string;
  /** The Idempotency-Key of the request; null without one. */
  key: string | null;
  /**
   * The mails as the request has them and their places there, if they were translated: these tell a
   * repeated mail, whose translation may differ, such as the time of `in 1 hour`.
   */
  asked?: readonly { place: number; mail: unknown }[];
  /** The name of the field of a mail in the request; `mails.0` for the first one if absent. */
  fieldOf?: (n: number) => string;
};

/** Prepares the change that ends the request. In the mode EACH, the mails are stored before it. */
export async function prepareBatch(
  app: App,
  accept: Accept,
  input: BatchInput,
  context: BatchContext,
): Promise<Change<BatchResult>> {
  ensureChecks(BatchInput, input);
  const { mails, mode = "ALL_OR_NOTHING" } = input;
  const check = createCheck(app, accept, context);
  const timestamp = () => isoTime(app.clock.now());
  if (mode === "EACH") {
    const results = await acceptEach(app, mails, { check, context });
    return () => ({ results, timestamp: timestamp() });
  }
  const { fieldOf = (n: number) => `mails.${n}` } = context;
  const changes = await checkAll(mails, check, fieldOf);
  return () => {
    ensureQueue(app, context.project.seq, countRecipients(mails));
    const results = changes.map((change, n) => {
      try {
        return acceptedOutcome(change());
      } catch (error) {
        throw refusalAt(fieldOf(n), error);
      }
    });
    wakeSending(app);
    return { results, timestamp: timestamp() };
  };
}

type Check = (mail: unknown) => Promise<Change<Accepted>>;

/** Returns the function that checks one mail. All mails of a request share its time and its memory. */
function createCheck({ clock }: App, accept: Accept, context: BatchContext): Check {
  const { project, userEmail, senderDomains, isLenient } = context;
  const copied = { bytes: 0 };
  let reserved: Promise<void> | null = null;
  const reserveCopies = () => (reserved ??= context.reserveCopies());
  const beganMs = clock.elapsed();
  let yieldedMs = beganMs;

  return async (mail) => {
    const nowMs = clock.elapsed();
    if (nowMs - beganMs > LIMIT_MS) throw tooSlow();
    if (nowMs - yieldedMs > YIELD_AFTER_MS) {
      await Bun.sleep(0);
      yieldedMs = clock.elapsed();
    }
    const request = { project, isLenient };
    if (!Value.Check(SendInput, mail)) throw validationError(fieldErrors(SendInput, mail, request));
    ensureSendable(mail, request);
    return accept(project, mail, { userEmail, senderDomains, isLenient, reserveCopies, copied });
  };
}

/** Throws 422 with the faults of all mails, or the first refusal of another kind. */
async function checkAll(
  mails: readonly unknown[],
  check: Check,
  fieldOf: (n: number) => string,
): Promise<Change<Accepted>[]> {
  const changes: Change<Accepted>[] = [];
  const errors: FieldError[] = [];
  for (const [n, mail] of mails.entries()) {
    try {
      changes.push(await check(mail));
    } catch (error) {
      const refusal = refusalAt(fieldOf(n), error);
      if (refusal.errors === undefined) throw refusal;
      errors.push(...refusal.errors);
      if (errors.length >= MAX_ERRORS) break;
    }
  }
  if (errors.length > 0) throw validationError(errors.slice(0, MAX_ERRORS));
  return changes;
}

/** Mails are checked one after the other, and stored while the next ones are checked. */
function acceptEach(
  app: App,
  mails: readonly unknown[],
  { check, context }: { check: Check; context: BatchContext },
): Promise<Outcome[]> {
  let earlier: Promise<unknown> = Promise.resolve();
  const checkSequentially: Check = (mail) => {
    const checked = earlier.then(() => check(mail));
    earlier = checked.catch(() => undefined); // Its own caller gets the error.
    return checked;
  };
  return Promise.all(
    mails.map(async (mail, n) => {
      try {
        return acceptedOutcome(
          await acceptOne(app, { mail, n }, { check: checkSequentially, context }),
        );
      } catch (error) {
        if (error instanceof AppError) return refusedOutcome(error);
        throw error;
      }
    }),
  );
}

async function acceptOne(
  app: App,
  { mail, n }: { mail: unknown; n: number },
  { check, context }: { check: Check; context: BatchContext },
): Promise<Accepted> {
  const projectSeq = context.project.seq;
  const run = <T>(change: Change<T>): T => {
    const result = runWithinStorage(app, projectSeq, change);
    wakeSending(app);
    return result;
  };
  if (context.key === null) {
    const change = await check(mail);
    return app.writer.write<Accepted>(() => run(change));
  }
  const asked = context.asked?.[n] ?? { place: n, mail };
  const path = `${context.path}/${asked.place}`;
  const keyed = { projectSeq, isPublic: false, method: "POST", path, body: asked.mail, run };
  const { answer } = await idempotencyOf(app).once<Accepted>(context.key, keyed, async () => {
    const change = await check(mail);
    return () => ({ status: 200, body: change() });
  });
  return answer.body;
}

const acceptedOutcome = ({ emails }: Accepted): Outcome => ({
  accepted: true,
  emails,
  error: null,
});

function refusedOutcome({ status, code, message, errors, suggestion }: AppError): Outcome {
  const error = {
    code,
    message,
    statusCode: status,
    ...(errors === undefined ? {} : { errors: [...errors] }),
    suggestion: suggestion ?? null,
  };
  return { accepted: false, emails: [], error };
}

/** The refusal of one mail as that of its batch. Throws an error that is no refusal. */
function refusalAt(place: string, error: unknown): AppError {
  if (!(error instanceof AppError)) throw error;
  const { status, code, message, errors, suggestion, headers } = error;
  const pathOf = (field: string) => (field === "" ? place : `${place}.${field}`);
  return new AppError(status, code, `${place}: ${message}`, {
    ...(errors === undefined
      ? {}
      : { errors: errors.map((each) => ({ ...each, field: pathOf(each.field) })) }),
    ...(suggestion === undefined ? {} : { suggestion }),
    headers,
    cause: error,
  });
}

/** The values are not validated yet and may have any content. */
function countRecipients(mails: readonly unknown[]): number {
  const countOf = (given: unknown) =>
    Array.isArray(given) ? given.length : given === undefined ? 0 : 1;
  return mails
    .filter(isRecord)
    .reduce((sum, { to, cc, bcc }) => sum + countOf(to) + countOf(cc) + countOf(bcc), 0);
}

function recipientErrors(mails: unknown): FieldError[] {
  if (!Array.isArray(mails) || countRecipients(mails) <= MAX_RECIPIENTS) return [];
  const message = `must have at most ${MAX_RECIPIENTS} recipients together`;
  return [{ field: "mails", message, code: "too_big" }];
}

function tooSlow(): AppError {
  return new AppError(
    503,
    "SERVICE_UNAVAILABLE",
    "Checking the mails of this batch takes too long.",
    {
      suggestion: "Send fewer mails in one request, or simpler templates.",
    },
  );
}
