/** Pages of the API keys of a project, newest first. */

import { eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { apiKeys } from "../../db/schema/projects.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows, type PageQuery } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import type { ApiKey } from "./model.ts";
import { type KeyRow, originsOf } from "./service.ts";

export type KeyList = ReturnType<typeof createKeyList>;

export function createKeyList({ db, listPage }: { db: Db; listPage: ListPage }) {
  return (projectSeq: number, query: PageQuery): Promise<Page<ApiKey>> =>
    listPage(
      { scope: `${projectSeq}:keys`, query },
      newestRows(db, {
        table: apiKeys,
        filter: eq(apiKeys.projectSeq, projectSeq),
        select: db.select().from(apiKeys),
      }),
      (rows) => rows.map(presentKey),
    );
}

export function presentKey(key: KeyRow): ApiKey {
  const { id, kind, name, last4 } = key;
  return {
    id,
    kind,
    name,
    last4,
    origins: [...originsOf(key)],
    createdAt: isoTime(key.createdAt),
    lastUsedAt: isoTimeOrNull(key.lastUsedAt),
    expiresAt: isoTimeOrNull(key.expiresAt),
    revokedAt: isoTimeOrNull(key.revokedAt),
  };
}
