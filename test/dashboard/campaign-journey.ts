/**
 * The setup of the journeys to a first campaign: a server whose mail leaves directly to a mail server on
 * loopback, a file of people, and what the recipients do with their mails.
 */

import { simpleParser } from "mailparser";
import type { FileChooser, Page } from "playwright-core";
import { startDnsServer } from "../support/dns-server.ts";
import { startSink } from "../support/smtp-sink.ts";
import { startWithPeople } from "./people.ts";

/** The domain of the recipients. The mail of both domains arrives at the sink. */
export const DOMAIN = "people.example";
export const EDITOR = "eva@acme.example";
/** Longer than a campaign can be undone. */
export const START_LIMIT_MS = 30_000;
const BROWSER = "Mozilla/5.0 (X11; Linux x64) Firefox/140.0";
const DAY_MS = 24 * 3_600_000;
const BUYERS_CITY = "Berlin";
const RECENTLY = 10;
const LONG_AGO = 90;

export type Journey = Awaited<ReturnType<typeof startJourney>>;

/** Starts the servers. `address` is one of this machine, for the mail server. */
export async function startJourney(address: string) {
  const sink = await startSink({ address });
  const mx = { MX: [`10 mx.${DOMAIN}`] };
  const dns = await startDnsServer({
    records: { [DOMAIN]: mx, "acme.example": mx, [`mx.${DOMAIN}`]: { A: [address] } },
  });
  const server = await startWithPeople([
    "--transport=direct",
    `--direct-port=${sink.port}`,
    `--dns=127.0.0.1:${dns.server.port}`,
    "--hostname=sender.example",
    "--allow-private-addresses",
    "--send-rate=0",
  ]);
  const letters: Promise<Letter>[] = [];
  return {
    server,

    /** The mails that arrived so far, by their recipients in order. */
    arrived: async (): Promise<Letter[]> => {
      for (const { to, data } of sink.messages.slice(letters.length)) letters.push(read(to, data));
      return (await Promise.all(letters)).toSorted((a, b) => (a.to < b.to ? -1 : 1));
    },

    close: async (): Promise<void> => {
      await server.stop();
      await Promise.all([dns.close(), sink.close()]);
    },
  };
}

/** A mail as its recipient has it. */
export type Letter = {
  to: string;
  subject: string;
  html: string;
  text: string;
  hrefs: string[];
  /** The header field List-Unsubscribe, without brackets. */
  unsubscribe: string;
};

async function read(to: readonly string[], data: Uint8Array): Promise<Letter> {
  const mail = await simpleParser(Buffer.from(data));
  const html = mail.html === false ? "" : mail.html;
  const header = mail.headerLines.find(({ key }) => key === "list-unsubscribe")?.line ?? "";
  return {
    to: to.join(),
    subject: mail.subject ?? "",
    html,
    text: mail.text ?? "",
    hrefs: [...html.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href),
    unsubscribe: /<(https?:[^>]*)>/.exec(header)?.[1] ?? "",
  };
}

const request = (url: string, init: RequestInit = {}) =>
  fetch(url, { ...init, redirect: "manual", headers: { "user-agent": BROWSER } });

/** Loads the images of a mail, as the program of its recipient does. */
export async function openMail({ html }: Letter): Promise<void> {
  for (const [, src = ""] of html.matchAll(/<img[^>]*\ssrc="([^"]*)"/g)) await request(src);
}

/** Follows the first link of a mail; resolves to the address where it leads. */
export async function followLink({ hrefs }: Letter): Promise<string> {
  return (await request(hrefs[0] ?? "")).headers.get("location") ?? "";
}

/** Presses the button "Unsubscribe" of a mail program (RFC 8058). */
export async function unsubscribe(letter: Letter): Promise<number> {
  const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
  return (await request(letter.unsubscribe, { method: "POST", body })).status;
}

type Status = "subscribed" | "unsubscribed" | "cleaned";
export type Person = { email: string; name: string; city: string; bought: string; status: Status };

const CITIES = [BUYERS_CITY, "Köln", "Hamburg", "München", "Leipzig"];
const daysAgo = (days: number): string =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, "2030-12-31".length);

/** A tenth has unsubscribed, and the mail to one in fifty bounced. */
const statusOf = (i: number): Status =>
  i % 10 === 0 ? "unsubscribed" : i % 50 === 15 ? "cleaned" : "subscribed";

/** People of five cities. A third bought lately, a third long ago, and a third never. */
export const makePeople = (count: number): Person[] =>
  Array.from({ length: count }, (_, i) => ({
    email: `person${i}@${DOMAIN}`,
    name: i === 45 ? "Zoë <b>O'Neil</b>" : `Person ${i}`,
    city: CITIES[i % CITIES.length] ?? "",
    bought: [daysAgo(RECENTLY), daysAgo(LONG_AGO), ""][i % 3] ?? "",
    status: statusOf(i),
  }));

export const buyersOf = (people: readonly Person[]): Person[] =>
  people.filter(({ city, bought }) => city === BUYERS_CITY && bought === daysAgo(RECENTLY));

export const isSubscribed = ({ status }: Person): boolean => status === "subscribed";

/** The file of a shop, as its program for customers exports it. */
export function csvFile(people: readonly Person[]) {
  const lines = people.map(({ email, name, city, bought, status }) =>
    [email, name, city, bought, status].join(","),
  );
  const text = ["Email Address,First Name,City,Last Purchase,Status", ...lines].join("\r\n");
  return { name: "customers.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
}

/** Chooses a file in the dialog that `open` opens. */
export async function chooseFile(
  page: Page,
  open: () => Promise<void>,
  file: { name: string; mimeType: string; buffer: Buffer },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<FileChooser>();
  page.on("filechooser", resolve);
  // A key may arrive before the request to report the dialog, unless the page has answered after it.
  await page.evaluate("0");
  await open();
  await (await promise).setFiles(file);
  page.off("filechooser", resolve);
}

/** An image of one pixel. */
export const PIXEL = {
  name: "sea.png",
  mimeType: "image/png",
  buffer: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
};
