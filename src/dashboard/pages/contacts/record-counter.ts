/** Counts the records of a CSV file while it arrives. */

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

export function createRecordCounter() {
  let records = 0;
  let isQuoted = false;
  return {
    /** Returns the number of records that have ended so far. A quoted cell may have several lines. */
    add(part: Uint8Array): number {
      for (const byte of part) {
        if (byte === QUOTE) isQuoted = !isQuoted;
        else if (byte === LINE_FEED && !isQuoted) records++;
      }
      return records;
    },
  };
}
