/** Tools for development and tests: they read the mail that an inbox has caught. */

import { Type } from "@sinclair/typebox";
import { LONGEST_QUERY } from "../inboxes/model.ts";
import { MAX_WAIT_SECONDS } from "../inboxes/wait/model.ts";
import { type ApiClient, apiPath } from "./api-client.ts";
import {
  cutText,
  inWords,
  listItems,
  pickMembers,
  readTool,
  type Tool,
  toolInput,
} from "./tool.ts";

const MAX_TEXT = 20_000;
const MAX_HTML = 60_000;
const MAX_LINKS = 50;
/** Features of HTML and CSS that mail programs do not support, the worst supported first. */
const MAX_FEATURES = 30;

const Inbox = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: "Id or name; default: default" }),
);
const Query = Type.Optional(
  Type.String({
    maxLength: LONGEST_QUERY,
    description: 'Search, for instance to:"ada@example.com" subject:welcome',
  }),
);
const Mail = Type.Optional(
  Type.String({ minLength: 1, maxLength: 64, description: "Id of a mail; default: latest" }),
);

/** The members of a mail that tell it from others. */
const SHORT = ["id", "from", "to", "subject", "snippet", "receivedAt", "emailId", "parseError"];
const LONG = [
  "id",
  "from",
  "to",
  "cc",
  "replyTo",
  "subject",
  "receivedAt",
  "emailId",
  "parseError",
];

async function readMail(api: ApiClient, inbox: string, id: string) {
  const mail = await api.get(apiPath`/inboxes/${inbox}/messages/${id}`);
  // The newest mail may be another one with the next request.
  const at = apiPath`/inboxes/${inbox}/messages/${inWords(pickMembers(mail, ["id"])["id"])}`;
  const { text, parts, html } = pickMembers(mail, ["text", "parts", "html"]);
  const found = pickMembers(await api.get(`${at}/codes`), ["codes"]);
  const links = listItems(await api.get(`${at}/links`));
  const hasText = typeof text === "string" && text !== "";
  const shown = hasText ? text : await api.getText(`${at}/text`);
  return {
    mail: {
      ...pickMembers(mail, LONG),
      codes: found["codes"],
      links: links.slice(0, MAX_LINKS).map((link) => pickMembers(link, ["kind", "text", "url"])),
      linksInTotal: links.length,
      text: cutText(shown, MAX_TEXT),
      attachments: listItems(parts).map((part) =>
        pickMembers(part, ["filename", "contentType", "size"]),
      ),
    },
    html: inWords(html),
  };
}

export const inboxTools: readonly Tool[] = [
  readTool(
    {
      name: "list_inboxes",
      description:
        "List the inboxes that catch mail, with the SMTP user and the address suffix of each: mail to any name with this suffix arrives in it.",
      input: toolInput({}),
      needsKey: false,
    },
    async (api) =>
      listItems(await api.get("/inboxes")).map((inbox) =>
        pickMembers(inbox, ["id", "name", "username", "addressSuffix"]),
      ),
  ),
  readTool(
    {
      name: "wait_for_mail",
      description:
        "Wait until a mail that matches has arrived, and get it with its one-time codes and links. A " +
        "mail that is there already matches too, unless `since` is later.",
      input: toolInput({
        inbox: Inbox,
        query: Query,
        since: Type.Optional(
          Type.String({
            maxLength: 64,
            description:
              "Only mail received at or after this time (RFC 3339), or after the mail with this id",
          }),
        ),
        timeoutSeconds: Type.Optional(
          Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS, description: "Default 30" }),
        ),
      }),
      needsKey: false,
    },
    async (api, { inbox = "default", ...query }) => {
      const waited = await api.get(apiPath`/inboxes/${inbox}/wait`, query);
      const [first] = listItems(waited);
      if (first === undefined) return { matched: false, mail: null };
      const { mail } = await readMail(api, inbox, inWords(pickMembers(first, ["id"])["id"]));
      return { matched: true, mail };
    },
  ),
  readTool(
    {
      name: "list_mails",
      description: "List the mails of an inbox, newest first.",
      input: toolInput({
        inbox: Inbox,
        query: Query,
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: "Default 20" })),
      }),
      needsKey: false,
    },
    async (api, { inbox = "default", limit = 20, ...query }) => {
      const list = await api.get(apiPath`/inboxes/${inbox}/messages`, { ...query, limit });
      return {
        ...pickMembers(list, ["total"]),
        mails: listItems(list).map((mail) => pickMembers(mail, SHORT)),
      };
    },
  ),
  readTool(
    {
      name: "get_mail",
      description: "Get a caught mail with its text, one-time codes, links and attachments.",
      input: toolInput({
        inbox: Inbox,
        mail: Mail,
        includeHtml: Type.Optional(Type.Boolean({ description: "Also the HTML source" })),
      }),
      needsKey: false,
    },
    async (api, { inbox = "default", mail: id = "latest", includeHtml = false }) => {
      const { mail, html } = await readMail(api, inbox, id);
      return includeHtml ? { ...mail, html: cutText(html, MAX_HTML) } : mail;
    },
  ),
  readTool(
    {
      name: "check_mail",
      description:
        "Check a caught mail as receivers do: its structure, its headers, the support of its HTML and " +
        "CSS by mail programs, and its authentication.",
      input: toolInput({
        inbox: Inbox,
        mail: Mail,
        requestLinks: Type.Optional(
          Type.Boolean({ description: "Also request each link; default false" }),
        ),
      }),
      needsKey: false,
    },
    async (api, { inbox = "default", mail = "latest", requestLinks = false }) => {
      const at = apiPath`/inboxes/${inbox}/messages/${mail}/checks`;
      const checks = await api.get(at, { links: requestLinks });
      const features = listItems(pickMembers(checks, ["features"])["features"]);
      return {
        ...pickMembers(checks, ["findings", "authentication", "support", "links"]),
        worstSupported: features.slice(0, MAX_FEATURES),
        worstSupportedInTotal: features.length,
      };
    },
  ),
];
