/** The parts that erasures and exports of persons add to the server. */

import type { Noun } from "../module.ts";
import { eraseAgain, erasureWorker } from "./erasure-work.ts";
import { erasureOperations } from "./erasures.ts";

export const privacyNoun: Noun = {
  name: "privacy",
  operations: erasureOperations,
  wake: (app) => erasureWorker(app).wake(),

  async start(app) {
    erasureWorker(app).start();
    await eraseAgain(app);
    erasureWorker(app).wake();
  },

  stop: (app) => erasureWorker(app).stop(),
};
