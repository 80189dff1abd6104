/**
 * The preference page behind the manage link of a mail:
 *
 * GET  /manage/{token}               shows the choices of the person; changes nothing
 * POST /manage/{token}               the forms of that page
 * GET  /preference-requests/{token}  asks to confirm the request of a mail; changes nothing
 * POST /preference-requests/{token}  the button of that page
 *
 * 1. The signed token of the link names the mail and so its contact. It is the only authentication,
 *    works for ever, and may have been forwarded. So the page shows the address in part only, and a
 *    request that would hand over the person's data or address needs a link in a fresh mail
 *    (requests.ts).
 * 2. A form is read to a change, which is made in one transaction. A form of another site could only
 *    do what the holder of the token may do anyway, so no further token is needed.
 * 3. A change leads to the page again, with a code for its notice in the query, so that going back
 *    or loading the page again sends no form. A form that cannot be used is answered with the page.
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { bodiesOf } from "../../http/body.ts";
import { PREFERENCE_FORM_BYTES } from "../../http/body-limits.ts";
import { clientAddress } from "../../http/client-address.ts";
import { describeOperations, undocumented } from "../../http/documented.ts";
import { readForm } from "../../http/form.ts";
import {
  badLinkPage,
  documentResponse,
  errorPage,
  pageResponse,
  seeOther,
} from "../../http/page.ts";
import { slidingWindow } from "../../http/rate-limit.ts";
import { AppError } from "../../lib/errors.ts";
import { perApp } from "../../lib/per-app.ts";
import { fillPlaceholders, type Texts } from "../../render/language.ts";
import { preferenceTexts } from "../../render/preference-texts.ts";
import { parseMailbox } from "../../protocols/mime/mailbox.ts";
import { pausedUntilNow } from "../contacts/pause.ts";
import { isTrackingAllowed } from "../contacts/tracking.ts";
import type { ContactRow } from "../contacts/service.ts";
import type { Noun } from "../module.ts";
import { emailIdIn, type Recipient, recipientOf, textsFor } from "../subscription/subscription.ts";
import { buildPage, maskAddress } from "../subscription/view.ts";
import {
  changeSubscription,
  type PreferenceCause,
  readChoices,
  saveChoices,
  type SavedChoices,
  shownTopics,
} from "./changes.ts";
import { answering, PAGES, PAGES_OF_FORM, type Asked } from "./page-errors.ts";
import {
  PREFERENCE_ACTIONS,
  type PreferenceFault,
  preferencePage,
  type PreferenceView,
} from "./preference-page.ts";
import { requestPages } from "./request-pages.ts";
import { removeOldRequests, requestByMail, shiftRequests } from "./requests.ts";

const FORM = {
  required: true,
  content: {
    "application/x-www-form-urlencoded": {
      schema: {
        "x-name": "PreferenceForm",
        "x-max-body-bytes": PREFERENCE_FORM_BYTES,
        type: "object" as const,
        description: "The fields of the form, and the button that was pressed",
        required: ["action"],
        additionalProperties: true,
        properties: {
          action: {
            type: "string" as const,
            enum: [...PREFERENCE_ACTIONS],
            description: "The button",
          },
        },
        examples: [{ action: "unsubscribe" }],
      },
    },
  },
};

const DETAILS = describeOperations(
  { tag: "Recipients" },
  {
    showPreferences: {
      role: "ANYONE",
      summary: "Preference page of a recipient",
      description: "Changes nothing, so that programs that follow links do no harm.",
      parameters: { token: "The signed token in the link of a mail" },
      security: [],
    },
    changePreferences: {
      role: "ANYONE",
      summary: "Change the preferences of a recipient",
      description:
        "The forms of the page. A copy of the data, their erasure and another address are only asked " +
        "for: a mail with a link confirms them.",
      parameters: { token: "The signed token in the link of a mail" },
      security: [],
    },
  },
);

export const preferenceNoun: Noun = {
  name: "preferences",
  routes: (app) => [preferenceRoutes(app), requestPages(app)],
  dueTimes: [shiftRequests],
  recurring: [
    {
      name: "preference requests",
      pattern: "30 * * * * *",
      run: (app) => app.writer.write(() => removeOldRequests(app)),
    },
  ],
};

function preferenceRoutes(app: App) {
  const [get, post] = [answering(app, show), answering(app, act)];
  const hidden = { detail: undocumented("ANYONE") };
  return (
    new Elysia({ name: "preference-routes" })
      .get("/manage/:token", get, { response: PAGES, detail: DETAILS.showPreferences })
      .post("/manage/:token", post, {
        response: { ...PAGES_OF_FORM, 303: Type.Unsafe<Response>(Type.Any()) },
        parse: "none",
        detail: { ...DETAILS.changePreferences, requestBody: FORM },
      })
      // Broken links, cut off or with text added, get an HTML page instead of a JSON error.
      .get("/manage/*", get, hidden)
      .post("/manage/*", post, { ...hidden, parse: "none" })
  );
}

const HOUR_MS = 60 * 60_000;
/** Forms of a person in an hour. More would be a program that changes to and fro. */
const MAX_CHANGES = 60;
const MAX_TRACKED_PEOPLE = 20_000;

