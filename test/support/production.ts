/**
 * Sets production mode, so that tests see the same responses as users: Elysia adds internal details
 * to them in any other mode. This file must be imported before Elysia.
 */
process.env["NODE_ENV"] = "production";
