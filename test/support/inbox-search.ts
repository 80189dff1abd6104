/** Creates a migrated database with one inbox, into which a test inserts parsed messages. */

import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { createDirectReader } from "../../src/db/reader.ts";
import { type Addresses, NO_ADDRESSES } from "../../src/modules/inboxes/messages/record.ts";
import { createMessageStore } from "../../src/modules/inboxes/messages/store.ts";
import { createSearchIndex } from "../../src/modules/inboxes/search/index-rows.ts";
import { searchTextsOf } from "../../src/modules/inboxes/search/fold.ts";
import { migratedDatabase } from "./database.ts";

export type InboxMessage = {
  inboxSeq: number;
  receivedAt: number;
  size: number;
  messageId: string;
  subject: string;
  addresses: Partial<Addresses>;
  filenames: string[];
  inlines: number;
  body: string;
  tags: string[];
  isRead: boolean;
};

/** `file`: a new database file; in memory without one. */
export function openInbox(file?: string) {
  const db = file === undefined ? migratedDatabase() : openDatabase(file);
  migrate(db.sqlite);
  db.sqlite.run("INSERT INTO projects (seq, id, name, created_at) VALUES (1, 'acme', 'acme', 0)");
  for (const seq of [1, 2]) {
    db.sqlite.run(
      "INSERT INTO inboxes (seq, id, project_seq, name, created_at) VALUES (?, ?, 1, ?, 0)",
      [seq, `inbox${seq}`, `inbox ${seq}`],
    );
  }
  const store = createMessageStore({ db });
  const app = { db, reader: createDirectReader(db) };
  const insert = db.sqlite.prepare<unknown, (string | number)[]>(`
    INSERT INTO inbox_messages (id, inbox_seq, state, received_at, size, stored_bytes, envelope, username)
    VALUES (?, ?, 'RECEIVED', ?, ?, 0, '{}', '')`);
  let count = 0;

  function part(filename: string, index: number, isInline: boolean) {
    const hashes = { md5: "", sha1: "", sha256: "" };
    const partId = `${isInline ? 9 : 2}.${index}`;
    return {
      partId,
      isInline,
      filename,
      contentType: "text/plain",
      contentId: "",
      size: 1,
      ...hashes,
    };
  }

  return {
    db,
    store,
    app,

    /** Returns the `seq` of the message. */
    add(message: Partial<InboxMessage>): number {
      const {
        inboxSeq = 1,
        receivedAt = count,
        size = 100,
        messageId = "",
        subject = "",
      } = message;
      const { filenames = [], inlines = 0, body = "", tags = [], isRead = false } = message;
      const addresses = { ...NO_ADDRESSES, ...message.addresses };
      count++;
      const seq = Number(insert.run(`m${count}`, inboxSeq, receivedAt, size).lastInsertRowid);
      const texts = searchTextsOf({
        messageId,
        subject,
        addresses,
        filenames,
        body: { text: body },
      });
      store.setParsed(seq, {
        messageId,
        subject,
        addresses,
        date: null,
        snippet: "",
        tags,
        parts: [
          ...filenames.map((name, i) => part(name, i, false)),
          ...Array.from({ length: inlines }, (_, i) => part("", i, true)),
        ],
        search: texts,
      });
      if (isRead) store.setRead(seq, true);
      return seq;
    },

    /** Makes an index of the oldest texts; those after them are outside it. */
    indexOldest(texts: number): void {
      db.sqlite.run("INSERT INTO inbox_search (inbox_search) VALUES ('delete-all')");
      createSearchIndex(db.sqlite).addNext(texts);
    },

    close: () => db.sqlite.close(),
  };
}
