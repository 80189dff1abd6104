/** The messages between the event loop and the thread that parses. */

import type { ParsedMessage } from "../messages/record.ts";
import type { Report } from "../../../protocols/dsn/read-report.ts";
import type { Detail } from "../../../checks/detail.ts";

export type Unparsed = { raw: Uint8Array; recipients: readonly string[] };

/** The result for one message of a batch. */
export type IndexResult = { ok: true; parsed: ParsedMessage } | { ok: false; reason: string };

export type ParserTask =
  | { kind: "index"; messages: readonly Unparsed[] }
  | { kind: "detail"; raw: Uint8Array; hasLineEnds: boolean }
  | { kind: "report"; raw: Uint8Array }
  | { kind: "parts"; raw: Uint8Array; partIds: readonly string[] };

export type ParserRequest = { id: number; task: ParserTask };

/** The result of a task: the member of its kind is set. */
export type ParserResult = {
  index?: IndexResult[];
  detail?: Detail;
  report?: Report;
  /** The contents of the parts that the message has, by their ids. */
  parts?: ReadonlyMap<string, Uint8Array>;
};

export type ParserAnswer =
  { id: number; ok: true; result: ParserResult } | { id: number; ok: false; reason: string };
