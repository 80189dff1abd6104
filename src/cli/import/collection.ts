/**
 * The data that another product exports, before it is imported: people by their address, segments,
 * layouts, templates and sent campaigns, and the objects that are refused or left out. A person of
 * several files or lists is one person here, who has left if they left in one of them.
 */

import { isReserved } from "../../modules/contacts/data.ts";
import { strictest, type Standing } from "../../modules/contacts/import/standing.ts";
import { suppressionReasonFrom } from "../../modules/contacts/import/write.ts";
import { parseMailbox } from "../../protocols/mime/mailbox.ts";
import type { SourceCampaign } from "./source-campaign.ts";

/** People that fit into memory and into the file of one import. */
const MAX_PEOPLE = 1_000_000;

export type RefusedItem = { what: string; reason: string };
type SourceTemplate = {
  name: string;
  subject: string;
  body: string;
  type: "MARKETING" | "TRANSACTIONAL";
  /** The reason why it cannot be written in Liquid. */
  fault?: string | null;
};
type SourceLayout = { name: string; body: string };

type Person = {
  email: string;
  standings: Standing[];
  /** Cells of CSV files, by column. The server finds the types of the columns. */
  fields: Map<string, string>;
  /** Values that have types already. */
  data: Record<string, unknown>;
  /** False for one who only stands in a list of addresses that get no mail. */
  isContact: boolean;
};

type SourcePerson = {
  email: string;
  standing: Standing;
  fields?: ReadonlyMap<string, string>;
  data?: Readonly<Record<string, unknown>>;
};

export type Collection = ReturnType<typeof createCollection>;

export function createCollection() {
  const people = new Map<string, Person>();
  /** Addresses with a row that cannot be read: it could say that the person left. */
  const unclear = new Set<string>();
  const members = new Map<string, Set<string>>();
  const refused: RefusedItem[] = [];
  const notes = new Set<string>();
  let refusedRows = 0;

  function normalized(text: string): string | null {
    const parsed = parseMailbox(text, { mayHaveCommas: true });
    return parsed.ok ? parsed.mailbox.address : null;
  }

  function personAt(email: string): Person {
    const known = people.get(email);
    if (known !== undefined) return known;
    if (people.size >= MAX_PEOPLE) {
      throw new Error(`More than ${MAX_PEOPLE} people: import the export in parts.`);
    }
    const person: Person = { email, standings: [], fields: new Map(), data: {}, isContact: false };
    people.set(email, person);
    return person;
  }

  function refuse(what: string, reason: string): void {
    refused.push({ what, reason });
  }

  function refuseRow(what: string, reason: string): void {
    refusedRows++;
    refuse(what, reason);
  }

  /** Finds the person, and adds the standing; null if the address is refused. */
  function addStanding(email: string, standing: Standing): Person | null {
    const address = normalized(email);
    if (address === null) {
      refuseRow(email.trim() === "" ? "a row without an address" : email, "is no email address");
      return null;
    }
    const person = personAt(address);
    person.standings.push(standing);
    return person;
  }

  return {
    /** Conditions of segments that the product has in the language of this one. */
    conditions: new Array<{ name: string; condition: unknown }>(),
    layouts: new Array<SourceLayout>(),
    templates: new Array<SourceTemplate>(),
    /** Sent campaigns, which come as a record of the past. */
    campaigns: new Array<SourceCampaign>(),
    refused,
    notes,
    /** The columns of all CSV files. */
    columns: new Set<string>(),
    refuse,
    /** Refuses a row of people. */
    refuseRow,

    /** Adds a contact. Later values of a field replace earlier ones. */
    addContact({ email, standing, fields, data = {} }: SourcePerson): void {
      const person = addStanding(email, standing);
      if (person === null) return;
      person.isContact = true;
      for (const [name, value] of fields ?? []) person.fields.set(name, value);
      for (const [name, value] of Object.entries(data)) {
        if (isReserved(name))
          notes.add(`Data that is not imported, because its name is reserved: ${name}`);
        else person.data[name] = value;
      }
    },

    /** Adds an address of a list of people who left. One who unsubscribed becomes a contact. */
    addLeft(email: string, standing: Exclude<Standing, "SUBSCRIBED">): void {
      const person = addStanding(email, standing);
      if (person !== null) person.isContact ||= standing === "UNSUBSCRIBED";
    },

    /** Adds a row that cannot be read. Its person is not imported as one who wants mail. */
    addUnclear(email: string, reason: string): void {
      refuseRow(email, reason);
      const address = normalized(email);
      if (address !== null) unclear.add(address);
    },

    /** Adds a segment, also if it has no members. */
    addSegment(name: string): void {
      if (!members.has(name)) members.set(name, new Set());
    },

    addMember(segment: string, email: string): void {
      const address = normalized(email);
      const known = members.get(segment) ?? new Set();
      if (address !== null) known.add(address);
      members.set(segment, known);
    },

    /** The people, each with the strictest of its standings. */
    result() {
      const all = [...people.values()].flatMap(({ standings, ...person }) => {
        const standing = strictest(standings) ?? "UNSUBSCRIBED";
        const isLost = unclear.has(person.email) && standing === "SUBSCRIBED";
        return isLost ? [] : [{ ...person, standing }];
      });
      const contacts = all.filter(({ isContact }) => isContact);
      const suppressed = all.flatMap(({ email, standing, isContact }) => {
        const reason = suppressionReasonFrom(standing);
        return reason === null ? [] : [{ email, reason, isContact }];
      });
      const known = new Set(contacts.map(({ email }) => email));
      const segments = [...members].map(([name, emails]) => ({
        name,
        emails: [...emails].filter((email) => known.has(email)),
      }));
      return { contacts, suppressed, segments, refusedRows };
    },
  };
}
