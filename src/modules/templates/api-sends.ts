/** Finds the mails that requests to /v1/send made of a template. */

import type { App } from "../../core/app.ts";
import { isoTime } from "../../lib/clock.ts";
import type { TemplateUsage } from "./model.ts";

const MAX_API_SENDS = 100;
const SEARCH_MS = 1_000;

/** The latest mails of requests that named the template. No index has templates, so it is a search. */
export async function findApiSends(
  { reader }: App,
  projectSeq: number,
  id: string,
): Promise<TemplateUsage["apiSends"]> {
  const found = await reader.find(
    projectSeq,
    {
      sql: `SELECT created_at FROM emails INDEXED BY emails_page
            WHERE in_time(seq) AND project_seq = ? AND template_id = ? AND source = 'TRANSACTIONAL'
            ORDER BY seq DESC LIMIT ${MAX_API_SENDS}`,
      values: [projectSeq, id],
      isPartial: true,
    },
    SEARCH_MS,
  );
  const [latest] = found.rows;
  return {
    count: found.rows.length,
    isComplete: found.isComplete && found.rows.length < MAX_API_SENDS,
    lastAt: latest === undefined ? null : isoTime(Number(latest[0])),
  };
}