/** Unsubscribing from everything is not counted. */
const changeRate = perApp(({ clock }: App) =>
  slidingWindow({
    limit: MAX_CHANGES,
    windowMs: HOUR_MS,
    now: clock.elapsed,
    maxKeys: MAX_TRACKED_PEOPLE,
  }),
);

/** The recipient of the link, with the contact; otherwise the page to answer with. */
type Opened = { recipient: KnownRecipient; texts: Texts } | { answer: Response };
type KnownRecipient = Recipient & { contact: ContactRow };

function open(app: App, request: Request): Opened {
  const recipient = recipientOf(app, emailIdIn(app, request));
  const texts = textsFor(request, recipient);
  if (recipient === null) return { answer: pageResponse(badLinkPage(texts), 404) };
  const { contact } = recipient;
  if (contact !== null) return { recipient: { ...recipient, contact }, texts };
  const page = buildPage(texts, "manage", { recipient, hasActed: false });
  return { answer: pageResponse(page, 200) };
}

function show(app: App, { request }: Asked): Response {
  const opened = open(app, request);
  if ("answer" in opened) return opened.answer;
  const { recipient, texts } = opened;
  const done = new URL(request.url).searchParams.get("done");
  return pageOf(app, recipient, {
    texts,
    shown: { notices: noticesOf(app, recipient, { texts, done }) },
  });
}

/** The values of `done` in the address of the page. */
const DONE = ["saved", "unchanged", "mail"] as const;

/** The notices of the page about the change that led to it; there are none for an unknown code. */
function noticesOf(
  app: App,
  recipient: KnownRecipient,
  { texts, done }: { texts: Texts; done: string | null },
): string[] {
  const { brand, contact } = recipient;
  const words = preferenceTexts(texts);
  const code = DONE.find((one) => one === done);
  if (code === undefined) return [];
  if (code === "mail") {
    const email = shownAddress(recipient, contact, texts);
    return [fillPlaceholders(words.mailSent, { project: brand.name, email })];
  }
  const topics = contact.isSubscribed ? shownTopics(app, contact) : [];
  const hasLeftAll = topics.length > 0 && topics.every(({ isSubscribed }) => !isSubscribed);
  return [
    code === "saved" ? words.saved : words.nothingChanged,
    ...(hasLeftAll ? [words.noTopics] : []),
  ];
}

type Shown = { notices?: readonly string[]; fault?: PreferenceView["fault"] };

/** If the mail went to another address, its reader may not see a part of the present one. */
const shownAddress = ({ to }: Recipient, { email }: ContactRow, texts: Texts): string =>
  email === to ? maskAddress(email) : texts.newAddress;

function viewOf(
  app: App,
  recipient: KnownRecipient,
  texts: Texts,
  { notices = [], fault }: Shown = {},
): PreferenceView {
  const now = app.clock.now();
  const { brand, contact } = recipient;
  return {
    texts,
    brand,
    email: shownAddress(recipient, contact, texts),
    isSubscribed: contact.isSubscribed,
    topics: shownTopics(app, contact),
    pausedUntil: pausedUntilNow(contact, now),
    isTrackingAllowed: isTrackingAllowed(recipient.tracking, contact),
    now,
    notices,
    fault: fault ?? null,
  };
}

