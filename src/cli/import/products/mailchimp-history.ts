/**
 * The sent campaigns in an account export of Mailchimp: `campaigns.csv` has their names and numbers, and
 * the folder `campaigns_content` their bodies, whose file names are a number and the name of the campaign.
 */

import { bareWord } from "../../../modules/contacts/import/leaving-words.ts";
import type { Collection } from "../collection.ts";
import { convertTemplate } from "../convert-template.ts";
import type { SourceCampaign } from "../source-campaign.ts";
import type { SourceFile } from "../source-files.ts";
import { readTable } from "../table.ts";

const LIST_FILE = /(?:^|\/)campaigns[^/]*\.csv$/i;
const CONTENT_FOLDERS = ["campaign_content", "campaigns_content"];
/** Bodies that are kept in memory until all files are read. */
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;
const MAX_ID = 255;

/** The columns by their `bareWord`; exports of the account and of reports name some of them differently. */
const TITLE = ["title", "campaigntitle", "campaignname"];
const SENT_AT = ["senddate", "sendtime", "senttime"];
const SUBJECT = ["subject", "subjectline"];
const ID = ["uniqueid", "campaignid"];
const COUNTS = {
  recipients: ["totalrecipients"],
  sent: ["emailssent"],
  delivered: ["successfuldeliveries"],
  bounced: ["totalbounces"],
  opened: ["uniqueopens"],
  opens: ["totalopens"],
  clicked: ["uniqueclicks"],
  clicks: ["totalclicks"],
  complained: ["abusecomplaints"],
  unsubscribed: ["unsubscribes"],
} as const;

export function createMailchimpHistory(collection: Collection) {
  const campaigns: Omit<SourceCampaign, "body">[] = [];
  /** By the name of the file, with and without its number; null for a name of several files. */
  const contents = new Map<string, string | null>();
  let contentBytes = 0;

  function addContent(name: string, bytes: Uint8Array): void {
    contentBytes += bytes.byteLength;
    if (contentBytes > MAX_CONTENT_BYTES) {
      collection.notes.add("The bodies of campaigns are larger than 256 MiB; some are left out");
      return;
    }
    const html = Buffer.from(bytes).toString("utf8");
    for (const key of new Set([bareWord(name), withoutNumber(name)])) {
      contents.set(key, contents.has(key) ? null : html);
    }
  }

  /** False if the file has not the columns of the list of campaigns. */
  function addList(file: SourceFile, encoding: string | null): boolean {
    const { header, rows } = readTable(file, encoding);
    const columns = header.map(bareWord);
    const positionOf = (names: readonly string[]) =>
      columns.findIndex((column) => names.includes(column));
    if (positionOf(TITLE) === -1 || positionOf(SENT_AT) === -1) return false;
    for (const row of rows) {
      if ("fault" in row) collection.refuse(file.name, row.fault);
      else addCampaign((names) => row.cells[positionOf(names)]?.trim() ?? "");
    }
    return true;
  }

  function addCampaign(cell: (names: readonly string[]) => string): void {
    const [name, sentAt] = [cell(TITLE), cell(SENT_AT)];
    if (sentAt === "") return;
    campaigns.push({
      id: (cell(ID) || `${name} ${sentAt}`).slice(0, MAX_ID),
      name,
      subject: cell(SUBJECT),
      sentAt,
      counts: Object.fromEntries(
        Object.entries(COUNTS).map(([key, names]) => [key, countIn(cell(names))]),
      ),
      convert: (source) => convertTemplate("mailchimp", source),
    });
    collection.notes.add("Mailchimp's times of campaigns have no zone, and are taken as UTC");
  }

  return {
    /** False if the file is no part of the history. */
    add(file: SourceFile, encoding: string | null): boolean {
      const name = contentName(file.name);
      if (name !== undefined) addContent(name, file.bytes);
      return name !== undefined || (LIST_FILE.test(file.name) && addList(file, encoding));
    },

    /** Gives each campaign its body, and all of them to the collection. */
    end(): void {
      for (const campaign of campaigns) {
        const { id, name } = campaign;
        const body = contents.get(bareWord(id)) ?? contents.get(withoutNumber(name)) ?? null;
        collection.campaigns.push({ ...campaign, body });
      }
    },
  };
}

const withoutNumber = (name: string): string => bareWord(name).replace(/^\d+/, "");

/** `1,234`; null for an empty cell or a rate. */
function countIn(cell: string): number | null {
  const digits = cell.replaceAll(",", "");
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
}

/** The name of a body without its ending; undefined for other files. */
function contentName(path: string): string | undefined {
  const folders = path.split("/");
  const [name, ending] = splitEnding(folders.pop() ?? "");
  const isBody = ["html", "htm"].includes(ending.toLowerCase());
  const isContent = folders.some((folder) => CONTENT_FOLDERS.includes(folder.toLowerCase()));
  return isBody && isContent && name !== "" ? name : undefined;
}

function splitEnding(file: string): [name: string, ending: string] {
  const dot = file.lastIndexOf(".");
  return dot === -1 ? [file, ""] : [file.slice(0, dot), file.slice(dot + 1)];
}
