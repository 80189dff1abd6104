/** Helper, the baseline of `accept`: an Elysia server that parses JSON and does nothing else. */

import "../../src/lib/production.ts";
import { Elysia } from "elysia";

new Elysia({ serve: { hostname: "127.0.0.1" } })
  .post("/echo", ({ body }) => ({ status: body === undefined ? "empty" : "ok" }), { parse: "json" })
  .listen({ hostname: "127.0.0.1", port: 0 }, ({ port }) => {
    console.log(JSON.stringify({ port }));
  });
