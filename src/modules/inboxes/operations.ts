/** Texts of the operations on inboxes for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const messageId = { messageId: "Id of the message; `latest` stands for the newest one" };

export const inboxOperations = describeOperations(
  { tag: "Inboxes", id: "Id or name of the inbox; `default` is the inbox of all other mail" },
  {
    listInboxes: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "List inboxes",
      description: "In the order of their creation. Every project has the inbox `default`.",
    },
    createInbox: {
      role: "EDITOR",
      isAudited: false,
      summary: "Create an inbox, for instance one for each test",
      description:
        "Mail arrives in it by its SMTP user, or by a recipient with its address suffix.",
      isIdempotent: true,
      links: { getInbox: { id: "/data/id" } },
    },
    getInbox: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "Get an inbox",
      description: "Its SMTP user, password and address suffix, and the number of its messages.",
    },
    deleteInbox: {
      role: "EDITOR",
      isAudited: false,
      summary: "Delete an inbox",
      description: "Its messages, rules and sessions are deleted with it, also pinned messages.",
    },
    listInboxMessages: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "List or search messages, newest first",
      description: "A message is listed as soon as its sender got 250. Reading changes no message.",
    },
    importInboxMessage: {
      role: "EDITOR",
      isAudited: false,
      summary: "Store a raw message of up to 50 MiB",
      description: "For messages that do not arrive over SMTP, such as those of another inbox.",
    },
    deleteInboxMessages: {
      role: "EDITOR",
      isAudited: false,
      summary: "Delete messages by ids, by a query, or all",
      description: "Exactly one of `ids`, `query` and `all` is needed, and none may be empty.",
    },
    getInboxMessage: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "Get a message with its text, HTML, headers and parts",
      description: "A message that cannot be parsed has a `parseError`; its raw form can be read.",
      parameters: messageId,
    },
    updateInboxMessage: {
      role: "EDITOR",
      isAudited: false,
      summary: "Set read state, pin and tags of a message",
      description: "Members that are absent stay as they are. Tags replace all earlier ones.",
      parameters: messageId,
    },
    deleteInboxMessage: {
      role: "EDITOR",
      isAudited: false,
      summary: "Delete a message",
      description: "The message is removed at once, also if it is pinned.",
      parameters: messageId,
    },
    getInboxMessageRaw: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "The raw message as it was received",
      description: "With the Return-Path and Received fields that the listener added.",
      parameters: messageId,
      headers: ["Content-Disposition"],
    },
    getInboxMessageHtml: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "The HTML part as a page without scripts",
      description:
        "The policy of the response forbids scripts and forms; links open new pages. Resources of " +
        "other servers are loaded with images=true only, because their senders see who loads them.",
      parameters: messageId,
    },
    previewInboxMessage: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "A document to show a message in a frame",
      description:
        "Scripts, forms and resources of other hosts are blocked by the policy of the response; " +
        "inline images are in the document. `images=true` allows images of other hosts.",
      parameters: messageId,
    },
    getInboxMessageText: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "The text part, or else the text of the HTML part",
      description: "As UTF-8, whatever the charset of the message is.",
      parameters: messageId,
      headers: ["Content-Disposition"],
    },
    getInboxMessageHeaders: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "All header fields of a message",
      description: "In their order, unfolded and not decoded.",
      parameters: messageId,
    },
    getInboxMessagePart: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "The content of an attachment or inline part",
      description: "Decoded, with the media type that the message names.",
      parameters: { ...messageId, partId: "Id of the part, as in the message's `parts`" },
      headers: ["Content-Disposition"],
    },
    getInboxMessageLinks: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "The links of a message, best first",
      description:
        "From the HTML part and the text part, each URL once. Links that sign in, confirm or reset " +
        "a password come first, and links to unsubscribe last.",
      parameters: messageId,
    },
    getInboxMessageCodes: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "The one-time codes and magic links of a message, best first",
      description:
        "Codes are digits or letters that a recipient is to type, from subject, text and HTML. " +
        "Magic links sign in, confirm, accept or reset.",
      parameters: messageId,
    },
    checkInboxMessage: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "Check a message as receivers would",
      description:
        "Its structure and headers, and SPF, DKIM and DMARC by DNS. With `links=true` every link " +
        "is requested, except links to private addresses.",
      parameters: messageId,
    },
    releaseInboxMessage: {
      role: "EDITOR",
      isAudited: false,
      summary: "Send a message to other recipients",
      description:
        "Through the transport of the server, at once. The message stays as it is, but for Bcc and " +
        "the trace fields of the listener; it is signed if its domain has keys. The response has " +
        "the conversation with each server.",
      parameters: messageId,
      isIdempotent: false,
    },
    waitForInboxMessages: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "Wait until messages match, or until none has arrived for a while",
      description:
        "Answers as soon as `count` messages match, and at the latest after `timeoutSeconds` with " +
        "the messages that match then. The status is 200 in both cases. With `quietMs` it answers " +
        "when no matching message has arrived for that time, so that a test can assert that no " +
        "mail was sent.",
    },
    streamInboxEvents: {
      role: "EDITOR",
      scopes: ["READ"],
      summary: "Live events of an inbox, as server-sent events",
      description:
        "`message`, `updated`, `deleted`, `cleared`, `reload` and `stats`, in their order. A client " +
        "that sends Last-Event-ID gets the events that it missed, or `reload` if it must read the " +
        "list again. The stream ends after ten minutes; connect again then, as an EventSource does " +
        "by itself.",
    },
    listInboxRules: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List the failure rules of an inbox",
      description: "In the order in which they are compared, with how often each fired.",
    },
    createInboxRule: {
      role: "EDITOR",
      isAudited: false,
      summary: "Make SMTP fail in a defined way",
      description:
        "At its stage, the first rule that matches replies with an error, delays, or ends the " +
        "connection. Rules at the stage `connect` belong to the inbox `default`, because no other " +
        "inbox is known before AUTH or RCPT.",
      isIdempotent: true,
    },
    deleteInboxRules: {
      role: "EDITOR",
      isAudited: false,
      summary: "Delete all failure rules of an inbox",
      description: "SMTP works again at once.",
    },
    deleteInboxRule: {
      role: "EDITOR",
      isAudited: false,
      summary: "Delete a failure rule",
      description: "It does not fire any more.",
      parameters: { ruleId: "Id of the rule" },
    },
    listInboxSessions: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List the SMTP sessions of an inbox, newest first",
      description: "The newest 200 sessions are kept.",
    },
    getInboxSession: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "An SMTP session with its timed transcript",
      description: "Without credentials and without the contents of messages.",
      parameters: { sessionId: "Id of the session, as in the `envelope` of a message" },
    },
  },
);