async function act(app: App, asked: Asked): Promise<Response> {
  const { request } = asked;
  const opened = open(app, request);
  if ("answer" in opened) return opened.answer;
  const { recipient, texts } = opened;
  const form = await readForm(request, bodiesOf(app).arrivals, PREFERENCE_FORM_BYTES);
  if (form.isTooLarge) return pageResponse({ ...errorPage(texts), brand: recipient.brand }, 413);
  const change = readChange(form.fields, app.clock.now());
  if (change.kind === "none") return pageOf(app, recipient, { texts, status: 400 });
  if (change.kind === "fault") {
    return pageOf(app, recipient, { texts, shown: { fault: change.fault }, status: 400 });
  }
  const isLeaving = change.kind === "subscription" && !change.isSubscribed;
  if (!isLeaving && !changeRate(app).take(recipient.contact.seq).isAllowed) {
    return pageResponse({ ...errorPage(texts), brand: recipient.brand }, 429);
  }
  const cause: PreferenceCause = {
    emailSeq: recipient.emailSeq,
    consent: {
      source: { type: "PREFERENCES", id: recipient.emailId },
      clientAddress: clientAddress(app, asked),
    },
    page: { texts, brand: recipient.brand },
  };
  try {
    const done = await app.writer.write(() => perform(app, recipient.emailId, { change, cause }));
    // The contact was removed meanwhile.
    if (done === null) return show(app, asked);
    return seeOther(`?done=${done}`);
  } catch (error) {
    if (change.kind !== "request" || !(error instanceof AppError) || error.status >= 500)
      throw error;
    app.log.warn("a mail of the preference page was refused", { code: error.code });
    const text = fillPlaceholders(preferenceTexts(texts).unavailable, {
      project: recipient.brand.name,
    });
    const { status } = error;
    return pageOf(app, recipient, { texts, shown: { fault: { text } }, status });
  }
}

function pageOf(
  app: App,
  recipient: KnownRecipient,
  { texts, shown = {}, status = 200 }: { texts: Texts; shown?: Shown; status?: number },
): Response {
  return documentResponse({ ...preferencePage(viewOf(app, recipient, texts, shown)), status });
}

type Change =
  | { kind: "none" }
  | { kind: "fault"; fault: PreferenceFault }
  | { kind: "save"; choices: SavedChoices }
  | { kind: "subscription"; isSubscribed: boolean }
  | { kind: "request"; request: "EXPORT" | "ERASURE" | "ADDRESS"; newAddress: string | null };

function readChange(fields: ReadonlyMap<string, string>, now: number): Change {
  const action = PREFERENCE_ACTIONS.find((one) => one === fields.get("action"));
  switch (action) {
    case undefined:
      return { kind: "none" };
    case "save": {
      const read = readChoices(fields, now);
      return "fault" in read ? { kind: "fault", ...read } : { kind: "save", ...read };
    }
    case "subscribe":
    case "unsubscribe":
      return { kind: "subscription", isSubscribed: action === "subscribe" };
    case "export":
      return { kind: "request", request: "EXPORT", newAddress: null };
    case "erase":
      return { kind: "request", request: "ERASURE", newAddress: null };
    case "address":
      return readAddress(fields.get("newAddress") ?? "");
  }
}

function readAddress(text: string): Change {
  const parsed = parseMailbox(text);
  if (!parsed.ok) {
    const value = text.slice(0, LONGEST_SHOWN);
    return { kind: "fault", fault: { field: "newAddress", value } };
  }
  return { kind: "request", request: "ADDRESS", newAddress: parsed.mailbox.address };
}

const LONGEST_SHOWN = 320;

/** Part of a change: null if the contact does not exist any more. */
function perform(
  app: App,
  emailId: string,
  {
    change,
    cause,
  }: { change: Exclude<Change, { kind: "none" | "fault" }>; cause: PreferenceCause },
): (typeof DONE)[number] | null {
  const recipient = recipientOf(app, emailId);
  const contact = recipient?.contact ?? null;
  if (recipient === null || contact === null) return null;
  if (change.kind === "request") {
    const { request: kind, newAddress } = change;
    requestByMail(app, { contact, kind, newAddress }, cause.page);
    return "mail";
  }
  if (change.kind === "subscription") {
    changeSubscription(app, contact, change.isSubscribed, cause);
    return "saved";
  }
  const saved = saveChoices(app, { ...recipient, contact }, change.choices, cause);
  return saved.isChanged ? "saved" : "unchanged";
}
