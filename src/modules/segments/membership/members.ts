/** Adds and removes members of STATIC segments by email. */

import type { Static } from "@sinclair/typebox";
import type { Db } from "../../../db/open.ts";
import type { Change, Writer } from "../../../db/writer.ts";
import { normalizedAddress } from "../../../http/formats.ts";
import { AppError } from "../../../lib/errors.ts";
import type { Contacts } from "../../contacts/service.ts";
import type { Definitions, SegmentRow } from "../definitions.ts";
import type { AddedMembers, MembersInput, RemovedMembers } from "../model.ts";
import type { MemberRows } from "./member-rows.ts";
import type { Tracking } from "./tracking.ts";

/** Contacts created in one change; all contacts of a request would block the event loop. */
const CREATED_AT_ONCE = 100;

export function createMembers(deps: {
  db: Db;
  writer: Writer;
  contacts: Contacts;
  definitions: Definitions;
  memberRows: MemberRows;
  tracking: Tracking;
}) {
  const { db, writer, contacts, definitions, memberRows, tracking } = deps;
  const findContacts = db.sqlite.prepare<{ seq: number; email: string }, [number, string]>(`
    SELECT seq, email FROM contacts
    WHERE project_seq = ? AND email IN (SELECT value FROM json_each(?))`);

  function getStatic(projectSeq: number, id: string): SegmentRow {
    const segment = definitions.get(projectSeq, id);
    if (segment.type === "STATIC") return segment;
    throw new AppError(409, "CONFLICT", "A DYNAMIC segment gets its members from its condition.", {
      suggestion: "Change the condition, or use a STATIC segment.",
    });
  }

  function findByEmail(projectSeq: number, emails: readonly string[]) {
    /** From each normalized address to its first spelling in the request. */
    const requested = new Map<string, string>();
    for (const email of emails) {
      const address = normalizedAddress(email);
      if (!requested.has(address)) requested.set(address, email);
    }
    const found = findContacts.all(projectSeq, JSON.stringify([...requested.keys()]));
    const known = new Set(found.map(({ email }) => email));
    return {
      seqs: found.map(({ seq }) => seq),
      missing: [...requested.keys()].filter((address) => !known.has(address)),
      notFound: [...requested].flatMap(([address, sent]) => (known.has(address) ? [] : [sent])),
    };
  }

  /** Creates contacts in several changes; a repeated request continues an interrupted one. */
  async function createContacts(
    projectSeq: number,
    addresses: readonly string[],
    defaultSubscribed: boolean,
  ): Promise<number> {
    let created = 0;
    for (let i = 0; i < addresses.length; i += CREATED_AT_ONCE) {
      const chunk = addresses.slice(i, i + CREATED_AT_ONCE);
      created += await writer.write(() => {
        const fields = {
          projectSeq,
          subscribed: undefined,
          defaultSubscribed,
          data: undefined,
        };
        return chunk.filter((email) => contacts.upsert({ ...fields, email }).isNew).length;
      });
    }
    return created;
  }

  /** Part of a change: adds contacts to a STATIC segment, or removes them; returns those that moved. */
  function move(
    direction: "enter" | "leave",
    { projectSeq, id }: { projectSeq: number; id: string },
    seqs: readonly number[],
  ): number[] {
    const segment = getStatic(projectSeq, id);
    const moved = memberRows[direction](segment, seqs, { hasEvents: segment.trackMembership });
    writer.afterCommit(() => tracking.touch(projectSeq, moved));
    return moved;
  }

  return {
    move,

    /** Throws 404 for an unknown segment, and 409 for a DYNAMIC one. */
    ensureStatic: (projectSeq: number, id: string): void => void getStatic(projectSeq, id),

    /**
     * Prepares the change. If `createMissing` is true, missing contacts are created before, subscribed
     * unless `subscribed` is false.
     */
    async add(
      projectSeq: number,
      id: string,
      {
        emails,
        createMissing = false,
        subscribed = true,
      }: MembersInput & { subscribed?: boolean | undefined },
    ): Promise<Change<Static<typeof AddedMembers>>> {
      getStatic(projectSeq, id);
      const created = createMissing
        ? await createContacts(projectSeq, findByEmail(projectSeq, emails).missing, subscribed)
        : 0;
      return () => {
        const { seqs, notFound } = findByEmail(projectSeq, emails);
        const added = move("enter", { projectSeq, id }, seqs).length;
        return { added, created, notFound };
      };
    },

    remove(
      projectSeq: number,
      id: string,
      emails: readonly string[],
    ): Change<Static<typeof RemovedMembers>> {
      return () => {
        const { seqs, notFound } = findByEmail(projectSeq, emails);
        return { removed: move("leave", { projectSeq, id }, seqs).length, notFound };
      };
    },
  };
}
