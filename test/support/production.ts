/** Imported before Elysia, which shows internals in any other mode: tests see what users see. */
process.env["NODE_ENV"] = "production";
