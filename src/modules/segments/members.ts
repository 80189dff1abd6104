/** Members of STATIC segments, added and removed by email. */

import type { Static } from "@sinclair/typebox";
import type { Db } from "../../db/open.ts";
import type { Change, Writer } from "../../db/writer.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { AppError } from "../../lib/errors.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Definitions, SegmentRow } from "./definitions.ts";
import type { AddedMembers, MembersInput, RemovedMembers } from "./model.ts";
import type { Roster } from "./roster.ts";
import type { Tracking } from "./tracking.ts";

export type Members = ReturnType<typeof createMembers>;

/** Contacts made in one transaction: those of a whole request would hold the event loop. */
const CREATED_AT_ONCE = 100;

export function createMembers(deps: {
  db: Db;
  writer: Writer;
  contacts: Contacts;
  definitions: Definitions;
  roster: Roster;
  tracking: Tracking;
}) {
  const { db, writer, contacts, definitions, roster, tracking } = deps;
  const findContacts = db.sqlite.prepare<{ seq: number; email: string }, [number, string]>(`
    SELECT seq, email FROM contacts
    WHERE project_seq = ? AND email IN (SELECT value FROM json_each(?))`);

  function getStatic(projectSeq: number, id: string): SegmentRow {
    const segment = definitions.get(projectSeq, id);
    if (segment.type === "STATIC") return segment;
    throw new AppError(409, "CONFLICT", "The members of a DYNAMIC segment follow its condition.", {
      suggestion: "Change the condition, or use a STATIC segment.",
    });
  }

  function look(projectSeq: number, emails: readonly string[]) {
    /** Spelling as sent by canonical address; the first one counts. */
    const asked = new Map<string, string>();
    for (const email of emails) {
      const address = normalizedAddress(email);
      if (!asked.has(address)) asked.set(address, email);
    }
    const found = findContacts.all(projectSeq, JSON.stringify([...asked.keys()]));
    const known = new Set(found.map(({ email }) => email));
    return {
      seqs: found.map(({ seq }) => seq),
      missing: [...asked.keys()].filter((address) => !known.has(address)),
      notFound: [...asked].flatMap(([address, sent]) => (known.has(address) ? [] : [sent])),
    };
  }

  /** In steps; a repeated request goes on where an interrupted one stopped. */
  async function createContacts(projectSeq: number, addresses: readonly string[]): Promise<number> {
    let created = 0;
    for (let i = 0; i < addresses.length; i += CREATED_AT_ONCE) {
      const chunk = addresses.slice(i, i + CREATED_AT_ONCE);
      created += await writer.write(() => {
        const fields = {
          projectSeq,
          subscribed: undefined,
          defaultSubscribed: true,
          data: undefined,
        };
        return chunk.filter((email) => contacts.upsert({ ...fields, email }).isNew).length;
      });
    }
    return created;
  }

  return {
    /** Prepares the change; contacts that are missing and wanted are there when it is ready. */
    async add(
      projectSeq: number,
      id: string,
      { emails, createMissing = false }: MembersInput,
    ): Promise<Change<Static<typeof AddedMembers>>> {
      getStatic(projectSeq, id);
      const created = createMissing
        ? await createContacts(projectSeq, look(projectSeq, emails).missing)
        : 0;
      return () => {
        const segment = getStatic(projectSeq, id);
        const { seqs, notFound } = look(projectSeq, emails);
        const entered = roster.enter(segment, seqs, { isTold: segment.trackMembership });
        writer.afterCommit(() => tracking.touch(projectSeq, entered));
        return { added: entered.length, created, notFound };
      };
    },

    remove(
      projectSeq: number,
      id: string,
      emails: readonly string[],
    ): Change<Static<typeof RemovedMembers>> {
      return () => {
        const segment = getStatic(projectSeq, id);
        const { seqs, notFound } = look(projectSeq, emails);
        const left = roster.leave(segment, seqs, { isTold: segment.trackMembership });
        writer.afterCommit(() => tracking.touch(projectSeq, left));
        return { removed: left.length, notFound };
      };
    },
  };
}
