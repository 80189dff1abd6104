import { defineConfig } from "drizzle-kit";

// Only writes SQL files (`bunx drizzle-kit generate`); src/db/migrate.ts applies them.
export default defineConfig({
  dialect: "sqlite",
  schema: "./src/db/schema",
  out: "./migrations",
});
