/**
 * Adds the texts of messages to the trigram index (index-rows.ts), apart from the path of arriving
 * mail. Once a second:
 *
 * 1. Few texts stay outside the index: a search compares a thousand of them in milliseconds, and an
 *    inbox that keeps 500 messages loses them again without the work of the index.
 * 2. More texts are added while few messages arrive.
 * 3. Very many are added at any time, so that a search never compares more of them.
 */

import type { App } from "../../../core/app.ts";
import { statement } from "../../../db/statement.ts";
import { perApp } from "../../../lib/per-app.ts";
import { createSearchIndex } from "./index-rows.ts";

/** Texts that stay outside the index. */
const MAX_OUTSIDE = 1_000;
/**
 * Messages after the last one in the index, removed ones as well, from which on texts are added at any
 * time. A search compares so many texts in half a second.
 */
const MAX_WAITING = 50_000;
/** Messages in a second that are few. */
const MAX_FEW = 100;
/** Texts of one change: less than 10 ms. */
const STEP_TEXTS = 128;

const findNewest = statement<{ seq: number | null }, []>(
  "SELECT max(seq) AS seq FROM inbox_messages",
);
/** The text after so many others that are outside the index. */
const findFollowing = statement<{ seq: number }, [number, number]>(`
  SELECT message_seq AS seq FROM inbox_texts
  WHERE message_seq > +? ORDER BY message_seq LIMIT 1 OFFSET +?`);

export const textIndexing = perApp(createTextIndexing);

function createTextIndexing(app: App) {
  const index = createSearchIndex(app.db.sqlite);
  const newest = () => findNewest(app).get()?.seq ?? 0;
  /** The newest message at the previous run. */
  let previous = 0;
  /** The newest message when so few texts were outside the index that they stay there. */
  let settled = -1;

  return {
    async run(): Promise<void> {
      const last = newest();
      const isQuiet = last - previous <= MAX_FEW;
      previous = last;
      if (last === settled || (!isQuiet && last - index.upTo() <= MAX_WAITING)) return;
      if (findFollowing(app).get(index.upTo(), MAX_OUTSIDE) === null) {
        settled = last;
        return;
      }
      const mayGoOn = () => !isQuiet || newest() - last <= MAX_FEW;
      let added = STEP_TEXTS;
      while (added === STEP_TEXTS && mayGoOn()) {
        added = await app.writer.write(() => index.addNext(STEP_TEXTS));
      }
    },
  };
}
