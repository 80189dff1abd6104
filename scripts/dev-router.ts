/**
 * A plugin of the bundler for `scripts/dev.ts`. When a module is replaced, the router calls a function
 * before its module was evaluated (Bun #40378); calling it later avoids that.
 */

import type { BunPlugin } from "bun";

const EARLY = "_replaceRouteChunk = replaceRouteChunk";
const LATE = "_replaceRouteChunk = (...given) => replaceRouteChunk(...given)";

const plugin: BunPlugin = {
  name: "router",
  setup(build) {
    build.onLoad({ filter: /router-core\/dist\/esm\/router\.js$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace(EARLY, LATE),
      loader: "js",
    }));
  },
};

// oxlint-disable-next-line import/no-default-export
export default plugin;
