/** Searches of an inbox, compared with a plain filter over the same messages. */

import { expect } from "bun:test";
import { type Aim, presenceAim } from "../../../scripts/bench/report.ts";
import { foldText } from "../../../src/modules/inboxes/search/fold.ts";
import { findMessages } from "../../../src/modules/inboxes/search/search.ts";
import { parseQuery } from "../../../src/modules/inboxes/search/syntax.ts";
import { type Random, seeded } from "../../modules/segments/seeded.ts";
import { type InboxMessage, openInbox } from "../../support/inbox-search.ts";

const LONG = "filler ".repeat(1000);
const WORDS = [
  "ada",
  "Bob",
  "carl",
  "an",
  "x",
  "Zürich",
  "100%",
  "a_b",
  "letter",
  "let",
  "Ter",
  "日本語",
];
const TAGS = ["News", "urgent", "Late"];

/** `words` is the folded text in which words are searched. */
type Model = InboxMessage & { seq: number; words: string };

function randomMessage({ int, chance, pick, list }: Random): InboxMessage {
  const words = (most: number) => list(most - 1, () => pick(WORDS)).join(" ");
  const mailboxes = () =>
    list(2, () => ({ name: words(3), address: `${pick(WORDS)}@${pick(WORDS)}.test` }));
  return {
    inboxSeq: 1,
    receivedAt: int(1000) * 86_400_000,
    size: int(4096),
    messageId: `${pick(WORDS)}@id`,
    subject: words(4),
    addresses: {
      from: mailboxes(),
      to: mailboxes(),
      cc: mailboxes(),
      bcc: mailboxes(),
      replyTo: mailboxes(),
    },
    filenames: chance(0.3) ? [`${pick(WORDS)}.pdf`] : [],
    inlines: chance(0.2) ? 1 : 0,
    body: chance(0.2) ? `${words(5)} ${LONG} ${words(5)}` : words(6),
    tags: TAGS.filter(() => chance(0.2)),
    isRead: chance(0.5),
  };
}

type Check = { query: string; matches: (message: Model) => boolean };

const boxesOf = ({ addresses }: InboxMessage) => Object.values(addresses).flat();

function foldedWords(message: InboxMessage): string {
  const boxes = boxesOf(message).map(({ name, address }) =>
    name === "" ? address : `${name} <${address}>`,
  );
  return foldText([message.subject, ...boxes, ...message.filenames, message.body].join("\n"));
}

function randomCheck({ int, chance, pick }: Random): Check {
  const word = pick(WORDS);
  const value = chance(0.5) ? word : word.slice(0, 1 + int(word.length));
  const folded = foldText(value);
  const inBoxes = (boxes: Model["addresses"]["from"] = []) =>
    boxes.some(
      ({ name, address }) => foldText(name).includes(folded) || foldText(address).includes(folded),
    );
  const days = int(1000);
  const day = new Date(days * 86_400_000).toISOString().slice(0, 10);
  const size = 1 + int(4096);
  const tag = pick(TAGS);
  const checks: Check[] = [
    { query: value, matches: ({ words }) => words.includes(folded) },
    { query: `"${value}"`, matches: ({ words }) => words.includes(folded) },
    { query: `"${value} x"`, matches: ({ words }) => words.includes(`${folded} x`) },
    { query: `from:${value}`, matches: ({ addresses }) => inBoxes(addresses.from) },
    { query: `to:"${value}"`, matches: ({ addresses }) => inBoxes(addresses.to) },
    { query: `cc:${value}`, matches: ({ addresses }) => inBoxes(addresses.cc) },
    { query: `bcc:${value}`, matches: ({ addresses }) => inBoxes(addresses.bcc) },
    { query: `reply-to:${value}`, matches: ({ addresses }) => inBoxes(addresses.replyTo) },
    { query: `addressed:${value}`, matches: (message) => inBoxes(boxesOf(message)) },
    { query: `subject:${value}`, matches: ({ subject }) => foldText(subject).includes(folded) },
    {
      query: `message-id:${value}`,
      matches: ({ messageId }) => foldText(messageId).includes(folded),
    },
    { query: `tag:${tag}`, matches: ({ tags }) => tags.includes(tag) },
    { query: "is:read", matches: ({ isRead }) => isRead },
    { query: "is:unread", matches: ({ isRead }) => !isRead },
    { query: "is:tagged", matches: ({ tags }) => tags.length > 0 },
    { query: "has:attachment", matches: ({ filenames }) => filenames.length > 0 },
    { query: "has:inline", matches: ({ inlines }) => inlines > 0 },
    { query: `after:${day}`, matches: ({ receivedAt }) => receivedAt >= days * 86_400_000 },
    { query: `before:${day}`, matches: ({ receivedAt }) => receivedAt < days * 86_400_000 },
    { query: `larger:${size}`, matches: (message) => message.size > size },
    { query: `smaller:${size}b`, matches: (message) => message.size < size },
  ];
  const check = pick(checks);
  if (chance(0.7)) return check;
  return {
    query: `${pick(["-", "!"])}${check.query}`,
    matches: (message) => !check.matches(message),
  };
}

/** Compares so many random queries over so many messages. */
export async function compareSearches(size: {
  messages: number;
  queries: number;
  seed: number;
}): Promise<Aim[]> {
  const random = seeded(size.seed);
  const inbox = openInbox();
  const model: Model[] = [];
  inbox.db.sqlite.transaction(() => {
    for (let i = 0; i < size.messages; i++) {
      const message = randomMessage(random);
      const seq = inbox.add(message);
      model.unshift({ ...message, seq, words: foldedWords(message) });
      if (i % 9 === 0) inbox.add({ ...randomMessage(random), inboxSeq: 2 });
    }
  })();
  inbox.indexOldest(size.messages / 2);
  async function find(query: string, bounds?: { limit: number }): Promise<number[]> {
    const parsed = parseQuery(query);
    if (!parsed.ok) throw new Error(parsed.reason);
    return (await findMessages(inbox.app, 1, parsed.query, bounds)).map(({ seq }) => seq);
  }
  let found = 0;
  for (let i = 0; i < size.queries; i++) {
    const checks = [randomCheck(random), ...random.list(2, () => randomCheck(random))];
    const query = checks.map((check) => check.query).join(" ");
    const expected = model.filter((message) => checks.every((check) => check.matches(message)));
    const seqs = expected.map(({ seq }) => seq);
    expect([query, await find(query)]).toEqual([query, seqs]);
    const limit = 1 + random.int(20);
    expect([query, await find(query, { limit })]).toEqual([query, seqs.slice(0, limit)]);
    found += seqs.length;
  }
  inbox.close();
  return [presenceAim("messages found", found, size.queries)];
}
