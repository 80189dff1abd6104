/** The texts of the checks of an email: their names, why they matter, and how to fix a finding. */

export type CheckText = {
  title: string;
  /** The reason why it matters, in one sentence. */
  why: string;
  /** The part of the mail that it concerns. */
  where: string;
  fix: string;
};

const TEXTS: Readonly<Record<string, CheckText>> = {
  "text-part": {
    title: "Text part",
    why: "Some people and many spam filters read the plain text of a mail.",
    where: "Parts of the message",
    fix: "Leave the text part to Mailstead, which makes it from the HTML, or write one.",
  },
  "html-size": {
    title: "Size of the HTML",
    why: "Gmail cuts HTML after 102 kB, and with it the link to unsubscribe and the open pixel.",
    where: "HTML part",
    fix: "Remove repeated styles and comments, and link to long content instead of including it.",
  },
  "image-texts": {
    title: "Alternative texts",
    why: "They are shown until images are loaded, and screen readers read them aloud.",
    where: "HTML part, <img>",
    fix: 'Describe each image in alt="…", and give decorative images an empty alt="".',
  },
  "link-schemes": {
    title: "Encrypted links",
    why: "Links with http are not encrypted, and spam filters trust them less.",
    where: "HTML part, <a>",
    fix:
      "Replace http:// by https:// in these links. Links of Mailstead itself are encrypted when the " +
      "setting --url is an https address.",
  },
  "message-size": {
    title: "Size of the message",
    why: "Servers refuse large messages, most of them above 25 MB.",
    where: "Whole message",
    fix: "Link to large files instead of attaching them.",
  },
  "required-headers": {
    title: "Usual headers",
    why: "Messages without these headers are refused or treated as spam.",
    where: "Headers",
    fix: "Remove your own headers of these names, so that Mailstead writes them.",
  },
  "single-headers": {
    title: "Headers that may occur once",
    why: "Receivers refuse messages in which they cannot tell which header is meant.",
    where: "Headers",
    fix: "Send each of these headers once.",
  },
  "list-unsubscribe": {
    title: "One-click unsubscribe",
    why: "Gmail and Yahoo require it of bulk mail, and it keeps people from reporting spam.",
    where: "Headers, List-Unsubscribe",
    fix:
      "Send bulk mail as a campaign or a marketing template, and set --url of this server to an " +
      "https address; its headers are then complete.",
  },
  "line-length": {
    title: "Length of lines",
    why: "Servers may break lines of more than 998 bytes, which also breaks the signature.",
    where: "Source",
    fix: "Put line breaks into long lines of the HTML, between two tags.",
  },
  "line-ends": {
    title: "Ends of lines",
    why: "Strict servers refuse messages whose lines do not end with CRLF.",
    where: "Source",
    fix: "Correct the program that writes the message.",
  },
  "header-characters": {
    title: "Characters in headers",
    why: "Headers beyond ASCII need servers with SMTPUTF8, which many are not.",
    where: "Headers",
    fix: "Use ASCII in the values of your own headers.",
  },
};

export const checkText = (name: string): CheckText =>
  TEXTS[name] ?? { title: name.replaceAll("-", " "), why: "", where: "Message", fix: "" };

export type Place = { line: number; text: string };

const MAX_PLACES = 3;
/** Elements of a mail that are examined. */
const MAX_EXAMINED = 5_000;
const LONGEST_TAG = 2_000;
const SHOWN = 160;

/** The first elements of the HTML that a finding is about, with their lines. Linear in the HTML. */
export function findPlaces(check: string, html: string): Place[] {
  if (check === "image-texts") return tagsOf(html, /<img(?=[\s/>])/gi, (tag) => !ALT.test(tag));
  if (check === "link-schemes") return tagsOf(html, /<a(?=\s)/gi, (tag) => HTTP.test(tag));
  return [];
}

const ALT = /\salt(?=[\s=/>])/i;
const HTTP = /\shref\s{0,9}=\s{0,9}["']?\s{0,9}http:/i;

function tagsOf(html: string, start: RegExp, isWanted: (tag: string) => boolean): Place[] {
  const places: Place[] = [];
  let line = 1;
  let counted = 0;
  let examined = 0;
  for (const { index } of html.matchAll(start)) {
    if (examined++ === MAX_EXAMINED) break;
    const window = html.slice(index, index + LONGEST_TAG);
    const end = window.indexOf(">");
    const tag = end === -1 ? window : window.slice(0, end + 1);
    if (!isWanted(tag)) continue;
    line += html.slice(counted, index).split("\n").length - 1;
    counted = index;
    places.push({ line, text: tag.length > SHOWN ? `${tag.slice(0, SHOWN)}…` : tag });
    if (places.length === MAX_PLACES) break;
  }
  return places;
}
