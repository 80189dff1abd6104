/**
 * Mailchimp: the ZIP of an account or audience export, unpacked or not, or its CSV files. The name of a
 * file says who is in it: subscribed, unsubscribed, cleaned (bounced) or nonsubscribed.
 */

import type { Standing } from "../../../modules/contacts/import/standing.ts";
import { UsageError } from "../../command.ts";
import { convertTemplate } from "../convert-template.ts";
import type { ImportSource } from "../source.ts";
import { createMailchimpHistory } from "./mailchimp-history.ts";
import { addTable, type TableDialect } from "../table.ts";

const STANDING_OF_FILE: readonly [RegExp, Standing][] = [
  [/^(?:subscribed|members)[_.-]/i, "SUBSCRIBED"],
  [/^unsubscribed[_.-]/i, "UNSUBSCRIBED"],
  [/^(?:nonsubscribed|transactional)[_.-]/i, "UNSUBSCRIBED"],
  [/^cleaned[_.-]/i, "HARD_BOUNCE"],
];
/** Folders of an account export with reports, whose files have people as well. */
const REPORTS =
  /(?:^|\/)(?:reports?|campaigns?\w*|granular_activity|aggregate_activity|geo_data)\//i;
const TEMPLATES = /(?:^|\/)templates?\//i;
const HTML_FILE = /[^/]\.html?$/i;

/**
 * Internal numbers of Mailchimp, and reasons for leaving. The times of joining and confirmation are
 * kept.
 */
const DROPPED = new Set(
  `leid euid gmtoff dstoff unsubcampaigntitle unsubcampaignid unsubreason unsubreasonother
   cleancampaigntitle cleancampaignid`.split(/\s+/),
);

export async function readMailchimp({ files, collection, reading }: ImportSource): Promise<void> {
  const unread: string[] = [];
  const history = createMailchimpHistory(collection);
  for (const file of files()) {
    if (history.add(file, reading.encoding)) continue;
    const base = file.name.slice(file.name.lastIndexOf("/") + 1);
    const standing = STANDING_OF_FILE.find(([pattern]) => pattern.test(base))?.[1];
    if (HTML_FILE.test(file.name) && (TEMPLATES.test(file.name) || file.isNamed)) {
      const name = base.replace(/\.html?$/i, "");
      const body = convertTemplate("mailchimp", Buffer.from(file.bytes).toString("utf8"));
      collection.templates.push({ name, subject: name, body, type: "MARKETING" });
      collection.notes.add("Mailchimp's templates have no subject: their names are used instead");
      collection.notes.add(
        "Texts that Mailchimp itself puts into templates (LIST:…, REWARDS, CURRENT_YEAR, previews) are left out",
      );
    } else if (/\.csv$/i.test(base) && standing !== undefined && !REPORTS.test(file.name)) {
      addTable(collection, file, { reading, dialect: dialectOf(standing) });
    } else if (file.isNamed) {
      throw new UsageError(
        `${file.name}: its name must begin with subscribed_, unsubscribed_, cleaned_ or nonsubscribed_`,
      );
    } else unread.push(file.name);
  }
  history.end();
  if (unread.length > 0) {
    collection.notes.add(`Files that are not imported: ${unread.length}, such as ${unread[0]}`);
  }
  collection.notes.add(
    "Tags become STATIC segments. All audiences become one project: who left one of them is out",
  );
  collection.notes.add(
    "Campaigns that were not sent, reports of single people, automations, forms, interest groups (except as data) and images stay behind",
  );
}

function dialectOf(standing: Standing): TableDialect {
  return { standing, dropped: DROPPED, tags: new Map([["tags", readTags]]) };
}

/** The names in `"VIP","Blog, weekly"`; older exports have no quotes. */
function readTags(cell: string): string[] {
  return [...cell.matchAll(/"((?:[^"]|"")*)"|([^",]+)/g)].flatMap(([, quoted, bare]) => {
    const tag = (quoted?.replaceAll('""', '"') ?? bare ?? "").trim();
    return tag === "" ? [] : [tag];
  });
}
