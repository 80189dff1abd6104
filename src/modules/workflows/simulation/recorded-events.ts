/** The recorded events of contacts, as a thread gets them: rows.ts reads them as one text. */

export type RecordedEvent = {
  seq: number;
  name: string;
  contactSeq: number;
  /** JSON of an object, or null. */
  json: string | null;
  at: number;
  emailSeq: number | null;
};

/** The events in the order of the log. */
export function parseRecordedEvents(text: string): RecordedEvent[] {
  const rows: unknown = JSON.parse(text);
  if (!Array.isArray(rows)) return [];
  return rows
    .map(([seq, name, contactSeq, json, at, emailSeq]) => ({
      seq: Number(seq),
      name: String(name),
      contactSeq: Number(contactSeq),
      json: json === null ? null : String(json),
      at: Number(at),
      emailSeq: emailSeq === null ? null : Number(emailSeq),
    }))
    .toSorted((a, b) => a.seq - b.seq);
}
