/** The rule that each status, type and similar value is one of those in the schema. */

import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Invariant } from "../../db/invariant.ts";
import * as campaigns from "../../db/schema/campaigns.ts";
import * as contacts from "../../db/schema/contacts.ts";
import * as domains from "../../db/schema/domains.ts";
import * as emails from "../../db/schema/emails.ts";
import * as images from "../../db/schema/images.ts";
import * as jobs from "../../db/schema/jobs.ts";
import * as projects from "../../db/schema/projects.ts";
import * as segments from "../../db/schema/segments.ts";
import * as templates from "../../db/schema/templates.ts";
import * as webhooks from "../../db/schema/webhooks.ts";
import * as workflows from "../../db/schema/workflows.ts";

const SCHEMAS: readonly object[] = [
  campaigns,
  contacts,
  domains,
  emails,
  images,
  jobs,
  projects,
  segments,
  templates,
  webhooks,
  workflows,
];

/** The columns with a list of values, as SQL that returns a row for each other value in them. */
const queries = SCHEMAS.flatMap((schema): unknown[] => Object.values(schema))
  .filter((value: unknown) => is(value, SQLiteTable))
  .map((table) => getTableConfig(table))
  .flatMap(({ name: table, columns }) =>
    columns.flatMap(({ name: column, enumValues }) => {
      const choices: readonly string[] = enumValues ?? [];
      if (choices.length === 0) return [];
      const values = choices.map((value) => `'${value}'`).join(", ");
      return [
        `SELECT '${table}.${column}' AS id,
                format('%d rows have the unknown value %Q', count(*), ${column}) AS finding
         FROM ${table} WHERE ${column} NOT IN (${values}) GROUP BY ${column}`,
      ];
    }),
  );

export const CHOICE_INVARIANTS: readonly Invariant[] = [
  {
    name: "known-values",
    rule: "Each status, type and similar value is one that this version knows.",
    violations: queries.join(" UNION ALL "),
  },
];
