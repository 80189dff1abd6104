import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The settings that owners have set in the dashboard (modules/settings/). A setting that was reset keeps
 * its row, because its revision only grows.
 */
export const installationSettings = sqliteTable("installation_settings", {
  /** The name of its flag, such as "send-rate". */
  name: text("name").primaryKey(),
  /** As people may see it; null if the setting was reset. */
  value: text("value"),
  /** The whole value if it contains a secret, encrypted with a key of the installation. */
  sealed: blob("sealed", { mode: "buffer" }),
  revision: integer("revision").notNull(),
  updatedAt: integer("updated_at").notNull(),
  /** Id of the user; null for a command. */
  updatedBy: text("updated_by"),
});
