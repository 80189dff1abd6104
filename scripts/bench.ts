/**
 * Measures against the aims of this project; every measurement prints its baseline of the same run.
 *
 * `bun scripts/bench.ts [accept|deliver|pace|start|all] [--quick] [--binary [PATH]]`
 */
import { benchAccept } from "./bench/accept.ts";

const isMet = await benchAccept({ binary: null, isQuick: Bun.argv.includes("--quick") });
process.exit(isMet ? 0 : 1);
