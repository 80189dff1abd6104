/** Helper, the baseline of `accept`: the same kind of server, which reads JSON and does nothing. */

import "../../src/lib/production.ts";
import { Elysia } from "elysia";

new Elysia({ serve: { hostname: "127.0.0.1" } })
  .post("/echo", ({ body }) => ({ status: body === undefined ? "empty" : "ok" }), { parse: "json" })
  .listen({ hostname: "127.0.0.1", port: 0 }, ({ port }) => {
    console.log(JSON.stringify({ port }));
  });
