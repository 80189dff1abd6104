import { sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Values of the whole installation, by name (`db/installation-values.ts`). */
export const installationValues = sqliteTable("installation_values", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});
